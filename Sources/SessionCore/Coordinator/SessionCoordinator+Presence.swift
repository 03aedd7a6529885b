/// A refresh token that is kept apart, and can be read only once the user has shown who they are.
///
/// - Requirement: STO-2
extension SessionCoordinator {
  /// Nothing was noted and nothing is sent: it is no attempt, and no timer makes another.
  ///
  /// The token is used to its end. A refresh that was not merely asked for is made up for as soon as the
  /// app says that the user may have shown who they are.
  mutating func presenceNeeded(at now: ClockReading) -> [SessionEffect] {
    guard let grounded = flight, case .refresh(let trigger, _) = grounded.purpose else { return [] }
    flight = nil
    let isGood = isTokenGood(at: now.uptime)
    awaitsPresence = awaitsPresence || !isGood || trigger != .manual
    let reply = SessionEffect.Reply.failed(.needsPresence)
    // Who wants to change the context needs no more than a good token.
    return isGood ? resumeWaiters(reply) : resumeAll(reply)
  }

  /// The refresh that was put off is tried; where the user has shown nothing, it is put off again.
  mutating func presenceMayBeShown() -> [SessionEffect] {
    guard awaitsPresence else { return [] }
    awaitsPresence = false
    due = due ?? refreshTrigger
    return []
  }
}
