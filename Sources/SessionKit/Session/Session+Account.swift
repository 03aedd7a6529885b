import SessionCore

/// How a user's account stands at the server.
///
/// - Requirement: LOG-6
public enum AccountStatus: Hashable, Sendable {
  /// The user may use it.
  case active
  /// The session has expired with that reason.
  case inactive
  /// The session was logged out, and the app's local data is cleared.
  case deleted
  /// The answer is older than what the app knows of the user (``SessionHost/lastKnownStatus(of:)``), so it
  /// says nothing of now.
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
  /// Whether the server says that the user's account is inactive or deleted.
  package var isOfAccount: Bool { self == .userInactive || self == .userDeleted }
}

extension Session {
  /// Asks the server now how the user's account stands.
  ///
  /// An expired token is refreshed first, and a refused one once. `inactive` and `deleted` end the session
  /// before this returns, if the journal can be written. Every error leaves the session what it was:
  ///
  /// - `refused` without a status if the backend has no endpoint for the profile.
  /// - `notLoggedIn`, `expired` or `loggedOut` if there is no session.
  /// - `refused` with the status 401 if the token that was just refreshed is refused too.
  /// - What the request or the refresh failed with.
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
