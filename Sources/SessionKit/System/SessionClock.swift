public import SessionCore

/// A clock that a session uses to read the time and to sleep.
public protocol SessionClock: Sendable {
  /// Returns the civil time and the uptime.
  ///
  /// The uptime never jumps and continues while the system sleeps.
  func now() -> ClockReading

  /// The boot of the system from which the uptime counts.
  ///
  /// If it is `nil`, it is not known, and a stored uptime cannot be used later.
  ///
  /// - Requirement: REF-8
  var boot: Identifier? { get }

  /// Waits until `now().elapsed` has reached `deadline`.
  ///
  /// Returns at once if it has.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  func sleep(until deadline: Duration) async throws(CancellationError)
}

extension SessionClock {
  /// `nil`: the boot is not known.
  public var boot: Identifier? { nil }

  /// Waits until the uptime has reached `deadline`, in milliseconds.
  package func sleep(untilUptime deadline: Int64) async throws(CancellationError) {
    try await sleep(until: .milliseconds(deadline))
  }
}
