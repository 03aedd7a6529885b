public import SessionCore

/// What tells a session the time, and wakes it.
public protocol SessionClock: Sendable {
  /// The civil time, and a time in milliseconds that never jumps and runs while the system sleeps.
  func now() -> Moment

  /// Returns when `now().uptime` has reached `deadline`, at once if it has; throws when cancelled.
  func sleep(untilUptime deadline: Int64) async throws(CancellationError)
}
