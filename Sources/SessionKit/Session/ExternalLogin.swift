package import SessionCore

/// A login whose tokens do not come from the backend, such as a sign-in on an identity provider's page.
///
/// It is the request of one login (Specs/Decisions/treat-a-web-login-as-one-request.md). The session runs it when the
/// login before it has ended and the app's data is cleared.
package protocol ExternalLogin: AnyObject, Sendable {
  /// Runs it to its end; ends at once if it was cancelled before.
  func run(_ host: ExternalLoginHost) async -> ExternalLoginEnding

  /// Ends it, and undoes what it has done: no caller waits any more.
  func cancel()

  /// Waits until it has ended, and until the next one may begin.
  func waitUntilEnded() async
}

/// How an external login ended.
package enum ExternalLoginEnding: Sendable {
  /// With tokens, in this way.
  case signedIn(TokenResponse, LoginMethod)
  /// With nothing.
  case failed(WebSignInProblem)
}

/// What a session gives to an external login, as the session is when the login's turn comes.
package struct ExternalLoginHost: Sendable {
  /// The session that has expired, whose user is to sign in again; `nil` if any user may sign in.
  package let expired: SessionState.Expired?
  /// How long a step without the user may take, in milliseconds.
  package let requestTimeout: Int64
  /// Whether tokens of this user must not sign in if no user was asked.
  package let isUnwelcome: @Sendable (Identifier) async -> Bool
  /// Reads tokens as the answer to a login.
  package let map: @Sendable (IdentityTokens) throws(WebSignInProblem) -> TokenResponse
  /// Gives tokens back that a user's sign-in brought and no caller wants.
  package let giveBack: @Sendable (IdentityTokens) -> Void
  /// Waits for a number of milliseconds; `false` if the task is cancelled first.
  package let wait: @Sendable (Int64) async -> Bool
  /// Starts work that outlives the call.
  package let spawn: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
}

extension Session {
  /// Signs in with an external login; limited, journaled, refused and undone as every login is.
  ///
  /// If it throws, the external login may still run: the caller cancels it and waits for its end.
  package func login(
    by external: any ExternalLogin, _ method: LoginMethod
  ) async throws(SessionError) -> LoginResult {
    try await login(.external(external), method)
  }

  /// The external login that runs, or that runs next; `nil` if there is none.
  package var externalLogin: (any ExternalLogin)? {
    get async { await engine.externalLogin }
  }
}
