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
