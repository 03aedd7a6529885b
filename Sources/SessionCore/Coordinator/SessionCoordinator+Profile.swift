/// Requests the user's profile at an opening and with a login.
///
/// - Requirement: LOG-6
extension SessionCoordinator {
  /// Requests the profile once after opening, as soon as there is a valid token and no other work.
  mutating func requestProfileIfOwed(at now: ClockReading) -> [SessionEffect] {
    guard owesProfile, callers.isEmpty(.close), request == nil, isRestored, !peers.isWaiting,
      schedule.due == nil,
      callers.isEmpty(.token), case .authenticated(let session) = state, isTokenGood(at: now.uptime)
    else { return [] }
    owesProfile = false
    return [.askProfile(session.user, session.token.generation)]
  }

  /// Handles the profile of the user who was logged in at the request.
  ///
  /// Only a user who is inactive or deleted ends the session.
  mutating func profileRead(
    _ user: Identifier, _ failure: RequestFailure?, at now: ClockReading
  ) -> [SessionEffect] {
    guard stopped == nil, state.kind == .authenticated, state.user == user, let failure else {
      return []
    }
    let end = ending(by: .profileFailed(failure), at: now).events
    return end.isEmpty ? [] : commit(end, for: .profileEndsSession(user, failure), at: now)
  }
}
