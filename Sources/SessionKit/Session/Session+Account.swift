import SessionCore

extension Session {
  /// Asks the server for the current status of the user's account.
  ///
  /// An expired token is refreshed first. A token that the server refuses is refreshed once.
  /// `inactive` and `deleted` end the session before this returns, if the journal can be written.
  ///
  /// After an error, the session is unchanged. The errors are:
  ///
  /// - `refused` without a status if the backend has no endpoint for the profile.
  /// - `notLoggedIn`, `expired` or `loggedOut` if there is no session.
  /// - `refused` with the status 401 if the server refuses the token that was just refreshed.
  /// - The error of the request or the refresh.
  ///
  /// - Requirement: LOG-6
  @discardableResult
  public func checkAccountStatus() async throws(SessionError) -> AccountStatus {
    do throws(SessionError) {
      let token = try await refresh(.command, .ifExpired)
      if let status = try await engine.accountStatus() { return status }
      _ = try await refresh(.unauthorized, .unlessNewer(than: token.generation))
      if let status = try await engine.accountStatus() { return status }
      throw .unauthorized(code: nil)
    } catch {
      guard let status = error.accountStatus else { throw error }
      return status
    }
  }
}
