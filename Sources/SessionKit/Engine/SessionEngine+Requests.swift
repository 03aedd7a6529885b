@_spi(Internals) import SessionCore

/// Token requests: from the coordinator's request numbers to the backend and back.
extension SessionEngine {
  func send(_ number: RequestNumber, _ request: SessionEffect.Request) {
    let (base, question): (Generation, Question<TokenResponse>)
    do throws(Failed) {
      switch request {
      case .login(let caller): return sendLogin(number, of: caller)
      case .refresh(let generation):
        if let source = configuration.tokenSource { return renew(number, from: source) }
        (base, question) = (generation, try refreshing(generation))
      case .switchContext(let caller, let generation):
        (base, question) = (generation, try switching(generation, for: caller))
      }
    } catch {
      return feed(.failed(number, error.failure, jitter: runtime.jitter()), detail: error.detail)
    }
    let context = context(of: number, changing: base)
    let task = start { engine in
      defer { engine.requests.forgetTask(of: number) }
      guard await engine.mayLeave(number) else { return }
      var result = await engine.request(context, question)
      // The request was withdrawn while the app prepared it. The coordinator knows that.
      guard engine.requests.isRunning(number) else { return }
      if case .refresh = request, case .failure(let failed) = result, failed.isNotOffered {
        result = .failure(.noRefreshToken)
      }
      engine.received(number, result)
    }
    requests.begin(number, changing: base, task)
  }

  private func context(of number: RequestNumber, changing base: Generation) -> RequestContext {
    var context = context()
    context.lifetimeBefore = coordinator.tokenLifetime().map { .milliseconds($0) }
    context.expected = expectedUser
    if let token = credentials.token, token.generation == base {
      (context.access, context.boundKey) = (token.access, token.boundKey)
    }
    context.mayLeave = { [weak self] in await self?.mayLeave(number) ?? false }
    return context
  }

  /// The user to whom the next response should belong.
  var expectedUser: ExpectedUser? {
    coordinator.currentUser().map {
      let isKnown = credentials.profile?.id == $0
      return ExpectedUser(
        id: $0, origin: isKnown ? credentials.origin : nil, access: comparableToken?.access,
        identitySubject: isKnown ? credentials.identitySubject : nil)
    }
  }

  /// The token whose `sub` is compared with that of the next one; `nil` if none can be.
  private var comparableToken: StoredToken? {
    // Another process may have logged in another user, whose token was not read yet.
    guard let token = credentials.token, case .authenticated(let session) = coordinator.state,
      token.generation == session.token.generation
    else { return nil }
    // An adopted token may be of another server, or of an older one.
    return session.method == .adoption && token.announcementKind == .login ? nil : token
  }

  /// Returns how to refresh this token.
  private func refreshing(_ generation: Generation) throws(Failed) -> Question<TokenResponse> {
    let token = try held(generation)
    // The backend does not own these tokens, so it does not decide whether the session continues
    // either.
    guard !token.isOwned else {
      throw .notOffered("an identity provider owns the tokens, and this process has no provider")
    }
    guard let refresh = try refreshToken(of: token) else { throw .noRefreshToken }
    return { (backend, context) async throws(BackendError) in
      try await backend.refresh(RefreshToken(refresh), in: context)
        .checked(isRefresh: true, in: context)
    }
  }

  /// Returns how to switch the context with this token.
  private func switching(
    _ generation: Generation, for caller: Caller
  ) throws(Failed) -> Question<TokenResponse> {
    guard case .context(let target) = callers.payload(of: caller) else { throw .callerIsGone }
    let token = try held(generation).accessToken
    return { (backend, context) async throws(BackendError) in
      try await backend.switchContext(target, using: token, in: context)
        .checked(isRefresh: false, in: context)
    }
  }

  /// Returns the token of this generation, from memory or else from the store.
  private func held(_ generation: Generation) throws(Failed) -> StoredToken {
    if let token = credentials.token, token.generation == generation { return token }
    let stored = try read { () throws(SecretStoreError) in try vault.token() }
    if let stored, stored.generation == generation { return stored }
    // Another process has stored a newer token and is about to journal it.
    throw Failed(failure: RequestFailure(kind: .secretsUnavailable), detail: nil)
  }

  private func refreshToken(of token: StoredToken) throws(Failed) -> Secret? {
    try read { () throws(SecretStoreError) in try vault.refreshToken(of: token) }
  }

  /// Reads a stored item for a request, and keeps why that failed for the caller.
  private func read<Item>(_ work: () throws(SecretStoreError) -> Item?) throws(Failed) -> Item? {
    do throws(SecretStoreError) {
      let item = try work()
      if problems.reading != nil { problems.reading = nil }
      return item
    } catch {
      problems.reading = error.unlessLocked
      throw Failed(failure: RequestFailure(kind: .secretsUnavailable), detail: "\(error)")
    }
  }

