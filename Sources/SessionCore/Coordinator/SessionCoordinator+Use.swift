/// Ends a session that is not used for too long (``Inactivity``).
///
/// - Requirement: POL-5
extension SessionCoordinator {
  /// Whether this process measures: it knows who is logged in, and a user is.
  private var isMeasuringUse: Bool {
    inactivity.isLimited && isRestored && state.kind == .authenticated
  }

  /// Starts the measurement after a login, in this process or another one.
  mutating func beginUse(at now: ClockReading) -> [SessionEffect] {
    inactivity.begin(at: now.uptime)
    return used(at: now.uptime, now)
  }

  /// Resumes the measurement at an opening; `idle` is how long the session was unused, if known.
  mutating func resumeUse(idle: Int64?, at now: ClockReading) -> [SessionEffect] {
    guard isMeasuringUse else { return [] }
    return follow(inactivity.resume(idle: idle, at: now.uptime), at: now)
  }

  /// Records a use.
  mutating func used(at uptime: Int64, _ now: ClockReading) -> [SessionEffect] {
    guard isMeasuringUse else { return [] }
    return inactivity.use(at: uptime, now: now.uptime)
  }

  mutating func inactivityIsDue(at now: ClockReading) -> [SessionEffect] {
    guard isMeasuringUse, stopped == nil else { return [] }
    return inactivity.isDue(at: now.uptime)
  }

  mutating func useRead(_ last: Int64?, at now: ClockReading) -> [SessionEffect] {
    guard isMeasuringUse, stopped == nil else { return [] }
    return follow(inactivity.read(last, retryPause: retryPause, at: now.uptime), at: now)
  }

  private mutating func follow(
    _ verdict: Inactivity.Verdict, at now: ClockReading
  ) -> [SessionEffect] {
    switch verdict {
    case .goesOn(let effects): effects
    case .expired: end(by: .unused, at: now)
    }
  }
}
