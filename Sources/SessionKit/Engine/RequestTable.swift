import SessionCore

/// The requests under way, by the coordinator's numbers, and the responses that wait to be journaled.
struct RequestTable: Sendable {
  /// The responses that wait to be journaled.
  var responses: [RequestNumber: TokenResponse] = [:]
  private var tasks: [RequestNumber: Task<Void, Never>] = [:]
  /// The last request that may change a token, and the token with which it was made.
  private var last: (base: Generation, task: Task<Void, Never>)?

  /// Whether no request is under way.
  var isEmpty: Bool { tasks.isEmpty }

  /// Whether the request is under way and was not withdrawn.
  func isRunning(_ number: RequestNumber) -> Bool { tasks[number] != nil }

  /// Records a request; `base` is the token that it may change, `nil` if there is none.
  mutating func begin(
    _ number: RequestNumber, changing base: Generation? = nil, _ task: Task<Void, Never>
  ) {
    tasks[number] = task
    if let base { last = (base, task) }
  }

  /// Records that a request has ended, or was withdrawn.
  mutating func end(_ number: RequestNumber) {
    tasks[number] = nil
  }

  /// Returns the last request that was made with this token, whether or not it has ended.
  func last(changing base: Generation) -> Task<Void, Never>? {
    last?.base == base ? last?.task : nil
  }
}
