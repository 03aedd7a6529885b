/// Requests the user's profile at an opening and with a login.
///
/// - Requirement: LOG-6
extension SessionCoordinator {
  /// Requests the profile once after opening, as soon as there is a valid token and no other work.
  mutating func askProfileIfOwed(at now: ClockReading) -> [SessionEffect] {
    guard owesProfile, closers.isEmpty, flight == nil, isRestored, !isWaitingForLease, due == nil,
      waiters.isEmpty, case .authenticated(let session) = state, isTokenGood(at: now.uptime)
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
    guard stopped == nil, state.kind == .authenticated, state.user == user, let failure,
      let end = endEvents(failure)
    else { return [] }
    return commit(end, for: .profileEndsSession(user, failure), at: now)
  }

  /// Returns the events that end the session of an inactive or deleted user; `nil` for other
  /// failures.
  func endEvents(_ failure: RequestFailure) -> [SessionRecord.Content]? {
    switch failure.kind {
    case .userInactive: endEvents(.userInactive, .keep)
    case .userDeleted: [.event(.logout(SessionEvent.Logout(reason: .userDeleted)))]
    default: nil
    }
  }
}
