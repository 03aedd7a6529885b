@_spi(Internals) import SessionCore

/// Token requests: from the coordinator's request numbers to the backend and back.
extension SessionEngine {
  func send(_ number: RequestNumber, _ request: SessionEffect.Request) {
    if case .login(let caller) = request, case .external(let login) = callers.payload(of: caller) {
      return run(login, number, caller)
    }
    if case .refresh = request, let source = configuration.tokenSource {
      return renew(number, from: source)
    }
    if case .login(let caller) = request, case .adopt(let tokens) = callers.payload(of: caller) {
      // There is no request to send: the tokens were given by the caller.
      start { engine in
        if let failed = await engine.awaitDataClearing(for: caller) {
          return engine.received(number, .failure(failed))
        }
        engine.received(number, .success(tokens))
      }
      return
    }
    let question: Question<TokenResponse>
    do throws(Failed) { question = try self.question(request) } catch {
      feed(.failed(number, error.failure, jitter: runtime.jitter()), detail: error.detail)
      return
    }
    let context = context(of: number, request)
    let task = start { engine in
      defer { engine.requests.forgetTask(of: number) }
      if case .login(let caller) = request, let failed = await engine.awaitDataClearing(for: caller)
      {
        return engine.received(number, .failure(failed))
      }
      guard await engine.mayLeave(number, request) else { return }
      var result = await engine.request(context, question)
      // The request was withdrawn while the app prepared it. The coordinator knows that.
      guard engine.requests.isRunning(number) else { return }
      if case .refresh = request, case .failure(let failed) = result, failed.isNotOffered {
        result = .failure(.noRefreshToken)
      }
      guard request.isLogin, case .success(let answer) = result, !answer.isAccountOnly else {
        return engine.received(number, result)
      }
      await engine.landed(number, answer)
    }
    requests.begin(number, changing: request.base, task)
  }

  private func context(
    of number: RequestNumber, _ request: SessionEffect.Request
  ) -> RequestContext {
    var context = context()
    if let base = request.base {
      context.lifetimeBefore = coordinator.tokenLifetime().map { .milliseconds($0) }
      context.expected = expectedUser
      if let token = credentials.token, token.generation == base { context.access = token.access }
    }
    context.mayLeave = { [weak self] in await self?.mayLeave(number, request) ?? false }
    return context
  }

  /// Handles the response to a login.
  ///
  /// If the policy requires it, the server is asked for the profile first.
  func landed(_ number: RequestNumber, _ answer: TokenResponse) async {
    if traits.needsRefreshToken, let path = missingRefreshToken(in: answer) {
      giveBack(answer)
      return received(number, .failure(.missing(path)))
    }
    let profile = await profile(for: answer)
    // Another process's logout may have been seen meanwhile.
    do throws(SessionError) { try await awaitDataClearing() } catch {
      giveBack(answer)
      return received(number, .failure(.notCleared(error)))
    }
    guard let profile else {
      guard answer.user != nil else {
        giveBack(answer)
        return received(number, .failure(.nameless))
      }
      return received(number, .success(answer))
    }
    received(number, answer, profile)
  }

  /// Returns the path at which the response to a sign-in lacks a refresh token.
  ///
  /// `nil` if it has one, or if nothing could refresh with it.
  ///
  /// - Requirement: LOG-11
  private func missingRefreshToken(in answer: TokenResponse) -> String? {
    let traits = traits
    let isExpected = traits.refreshesTokens && configuration.tokenSource == nil
    return isExpected && answer.refresh == nil ? traits.refreshTokenPath : nil
  }

