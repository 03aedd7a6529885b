import SessionCore

/// The status of a user's account at the server.
///
/// - Requirement: LOG-6
public enum AccountStatus: Hashable, Sendable {
  /// The user may use the account.
  case active
  /// The account is inactive.
  ///
  /// The session has expired for this reason.
  case inactive
  /// The account was deleted.
  ///
  /// The session was logged out, and the app's local data is cleared.
  case deleted
  /// The response is older than what the app knows of the user
  /// (``SessionHost/lastKnownStatus(of:)``).
  ///
  /// It does not show the current status.
  case outdated

  init?(_ kind: RequestFailure.Kind?) {
    switch kind {
    case .userInactive: self = .inactive
    case .userDeleted: self = .deleted
    default: return nil
    }
  }
}

extension RequestFailure.Kind {
  /// Whether the server reports that the user's account is inactive or deleted.
  package var isOfAccount: Bool { self == .userInactive || self == .userDeleted }
}

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
