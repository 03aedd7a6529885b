/// How far a logout goes.
///
/// - Requirement: OUT-7
public enum LogoutScope: Hashable, Sendable {
  /// The user is logged out here, and the server revokes the session's tokens.
  case deviceAndServer
  /// The user is logged out here only: no request is sent, now or later, and an identity provider that owns the
  /// tokens keeps the account.
  ///
  /// The tokens stay valid at the server until they expire. Revocations that an earlier end of a session has
  /// begun go on.
  case thisDeviceOnly
}
