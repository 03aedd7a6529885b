/// Tracks how long the session is unused, on the clock that never jumps.
///
/// - Requirement: POL-5
extension SessionCoordinator {
  /// Starts the measurement after a login, in this process or another one.
  mutating func beginUse(at now: ClockReading) -> [SessionEffect] {
    guard policy.inactivityLimit != nil else { return [] }
    (lastUse, keptUse) = (now.uptime, .min)
    return used(at: now.uptime, now)
  }

  /// Resumes the measurement at an opening; `idle` is how long the session was unused, if known.
  mutating func resumeUse(idle: Int64?, at now: ClockReading) -> [SessionEffect] {
    guard let limit = policy.inactivityLimit, state.kind == .authenticated else { return [] }
    // No use was ever stored: the policy had no limit before.
    guard idle != nil || lastUse != .min else { return beginUse(at: now) }
    let kept = now.uptime.subtractingSaturating(max(0, idle ?? limit))
    (lastUse, keptUse) = (max(lastUse, kept), max(keptUse, kept))
    guard now.uptime < useEnd else { return expire(.inactivity, at: now) }
    return [.schedule(.inactivity, uptime: useEnd)]
  }

  /// Records a use; opening the session or refreshing its token by itself is none.
  mutating func used(at uptime: Int64, _ now: ClockReading) -> [SessionEffect] {
    guard policy.inactivityLimit != nil, isRestored, state.kind == .authenticated else { return [] }
    lastUse = max(lastUse, min(uptime, now.uptime))
    var effects = [SessionEffect.schedule(.inactivity, uptime: useEnd)]
    if lastUse.subtractingSaturating(keptUse) >= policy.useInterval {
      keptUse = lastUse
      effects.append(.markActive(lastUse))
    }
    return effects
  }

  /// Handles the inactivity timer; another process may have used the session meanwhile.
  mutating func inactivityIsDue(at now: ClockReading) -> [SessionEffect] {
    guard policy.inactivityLimit != nil, stopped == nil, isRestored, state.kind == .authenticated
    else { return [] }
    return now.uptime >= useEnd ? [.readUse] : [.schedule(.inactivity, uptime: useEnd)]
  }

  mutating func useRead(_ last: Int64?, at now: ClockReading) -> [SessionEffect] {
    guard policy.inactivityLimit != nil, stopped == nil, isRestored, state.kind == .authenticated
    else { return [] }
    guard let last else {
      // An unreadable time does not prove that the session was unused (RES-3).
      return [.schedule(.inactivity, uptime: now.uptime.addingSaturating(retryPause))]
    }
    lastUse = max(lastUse, min(last, now.uptime))
    guard now.uptime >= useEnd else { return [.schedule(.inactivity, uptime: useEnd)] }
    return expire(.inactivity, at: now)
  }

  /// Stops the measurement at the end of the session.
  mutating func endUse() -> [SessionEffect] {
    guard policy.inactivityLimit != nil else { return [] }
    (lastUse, keptUse) = (.min, .min)
    return [.cancel(.inactivity)]
  }

  /// When the session will have been unused for too long.
  private var useEnd: Int64 { lastUse.addingSaturating(policy.inactivityLimit ?? .max) }
}
