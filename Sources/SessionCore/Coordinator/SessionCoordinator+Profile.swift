/// How the user stands at the server, asked when a session is opened and with a login.
///
/// - Requirement: LOG-6
extension SessionCoordinator {
  /// Asks, once after opening, as soon as there is a good token and nothing else is to be done with it.
  mutating func askProfileIfOwed(at now: ClockReading) -> [SessionEffect] {
    guard owesProfile, closers.isEmpty, flight == nil, isRestored, !isWaitingForLease, due == nil,
      waiters.isEmpty, case .authenticated(let session) = state, isTokenGood(at: now.uptime)
    else { return [] }
    owesProfile = false
    return [.askProfile(session.user, session.token.generation)]
  }

  /// The server's word on the user that was signed in when it was asked; a failure that says nothing of
  /// the user ends nothing.
  mutating func profileRead(
    _ user: Identifier, _ failure: RequestFailure?, at now: ClockReading
  ) -> [SessionEffect] {
    guard stopped == nil, state.kind == .authenticated, state.user == user, let failure,
      let end = endEvents(failure)
    else { return [] }
    return commit(end, for: .profileEndsSession(user, failure), at: now)
  }

  /// The events that end the session of a user whom the server calls inactive or deleted.
  func endEvents(_ failure: RequestFailure) -> [SessionRecord.Content]? {
    switch failure.kind {
    case .userInactive: endEvents(.userInactive, .keep)
    case .userDeleted: [.event(.logout(SessionEvent.Logout(reason: .userDeleted)))]
    default: nil
    }
  }
}
