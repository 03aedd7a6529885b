public import SessionCore

// All logins are one: limited, journaled, refused and undone by the same rules, and the `login` event names
// the method.
extension Session {
  /// Logs a user in, or creates an account.
  ///
  /// When it returns ``LoginResult/loggedIn(_:)``, the tokens are stored, the `login` event is durable, and the next
  /// refresh is scheduled. ``LoginResult/accountCreated`` means that a registration has succeeded and its response
  /// had no tokens. After an error nothing is stored or appended, except after `accountUnavailable` with a
  /// `reason`: the response named the user, so the login and its end are in the journal.
  ///
  /// - A user name, a password and another service's token are checked before anything is sent: `invalidInput`.
  /// - A registration throws `alreadyLoggedIn` if a session has expired, since it belongs to another user.
  /// - A refresh token is sent once. If the response is lost, the server may have spent it: nothing is stored, and
  ///   another one is needed if the server accepts each only once.
  /// - `refused` if the backend has no request for this credential: nothing was sent.
  ///
  /// - Requirement: LOG-1, LOG-2, LOG-3, LOG-4, LOG-5, LOG-14, LOG-15, LOG-6
  @discardableResult
  public func login(_ credential: Credential) async throws(SessionError) -> LoginResult {
    try check(credential)
    return try await login(.credential(credential), credential.method)
  }

  /// Takes over the tokens of an app's old session layer, once.
  ///
  /// Returns whether they are the session's now. `false` means that nothing was done: this journal has had a token
  /// before, and a session that ended does not come back by what an old layer left. In both cases the old layer's
  /// copy can be removed, so the call may be made at each launch until then.
  ///
  /// No request is made. A token that has expired is refreshed then. A crash in it leaves the session signed in or
  /// nothing done. If it throws, the tokens are still the old layer's. It throws `invalidResponse` if
  /// - neither the tokens nor their claims name the user;
  /// - the name is an e-mail address, which no journal holds;
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

  /// Goes on with a stored session whose items can be read now: the user has shown who they are, as
  /// ``SecretStore`` has it.
  ///
  /// A session whose items are locked is `loading`, and looks at them each second; this looks at once.
  /// It is no login, and it appends nothing: the session was the user's all the time. Returns the state. Throws
  /// `locked` if the items still cannot be read.
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
        throw .unreadableAnswer("a token is empty, or has characters that no token has")
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
