/// Whether a logout also revokes the tokens at the server.
///
/// - Requirement: OUT-7
public enum LogoutScope: Hashable, Sendable {
  /// The user is logged out here, and the server revokes the session's tokens.
  case deviceAndServer
  /// The user is logged out here only: no request is sent, now or later.
  ///
  /// The tokens stay valid at the server until they expire. An identity provider that owns the
  /// tokens keeps the account. Revocations that an earlier end of a session began continue.
  case thisDeviceOnly
}
