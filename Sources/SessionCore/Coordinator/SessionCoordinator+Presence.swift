/// Handles a refresh token that can be read only after the user has authenticated to the device.
///
/// - Requirement: STO-2
extension SessionCoordinator {
  /// Handles a refresh that needs the user: nothing was journaled, and nothing is sent.
  ///
  /// It counts as no attempt, and no timer starts another. The token is used until it expires.
  /// Unless the refresh was only manual, it is made up for as soon as the app reports that the user
  /// may have authenticated.
  mutating func presenceNeeded(at now: ClockReading) -> [SessionEffect] {
    guard let withdrawn = request, case .refresh(let trigger, _) = withdrawn.purpose else {
      return []
    }
    request = nil
    let isGood = isTokenGood(at: now.uptime)
    schedule.postpone(trigger, at: now.uptime)
    let reply = SessionEffect.Reply.failed(.needsPresence)
    // A switch of the context needs only a valid token.
    return isGood ? resumeWaiters(reply) : resumeAll(reply)
  }

  /// Tries the postponed refresh; it is postponed again if the user has not authenticated.
  mutating func presenceMayBeShown() -> [SessionEffect] {
    schedule.presenceMayBeShown()
    return []
  }
}
