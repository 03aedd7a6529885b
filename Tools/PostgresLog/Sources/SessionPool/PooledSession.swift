internal import SessionKit

/// The session of one key in a pool: opening, open, or closing.
///
/// Only its pool uses it, and in its isolation.
final class PooledSession {
  let key: String

  /// The calls that have it or wait for it.
  var users = 1

  /// The number of the last use; smaller is longer ago.
  var lastUse: UInt64 = 0
  var unusedSince = ContinuousClock.now

  /// The task that opens it; nil after that.
  var opening: Task<Void, Never>?
  /// What opening it resulted in; nil before.
  var result: Result<Session, any Error>?
  /// The calls that wait for it.
  var calls = WaitingCalls<Session>()
  /// The task that closes it; nil before.
  var closing: Task<Void, Never>?

  init(_ key: String) { self.key = key }

  /// The session, if it was opened.
  var session: Session? {
    if case .success(let session)? = result { session } else { nil }
  }

  var isUnused: Bool { users == 0 }

  /// Whether it is open and no call has it.
  var isIdle: Bool { isUnused && session != nil && closing == nil }
}

/// Calls that wait for something, in the order in which they came.
struct WaitingCalls<Value: Sendable> {
  private struct Call {
    let number: UInt64
    let key: String
    let continuation: CheckedContinuation<Value, any Error>
  }

  private var calls: [Call] = []

  var count: Int { calls.count }

  /// Adds a call; `number` is unique in the pool.
  mutating func add(
    _ continuation: CheckedContinuation<Value, any Error>, _ number: UInt64, _ key: String
  ) {
    calls.append(Call(number: number, key: key, continuation: continuation))
  }

  /// Ends the call that waits for longest; false if there is none.
  mutating func endFirst(returning value: Value) -> Bool {
    guard !calls.isEmpty else { return false }
    calls.removeFirst().continuation.resume(returning: value)
    return true
  }

  /// Ends the calls of one key.
  mutating func endAll(of key: String, returning value: Value) {
    for call in calls where call.key == key { call.continuation.resume(returning: value) }
    calls.removeAll { $0.key == key }
  }

  /// Ends all calls with a value.
  mutating func endAll(returning value: Value) {
    for call in calls { call.continuation.resume(returning: value) }
    calls = []
  }

  /// Ends all calls with an error.
  mutating func endAll(throwing error: any Error) {
    for call in calls { call.continuation.resume(throwing: error) }
    calls = []
  }

  /// Ends a call that was cancelled; one that has ended is ignored.
  mutating func cancel(_ number: UInt64) {
    guard let place = calls.firstIndex(where: { $0.number == number }) else { return }
    calls.remove(at: place).continuation.resume(throwing: CancellationError())
  }
}