  /// Waits until the hosts have cleared their data, before a sign-in is sent.
  ///
  /// Returns why it must not be sent.
  ///
  /// Another process's logout may have been seen since the sign-in was requested.
  func awaitDataClearing(for caller: Caller) async -> Failed? {
    guard isClearing else { return nil }
    do throws(SessionError) { try await awaitDataClearing() } catch { return .notCleared(error) }
    return callers.payload(of: caller) == nil ? .callerIsGone : nil
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

  /// Returns the credential of a login or the target of a switch; `nil` for a refresh.
  private func wish(of request: SessionEffect.Request) -> CommandPayload? {
    switch request {
    case .login(let caller), .switchContext(let caller, _): callers.payload(of: caller)
    case .refresh: nil
    }
  }

  /// Returns what to ask of the backend.
  ///
  /// Throws if that is not possible now.
  private func question(
    _ request: SessionEffect.Request
  ) throws(Failed) -> Question<TokenResponse> {
    switch request {
    case .login:
      guard case .credential(let credential) = wish(of: request) else { throw .callerIsGone }
      return { (backend, context) async throws(BackendError) in
        var response = try await backend.login(credential, in: context)
        guard credential.mayCreateAccount || !response.isAccountOnly else {
          throw BackendError(.invalidResponse, message: "the backend returned no token")
        }
        if case .refreshToken(let token) = credential, response.refresh ?? token == token {
          // The server has not replaced the refresh token (REF-5).
          (response.refresh, response.isRefreshTokenOfCaller) = (token, true)
        }
        return try response.checked(credential.step, of: nil)
      }
    case .refresh(let generation):
      let token = try held(generation)
      // The backend does not own these tokens, so it does not decide whether the session continues
      // either.
      guard !token.isOwned else {
        throw .notOffered("an identity provider owns the tokens, and this process has no provider")
      }
      guard let refresh = try refreshToken(of: token) else { throw .noRefreshToken }
      return { (backend, context) async throws(BackendError) in
        try await backend.refresh(RefreshToken(refresh), in: context).asked(.refresh, in: context)
      }
    case .switchContext(let caller, let generation):
      guard case .context(let target) = callers.payload(of: caller) else { throw .callerIsGone }
      let held = try held(generation)
      let token = AccessToken(
        held.access, generation: generation, expiresAt: held.expiresAt)
      return { (backend, context) async throws(BackendError) in
        try await backend.switchContext(target, using: token, in: context)
          .asked(.switchContext, in: context)
      }
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

  /// Handles the response to a login together with the server's profile response.
  ///
  /// - Requirement: LOG-6
  private func received(
    _ number: RequestNumber, _ answer: TokenResponse, _ profile: Result<ProfileResponse, Failed>
  ) {
    requests.end(number)
    var answer = answer
    var facts = ResponseMetadata(answer)
    var detail: String?
    switch profile {
    case .success(let found):
      if let named = answer.user {
        answer.user = named.completed(by: found.user)
      } else {
        answer.user = found.user
        answer.origin = UserOrigin(
          source: UserOrigin.profile, value: found.user.id.description)
      }
      facts = ResponseMetadata(answer)
      // The request used this token, so the response counts even if it names the user
      // differently.
      facts.profileFailure = found.failure
    case .failure(let failed):
      facts.profileFailure = failed.failure
      detail = failed.detail
    }
    answered(number, answer, facts, detail: detail)
  }

  private func answered(
    _ number: RequestNumber, _ answer: TokenResponse, _ facts: ResponseMetadata,
    detail: String? = nil
  ) {
    var (answer, facts) = (answer, facts)
    facts.method = answer.method
    if coordinator.signsIn(by: number), let path = missingRefreshToken(in: answer) {
      hub.warn(.refreshTokenMissing(path))
    }
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
  fileprivate static let callerIsGone = SessionEngine.Failed(
    failure: RequestFailure(kind: .noConnection), detail: "the caller stopped waiting")

  /// Returns the failure that the wait for a host, which clears its data, ended with this error.
  ///
  /// No user is signed in.
  fileprivate static func notCleared(_ problem: SessionError) -> SessionEngine.Failed {
    let detail =
      problem == .clearingLocalData
      ? "the app is still clearing the previous user's data"
      : "the session was closed before the app had cleared its data"
    return SessionEngine.Failed(
      failure: RequestFailure(kind: .noConnection), detail: detail)
  }

  /// Returns the failure that the response to a sign-in has no refresh token at its path.
  fileprivate static func missing(_ path: String) -> SessionEngine.Failed {
    SessionEngine.Failed(
      failure: RequestFailure(kind: .unreadable),
      detail: "\(path) is missing, but the backend has a refresh endpoint")
  }

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

  /// The response to a sign-in does not name the user, and the backend has no profile.
  fileprivate static let nameless = SessionEngine.Failed(
    failure: RequestFailure(kind: .unreadable), detail: "the response does not identify the user")

  /// Whether the backend has no such request.
  var isNotOffered: Bool {
    failure.kind == .noConnection && failure.serverCode == RequestFailure.notOffered
  }
}

extension SessionEffect.Request {
  fileprivate var isLogin: Bool {
    if case .login = self { true } else { false }
  }

  /// The token that the request may change; `nil` for a login.
  fileprivate var base: Generation? {
    switch self {
    case .refresh(let base), .switchContext(_, let base): base
    case .login: nil
    }
  }
}

extension TokenResponse {
  /// Checks the response to a refresh or a switch.
  func asked(
    _ step: TokenStep, in context: RequestContext
  ) throws(BackendError) -> TokenResponse {
    guard !isAccountOnly else {
      throw BackendError(.invalidResponse, message: "the backend returned no token")
    }
    return try checked(step, of: context.expected).compared(with: context.expected)
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
  }
}
