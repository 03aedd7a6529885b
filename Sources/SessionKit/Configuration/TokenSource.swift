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

/// A login whose tokens do not come from the backend, such as a sign-in on an identity provider's
/// page.
///
/// It is the request of one login (`Specs/Decisions/treat-a-web-login-as-one-request.md`). The
/// session runs it after the previous login has ended and the app's data is cleared.
package protocol ExternalLogin: AnyObject, Sendable {
  /// Runs the login until it ends.
  ///
  /// If it was cancelled before, it ends at once.
  func run(_ host: ExternalLoginHost) async -> ExternalLoginEnding

  /// Ends the login and undoes its effects.
  ///
  /// Called if no caller waits for it any more.
  func cancel()

  /// Waits until the login has ended and the next one may begin.
  func waitUntilEnded() async
}

/// How an external login ended.
package enum ExternalLoginEnding: Sendable {
  /// The login returned tokens.
  ///
  /// The second value names the method.
  case signedIn(TokenResponse, LoginMethod)
  /// The login failed.
  ///
  /// There are no tokens.
  case failed(WebSignInProblem)
}

/// What a session gives to an external login.
///
/// The values are those at the time when the login starts.
package struct ExternalLoginHost: Sendable {
  /// The expired session whose user should sign in again; `nil` if any user may sign in.
  package let expired: SessionState.Expired?
  /// The time limit of a step that does not involve the user, in milliseconds.
  package let requestTimeout: Int64
  /// The context of a request of the login.
  package let context: RequestContext
  /// Returns whether a silent sign-in of this user must be refused.
  package let isUnwelcome: @Sendable (Identifier) async -> Bool
  /// Reads tokens as the response to a login.
  package let map: @Sendable (IdentityTokens) throws(WebSignInProblem) -> TokenResponse
  /// Revokes tokens of a user's sign-in for which no caller waits.
  package let giveBack: @Sendable (IdentityTokens) -> Void
  /// Returns the reading of the session's clock.
  package let now: @Sendable () -> ClockReading
  /// Waits for a number of milliseconds on that clock.
  ///
  /// Returns `false` if the task is cancelled first.
  package let wait: @Sendable (Int64) async -> Bool
  /// Starts work that outlives the call.
  package let spawn: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
}
