/// How long the session is unused, on the clock that never jumps.
///
/// - Requirement: POL-5
extension SessionCoordinator {
  /// Somebody signed in, here or elsewhere.
  mutating func beginUse(at now: ClockReading) -> [SessionEffect] {
    guard policy.inactivityLimit != nil else { return [] }
    (lastUse, keptUse) = (now.uptime, .min)
    return used(at: now.uptime, now)
  }

  /// The session was opened; `idle` is how long nobody had used it, where that is known.
  mutating func resumeUse(idle: Int64?, at now: ClockReading) -> [SessionEffect] {
    guard let limit = policy.inactivityLimit, state.kind == .authenticated else { return [] }
    // What was never noted begins to be: the policy had no limit before.
    guard idle != nil || lastUse != .min else { return beginUse(at: now) }
    let kept = now.uptime.subtractingSaturating(max(0, idle ?? limit))
    (lastUse, keptUse) = (max(lastUse, kept), max(keptUse, kept))
    guard now.uptime < useEnd else { return expire(.inactivity, at: now) }
    return [.schedule(.inactivity, uptime: useEnd)]
  }

  /// It was used; opening it or refreshing its token by itself is no use.
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

  /// The limit is reached as far as this process knows: another one may have used the session.
  mutating func inactivityIsDue(at now: ClockReading) -> [SessionEffect] {
    guard policy.inactivityLimit != nil, stopped == nil, isRestored, state.kind == .authenticated
    else { return [] }
    return now.uptime >= useEnd ? [.readUse] : [.schedule(.inactivity, uptime: useEnd)]
  }

  mutating func useRead(_ last: Int64?, at now: ClockReading) -> [SessionEffect] {
    guard policy.inactivityLimit != nil, stopped == nil, isRestored, state.kind == .authenticated
    else { return [] }
    guard let last else {
      // What cannot be read yet says nothing of who used the session (RES-3).
      return [.schedule(.inactivity, uptime: now.uptime.addingSaturating(retryPause))]
    }
    lastUse = max(lastUse, min(last, now.uptime))
    guard now.uptime >= useEnd else { return [.schedule(.inactivity, uptime: useEnd)] }
    return expire(.inactivity, at: now)
  }

  /// The session is over, and so is its use.
  mutating func endUse() -> [SessionEffect] {
    guard policy.inactivityLimit != nil else { return [] }
    (lastUse, keptUse) = (.min, .min)
    return [.cancel(.inactivity)]
  }

  /// When the session will have been unused for too long.
  private var useEnd: Int64 { lastUse.addingSaturating(policy.inactivityLimit ?? .max) }
}
