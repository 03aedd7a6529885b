package import SessionCore

/// A source that owns the session's tokens in place of the backend, such as an identity SDK.
///
/// If a configuration has one, the source performs the refresh and the logout at the server, and no
/// refresh token is stored. Each call runs in its own task. A call that takes longer than the
/// policy allows is cancelled, and its result is not awaited.
///
/// - Requirement: WEB-6
package protocol TokenSource: Sendable {
  /// Gets newer tokens of an account without asking the user, as the refresh.
  ///
  /// `account` is the session's user, by the id that the session uses; `nil` if the session does
  /// not know the user. A failure is journaled as that of the refresh.
  func acquireSilently(_ account: Identifier?) async throws(BackendError) -> IdentityTokens

  /// Removes an account, as the logout at the server.
  ///
  /// An unknown account is no error.
  func removeAccount(_ account: Identifier) async throws
}
