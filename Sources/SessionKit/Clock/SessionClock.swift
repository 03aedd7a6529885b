public import SessionCore

/// What tells a session the time, and wakes it.
public protocol SessionClock: Sendable {
  /// The civil time, and a time in milliseconds that never jumps and runs while the system sleeps.
  func now() -> ClockReading

  /// Which start of the system it is by whose clock uptime counts; `nil` where that is not known, and a
  /// stored uptime means nothing later (REF-8).
  var boot: Identifier? { get }

  /// Returns when `now().uptime` has reached `deadline`, at once if it has; throws when cancelled.
  func sleep(untilUptime deadline: Int64) async throws(CancellationError)
}

extension SessionClock {
  /// Not known.
  public var boot: Identifier? { nil }
}