  /// Returns whether the user must prove their presence before this token can be refreshed.
  ///
  /// The check shows no dialog to the user.
  ///
  /// - Requirement: STO-2
  func needsPresence(toRefresh generation: Generation?) throws(SessionError) -> Bool {
    guard let generation, let token = credentials.token, token.generation == generation else {
      return false
    }
    do throws(SecretStoreError) {
      _ = try vault.refreshToken(of: token)
      return false
    } catch {
      if case .unavailable(.refreshToken, _) = error { return true }
      throw .secrets(error)
    }
  }

  func received(_ number: RequestNumber, _ result: Result<TokenResponse, Failed>) {
    requests.end(number)
    switch result {
    case .success(let answer) where answer.isAccountOnly: feed(.accountCreated(number))
    case .success(let answer): answered(number, answer, ResponseMetadata(answer))
    case .failure(let failed):
      feed(.failed(number, failed.failure, jitter: runtime.jitter()), detail: failed.detail)
    }
  }

  func answered(
    _ number: RequestNumber, _ answer: TokenResponse, _ facts: ResponseMetadata,
    detail: String? = nil
  ) {
    var (answer, facts) = (answer, facts)
    facts.method = answer.method
    if coordinator.signsIn(by: number), let path = missingRefreshToken(in: answer) {
      hub.warn(.refreshTokenMissing(path))
    }
    if coordinator.signsIn(by: number), let life = answer.refreshTokenLifetime,
      life < .seconds(12 * 3_600)
    {
      hub.warn(.refreshTokenShort(life))
    }
    if !coordinator.signsIn(by: number) { warnOfBearer(answer, signsIn: false) }
    if !configuration.backend.traits.keepsIdentityToken { answer.identity = nil }
    if let problem = answer.identityProblem { hub.warn(.identityTokenRefused(problem)) }
    if configuration.tokenSource != nil {
      // The provider renews the tokens. A refresh token of another source is of no use here and is
      // not kept.
      (facts.isRenewedByProvider, facts.hasRefreshToken) = (true, false)
      answer.refresh = nil
    }
    requests.responses[number] = answer
    loop.noteAnswered(number)
    feed(.answered(number, facts), detail: detail)
  }

  /// Discards a response.
  ///
  /// With `revoking`, its tokens are revoked, as far as that is possible.
  ///
  /// - Requirement: LOG-10
  func discard(_ number: RequestNumber, revoking: Bool) {
    guard let answer = requests.responses.removeValue(forKey: number), revoking else { return }
    giveBack(answer)
  }
}

extension SessionEngine.Failed {
  /// The caller does not wait for the request any more.
  ///
  /// Nothing was sent.
  static let callerIsGone = SessionEngine.Failed(
    failure: RequestFailure(kind: .noConnection), detail: "the caller stopped waiting")

  /// Returns the failure that the backend has no such request.
  ///
  /// Nothing was sent.
  fileprivate static func notOffered(_ what: String) -> SessionEngine.Failed {
    SessionEngine.Failed(
      failure: RequestFailure(kind: .noConnection, serverCode: RequestFailure.notOffered),
      detail: what)
  }

  /// There is no refresh token.
  ///
  /// Nothing was sent.
  fileprivate static let noRefreshToken = SessionEngine.Failed(
    failure: RequestFailure(kind: .noRefreshToken), detail: nil)

  /// Whether the backend has no such request.
  var isNotOffered: Bool {
    failure.kind == .noConnection && failure.serverCode == RequestFailure.notOffered
  }
}

extension TokenResponse {
  /// Checks the response to a refresh, or to a switch, which consumes the refresh token if it
  /// returns another one.
  func checked(isRefresh: Bool, in context: RequestContext) throws(BackendError) -> TokenResponse {
    guard !isAccountOnly else {
      throw BackendError(.invalidResponse, message: "the backend returned no token")
    }
    return try checked(isSpent: isRefresh || refresh != nil, of: context.expected)
      .compared(with: context.expected)
  }
}

extension ResponseMetadata {
  /// Creates the part of a response that the coordinator may know.
  init(_ answer: TokenResponse) {
    self.init(
      lifetime: answer.lifetimeMilliseconds, tokenID: answer.tokenID,
      hasRefreshToken: answer.refresh != nil,
      user: answer.user?.id, context: answer.context, tokenContext: answer.tokenContext,
      serverTime: answer.serverTime)
    (namedBy, isMeasuredByDevice) = (answer.namedBy, answer.isMeasuredByDevice)
    sessionLifetime = answer.sessionLifetime?.wholeMilliseconds
    refreshTokenLife = answer.refreshTokenLifetime.map { $0.milliseconds(atLeast: 1) }
    boundKey = answer.boundKey
  }
}
