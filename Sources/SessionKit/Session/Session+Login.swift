public import SessionCore

// All logins follow the same rules: they are limited, journaled, refused and undone in one way. The
// `login` event names the method.
extension Session {
  /// Logs a user in, or creates an account.
  ///
  /// When it returns ``LoginResult/loggedIn(_:)``, the tokens are stored, the `login` event is
  /// durable, and the next refresh is scheduled. ``LoginResult/accountCreated`` means that a
  /// registration has succeeded and its response had no tokens.
  ///
  /// After an error nothing is stored or appended, with one exception. After `accountUnavailable`
  /// with a `reason`, the login and its end are in the journal, because the response named the
  /// user. The errors include:
  ///
  /// - `invalidInput` if a user name, a password or another service's token is malformed. Nothing
  ///   was sent.
  /// - `alreadyLoggedIn` for a registration if a session has expired, since that session belongs to
  ///   another user.
  /// - `refused` if the backend has no request for this credential. Nothing was sent.
  ///
  /// A refresh token is sent once. If the response is lost, the server may have consumed the token.
  /// Nothing is stored then. If the server accepts each token only once, another one is needed.
  ///
  /// - Requirement: LOG-1, LOG-2, LOG-3, LOG-4, LOG-5, LOG-14, LOG-15, LOG-6
  @discardableResult
  public func login(_ credential: Credential) async throws(SessionError) -> LoginResult {
    try check(credential)
    return try await login(.credential(credential), credential.method)
  }

  /// Takes over the tokens of an app's old session layer, once.
  ///
  /// Returns `true` if the session now has the tokens. Returns `false`, and does nothing, if this
  /// journal has had a token before: an ended session does not come back through old tokens. In
  /// both cases the old layer's copy can be removed, so the app may make this call at each launch
  /// until then.
  ///
  /// This sends no request. A token that has expired is refreshed after the call. After a crash
  /// during the call, the session is either signed in or unchanged. If this throws, the old layer
  /// keeps its tokens. It throws `invalidResponse` if
  ///
  /// - neither the tokens nor their claims name the user.
  /// - the user's name is an e-mail address, which a journal never holds.
  /// - a token is empty, or has characters that cannot be sent.
  ///
  /// - Requirement: LOG-9, STO-3
  @discardableResult
  public func adopt(_ tokens: AdoptedTokens) async throws(SessionError) -> Bool {
    try await engine.awaitDataClearing(tryingAgain: true)
    let answer = try tokens.answer(
      for: engine.configuration.tokenReader, at: engine.configuration.clock.now().time)
    let reply = try await engine.ask(wish: .adopt(answer)) { .login($0, .adoption) }
    return reply != .notAdopted
  }

  /// Continues a stored session whose items can be read now, after the user has proven their
  /// presence.
  ///
  /// ``SecretStore`` can require this proof.
  ///
  /// A session whose items are locked is `loading` and tries to read them each second. This method
  /// tries at once. It is no login and appends nothing, because the session was the user's all the
  /// time. Returns the state. Throws `locked` if the items still cannot be read.
  ///
  /// - Requirement: LOG-5
  @discardableResult
  public func unlock() async throws(SessionError) -> SessionState {
    _ = try await engine.ask { .unlock($0) }
    return state
  }

  private func check(_ credential: Credential) throws(SessionError) {
    switch credential {
    case .password(let userName, let password), .registration(let userName, let password, _):
      let problem = engine.policy.credentials.problem(
        userName: userName, password: password.plaintext)
      if let problem { throw .invalidCredential(problem) }
    case .provider(let name, let token):
      guard !name.allSatisfy(\.isWhitespace), !token.plaintext.isEmpty else {
        throw .invalidCredential(.emptyProviderToken)
      }
    case .refreshToken(let token):
      guard token.isToken else {
        throw .unreadableAnswer(
          "a token is empty or contains a character that no token may contain")
      }
    case .custom: break
    }
  }

  func login(
    _ wish: SessionEngine.CommandPayload, _ method: LoginMethod
  ) async throws(SessionError) -> LoginResult {
    // A new user must not see data that is being removed.
    try await engine.awaitDataClearing(tryingAgain: true)
    let reply = try await engine.ask(wish: wish) { .login($0, method) }
    return reply == .accountCreated ? .accountCreated : .loggedIn(currentUser)
  }
}

extension Session {
  /// Signs in with an external login.
  ///
  /// It is limited, journaled, refused and undone like every other login.
  ///
  /// If this throws, the external login may still run. The caller cancels it and waits for its end.
  package func login(
    by external: any ExternalLogin, _ method: LoginMethod
  ) async throws(SessionError) -> LoginResult {
    try await login(.external(external), method)
  }

  /// The external login that runs or that runs next; `nil` if there is none.
  package var externalLogin: (any ExternalLogin)? {
    get async { await engine.provider.login }
  }
}
