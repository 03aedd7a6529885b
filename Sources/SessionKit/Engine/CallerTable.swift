@_spi(Internals) import SessionCore

/// The callers that wait for an answer of the coordinator, and what they have passed.
struct CallerTable: Sendable {
  typealias Answer = Result<SessionEffect.Reply, SessionError>
  typealias Payload = SessionEngine.CommandPayload

  private var waiting: [Caller: CheckedContinuation<Answer, Never>] = [:]
  private var payloads: [Caller: Payload] = [:]
  private var count: UInt64 = 0

  /// Adds a caller whose command may have data that the coordinator must not see.
  mutating func add(_ payload: Payload?) -> Caller {
    count += 1
    let caller = Caller(count)
    payloads[caller] = payload
    return caller
  }

  /// Begins the wait of a caller.
  mutating func begin(_ caller: Caller, _ continuation: CheckedContinuation<Answer, Never>) {
    waiting[caller] = continuation
  }

  /// Returns the data of a caller's command, as long as the caller waits.
  func payload(of caller: Caller) -> Payload? { payloads[caller] }

  /// Forgets the data of a caller's command, and returns it.
  mutating func takePayload(of caller: Caller) -> Payload? {
    payloads.removeValue(forKey: caller)
  }

  /// Ends the wait of a caller, unless it has ended.
  mutating func end(_ caller: Caller, with answer: Answer) {
    waiting.removeValue(forKey: caller)?.resume(returning: answer)
  }

  /// Ends every wait.
  mutating func endAll(with error: SessionError) {
    let ended = waiting.values
    (waiting, payloads) = ([:], [:])
    for continuation in ended { continuation.resume(returning: .failure(error)) }
  }
}
