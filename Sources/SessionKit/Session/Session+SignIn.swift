public import SessionCore

// The ways in (LOG-5). All are one: limited, journaled, refused and undone by the same rules, and the
// `login` event names the way.
extension Session {
  /// Signs in with an e-mail address or user name and a password (LOG-1 … LOG-4).
  ///
  /// When it returns, the tokens are stored, the `login` event is durable, and the next refresh is
  /// scheduled. After an error nothing is stored or appended, except after `accountUnavailable` with a
  /// `reason`: the response named the user, so the login and its end are in the journal (LOG-6).
  @discardableResult
  public func login(_ credentials: PasswordCredentials) async throws(SessionError) -> UserProfile? {
    try check(credentials)
    return try await signIn(.signIn(credentials), .password)
  }

  /// Signs in with the token of another service, by the backend's name for that service (LOG-5).
  ///
  /// As with a password, but for what the credential must look like: neither may be empty.
  @discardableResult
  public func login(
    provider: String, token: Secret
  ) async throws(SessionError) -> UserProfile? {
    guard !provider.allSatisfy(\.isWhitespace), !token.plaintext.isEmpty else {
      throw .invalidCredential(.emptyProviderToken)
    }
    return try await signIn(.social(SocialCredentials(provider: provider, token: token)), .social)
  }

  /// Creates an account, and signs in with it where the backend does so (LOG-5, `HTTPBackend.registration`).
  ///
  /// Looked at, limited and undone like a login. Throws `alreadyLoggedIn` if a session has expired: it
  /// belongs to another user than the new one.
  @discardableResult
  public func register(_ account: NewAccount) async throws(SessionError) -> RegistrationOutcome {
    try check(account.credentials)
    try await engine.awaitDataClearing(tryingAgain: true)
    let reply = try await engine.ask(wish: .register(account)) { .login($0, .registration) }
    return reply == .accountCreated ? .accountCreated : .signedIn(currentUser)
  }

  /// Takes over the tokens of an app's old session layer, once (LOG-9).
  ///
  /// For a journal that has never had a token; may be called at each launch until the old layer's copy
  /// is removed, which is safe as soon as it has returned. No request is made; a token that has expired
  /// is refreshed then. A crash in it leaves the session signed in or nothing done. Throws
  /// `invalidResponse` if neither the tokens nor their claims name the user, if the name is an e-mail address,
  /// which no journal holds (STO-3), and if a token cannot be sent. If it throws, the tokens are still the old
  /// layer's.
  @discardableResult
  public func adopt(_ tokens: AdoptedTokens) async throws(SessionError) -> Adoption {
    try await engine.awaitDataClearing(tryingAgain: true)
    let answer = try tokens.answer(
      for: engine.configuration.tokenReader, at: engine.configuration.clock.now().time)
    let reply = try await engine.ask(wish: .adopt(answer)) { .login($0, .adoption) }
    return reply == .notAdopted ? .settledBefore : .adopted
  }

  /// Goes on with a stored session whose items can be read now: the user has shown who they are, as
  /// ``SecretStore`` has it (LOG-5).
  ///
  /// A session whose items are locked is `loading`, and looks at them each second; this looks at once.
  /// Signs nobody in and appends nothing: the session was theirs all the time. Returns the state. Throws
  /// `locked` if the items still cannot be read.
  @discardableResult
  public func unlock() async throws(SessionError) -> SessionState {
    _ = try await engine.ask { .unlock($0) }
    return state
  }

  private func check(_ credentials: PasswordCredentials) throws(SessionError) {
    let problem = engine.policy.credentials.problem(
      userName: credentials.userName, password: credentials.password.plaintext)
    if let problem { throw .invalidCredential(problem) }
  }

  func signIn(
    _ wish: SessionEngine.CommandPayload, _ method: LoginMethod
  ) async throws(SessionError) -> UserProfile? {
    // Nobody signs in to data that is being removed.
    try await engine.awaitDataClearing(tryingAgain: true)
    _ = try await engine.ask(wish: wish) { .login($0, method) }
    return currentUser
  }
}
