package import SessionCore

/// A source that owns the session's tokens in place of the backend, such as an identity SDK.
///
/// If a configuration has one, it is asked for the refresh and for the logout at the server, and no refresh token
/// is kept. Each call runs in a task of its own. A call that takes longer than the policy allows is cancelled and
/// not waited for.
///
/// - Requirement: WEB-6
package protocol TokenSource: Sendable {
  /// Gets newer tokens of an account without asking the user: the refresh.
  ///
  /// `account` is the session's user, by the id that the session knows the user by; `nil` if the session does not
  /// know it. The failure is journaled as the refresh's.
  func acquireSilently(_ account: Identifier?) async throws(BackendError) -> IdentityTokens

  /// Forgets an account: the logout at the server; no error if the source does not know the account.
  func removeAccount(_ account: Identifier) async throws
}
