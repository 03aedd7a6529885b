public import SessionCore

/// What tells a session the time, and wakes it.
public protocol SessionClock: Sendable {
  /// The civil time, and a time that never jumps and runs while the system sleeps.
  func now() -> ClockReading

  /// Which start of the system it is by whose clock uptime counts; `nil` where that is not known, and a
  /// stored uptime means nothing later.
  ///
  /// - Requirement: REF-8
  var boot: Identifier? { get }

  /// Returns if `now().elapsed` has reached `deadline`, or as soon as it has.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  func sleep(until deadline: Duration) async throws(CancellationError)
}

extension SessionClock {
  /// Not known.
  public var boot: Identifier? { nil }

  /// Returns once the uptime has reached `deadline`, in milliseconds.
  package func sleep(untilUptime deadline: Int64) async throws(CancellationError) {
    try await sleep(until: .milliseconds(deadline))
  }
}
