import SessionCore

/// Requests: from the coordinator's numbers to the wire and back.
extension SessionEngine {
  /// A request that failed, and what its numbers cannot say.
  struct Failed: Error {
    let failure: RequestFailure
    let detail: String?
  }

  func send(_ number: RequestNumber, _ request: SessionEffect.Request) {
    if case .login(let caller) = request, case .external(let login) = wishes[caller] {
      return run(login, number, caller)
    }
    if case .refresh = request, let source = configuration.tokenSource {
      return renew(number, from: source)
    }
    if case .login(let caller) = request, case .adopt(let tokens) = wishes[caller] {
      // Nothing to ask: the answer has been here since before this session.
      spawn { engine in
        if let failed = await engine.awaitDataClearing(for: caller) {
          return engine.received(number, .failure(failed))
        }
        engine.received(number, .success(tokens))
      }
      return
    }
    let outgoing: HTTPRequest
    let wish = wish(of: request)
    do throws(Failed) {
      outgoing = try self.outgoing(request)
    } catch {
      detail = error.detail
      feed(.failed(number, error.failure, jitter: runtime.jitter()))
      return
    }
    let wire = configuration.wire
    let lifeBefore = coordinator.state.token?.lifetime
    let user = expectedUser
    let task = spawn { engine in
      if case .login(let caller) = request, let failed = await engine.awaitDataClearing(for: caller)
      {
        return engine.received(number, .failure(failed))
      }
      guard engine.mayLeave(number, request) else { return }
      let result = await engine.exchange(outgoing) { (response) throws(AnswerFailure) in
        switch (request, wish) {
        case (.login, .register(let account)): try wire.readRegistration(response, of: account)
        case (.login, .social): try wire.readSocial(response)
        case (.login, .signIn(let credentials)): try wire.readLogin(response, to: credentials)
        case (.login, _): try wire.readLogin(response)
        case (.refresh, _): try wire.readRefresh(response, lifeBefore: lifeBefore, of: user)
        case (.switchContext, _):
          try wire.readSwitch(response, lifeBefore: lifeBefore, of: user)
        }
      }
      guard case .login = request, case .success(let answer?) = result else {
        return engine.received(number, result)
      }
      await engine.landed(number, answer)
    }
    requests[number] = task
    switch request {
    case .refresh(let base), .switchContext(_, let base): lastTokenRequest = (base, task)
    case .login: break
    }
  }

  /// A login's answer is here: where that is wanted, the server is asked who the user is.
  func landed(_ number: RequestNumber, _ answer: TokenAnswer) async {
    if configuration.wire.missingRefreshToken == .fails, let path = missingRefreshToken(in: answer)
    {
      giveBack(answer)
      return received(number, .failure(.missing(path)))
    }
    let profile = await profile(for: answer)
    // Another process's logout may have been seen meanwhile.
    do throws(SessionError) { try await awaitDataClearing() } catch {
      giveBack(answer)
      return received(number, .failure(.notCleared(error)))
    }
    guard let profile else { return received(number, .success(answer)) }
    received(number, answer, profile)
  }

  /// Where a sign-in's response should have a refresh token and has none; `nil` if it has one, or nothing
  /// could refresh with it (LOG-11).
  private func missingRefreshToken(in answer: TokenAnswer) -> MemberPath? {
    let wire = configuration.wire
    guard answer.refresh == nil, wire.endpoints.refresh != nil,
      configuration.tokenSource == nil
    else { return nil }
    return wire.answer.refreshToken.first ?? .whole
  }

  /// Waits until the host has cleared its data, before a sign-in goes out; returns why it does not.
  ///
  /// Another process's logout may have been seen since it was asked for.
  func awaitDataClearing(for caller: Caller) async -> Failed? {
    guard isClearing else { return nil }
    do throws(SessionError) { try await awaitDataClearing() } catch { return .notCleared(error) }
    return wishes[caller] == nil ? .callerIsGone : nil
  }

  /// Whose the next response should be.
  var expectedUser: ExpectedUser? {
    coordinator.state.user.map {
      ExpectedUser(id: $0, origin: profile?.id == $0 ? origin : nil)
    }
  }

  /// What a login signs in with, or a switch to; nothing of a refresh.
  private func wish(of request: SessionEffect.Request) -> CommandPayload? {
    switch request {
    case .login(let caller), .switchContext(let caller, _): wishes[caller]
    case .refresh: nil
    }
  }

  /// The request on the wire.
  private func outgoing(_ request: SessionEffect.Request) throws(Failed) -> HTTPRequest {
    let wire = configuration.wire
    switch request {
    case .login:
      switch wish(of: request) {
      case .signIn(let credentials):
        guard let login = wire.login(credentials) else {
          throw .notOffered("there is no signing in with a password")
        }
        return login
      case .register(let account):
        guard let registration = wire.register(account) else {
          throw .notOffered("accounts are not created")
        }
        return registration
      case .social(let credentials):
        guard let login = wire.social(credentials) else {
          throw .notOffered("there is no signing in with another service's token")
        }
        return login
      case .adopt, .external, .context, nil: throw .callerIsGone
      }
    case .refresh(let generation):
      let token = try held(generation)
      // Nor has it a say in whether the session goes on.
      guard !token.isOwned else {
        throw .notOffered("an identity provider owns the tokens, and this process has none")
      }
      let refresh = try refreshToken(of: token)
      guard let refresh, let request = wire.refresh(refresh) else {
        throw Failed(failure: RequestFailure(kind: .noRefreshToken), detail: nil)
      }
      return request
    case .switchContext(let caller, let generation):
      guard case .context(let target) = wishes[caller] else { throw .callerIsGone }
      let access = try held(generation).access
      guard let change = wire.switchContext(target, access: access) else {
        throw .notOffered("there are no contexts to change to")
      }
      return change
    }
  }

  /// The token of this generation, from memory or else from where it is stored.
  private func held(_ generation: Generation) throws(Failed) -> StoredToken {
    if let token, token.generation == generation { return token }
    do throws(SecretStoreError) {
      if let stored = try vault.token(), stored.generation == generation { return stored }
    } catch {
      throw Failed(failure: RequestFailure(kind: .secretsUnavailable), detail: "\(error)")
    }
    // Another process has stored a newer one and is about to say so in the journal.
    throw Failed(failure: RequestFailure(kind: .secretsUnavailable), detail: nil)
  }

  private func refreshToken(of token: StoredToken) throws(Failed) -> Secret? {
    do throws(SecretStoreError) { return try vault.refreshToken(of: token) } catch {
      throw Failed(failure: RequestFailure(kind: .secretsUnavailable), detail: "\(error)")
    }
  }

  /// Whether the user has to show who they are before this token can be refreshed (STO-2); looked at
  /// without asking anybody.
  func needsPresence(toRefresh generation: Generation?) throws(SessionError) -> Bool {
    guard let generation, let token, token.generation == generation else { return false }
    do throws(SecretStoreError) {
      _ = try vault.refreshToken(of: token)
      return false
    } catch {
      if case .unavailable(.refreshToken, _) = error { return true }
      throw .secrets(error)
    }
  }

  func received(_ number: RequestNumber, _ result: Result<TokenAnswer?, Failed>) {
    requests[number] = nil
    switch result {
    case .success(let answer?): answered(number, answer, ResponseMetadata(answer))
    case .success(nil): feed(.accountCreated(number))
    case .failure(let failed):
      detail = failed.detail
      feed(.failed(number, failed.failure, jitter: runtime.jitter()))
    }
  }

  /// A login's answer, and what the server said when it was asked who the user is (LOG-6).
  private func received(
    _ number: RequestNumber, _ answer: TokenAnswer, _ profile: Result<HTTPBackend.Standing, Failed>
  ) {
    requests[number] = nil
    var answer = answer
    var facts = ResponseMetadata(answer)
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
      // Asked with this very token, whatever the profile calls its user.
      facts.profileFailure = found.failure
      owe(found)
    case .failure(let failed):
      facts.profileFailure = failed.failure
      detail = failed.detail
    }
    answered(number, answer, facts)
  }

  private func answered(_ number: RequestNumber, _ answer: TokenAnswer, _ facts: ResponseMetadata) {
    var (answer, facts) = (answer, facts)
    facts.method = answer.method
    if coordinator.isSignIn(number), let path = missingRefreshToken(in: answer) {
      hub.warn(.refreshTokenMissing(path))
    }
    if configuration.tokenSource != nil {
      // It brings newer tokens; another's refresh token is of no use here, and is not kept.
      (facts.isRenewedByProvider, facts.hasRefreshToken) = (true, false)
      answer.refresh = nil
    }
    answers[number] = answer
    feed(.answered(number, facts))
    // Kept only while a commit that failed may be tried again.
    if !coordinator.isHolding(number) { answers[number] = nil }
  }

  /// Sends a request, bounded in time, and reads the answer.
  func exchange<Answer: Sendable>(
    _ request: HTTPRequest, within limit: Int64? = nil,
    _ read: @Sendable (HTTPResponse) throws(AnswerFailure) -> Answer
  ) async -> Result<Answer, Failed> {
    var request = request
    request.timeout = limit ?? policy.requestTimeout
    do {
      let response = try await configuration.transport.send(request)
      return .success(try read(response))
    } catch let error as TransportError {
      return .failure(Failed(error))
    } catch let error as AnswerFailure {
      return .failure(Failed(failure: error.failure, detail: error.problem))
    } catch {
      return .failure(Failed(failure: RequestFailure(kind: .noReply), detail: nil))
    }
  }

  /// Forgets an answer; one that nobody wants is given back, as well as that goes (LOG-10).
  func discard(_ number: RequestNumber, revoking: Bool) {
    guard let answer = answers.removeValue(forKey: number), revoking else { return }
    giveBack(answer)
  }
}

extension SessionEngine.Failed {
  /// Nobody wants the request any more; nothing was sent.
  fileprivate static let callerIsGone = SessionEngine.Failed(
    failure: RequestFailure(kind: .noConnection), detail: "its caller stopped waiting")

  /// The wait for the host that clears its data ended by this; nobody is signed in.
  fileprivate static func notCleared(_ problem: SessionError) -> SessionEngine.Failed {
    let detail =
      problem == .clearingLocalData
      ? "the app's data of the user before is still being cleared"
      : "the session was closed before that"
    return SessionEngine.Failed(
      failure: RequestFailure(kind: .noConnection), detail: detail)
  }

  /// The response to a sign-in has no refresh token at its place.
  fileprivate static func missing(_ path: MemberPath) -> SessionEngine.Failed {
    SessionEngine.Failed(
      failure: RequestFailure(kind: .unreadable),
      detail: "\(path) is missing, and the wire has an endpoint to refresh")
  }

  /// The backend has nothing of the kind; nothing was sent.
  fileprivate static func notOffered(_ what: String) -> SessionEngine.Failed {
    SessionEngine.Failed(
      failure: RequestFailure(kind: .noConnection, serverCode: RequestFailure.notOffered),
      detail: what)
  }

  /// The address cannot be used; nothing was sent.
  private static func wrongAddress(_ problem: String) -> SessionEngine.Failed {
    SessionEngine.Failed(
      failure: RequestFailure(kind: .noConnection, serverCode: RequestFailure.wrongAddress),
      detail: problem)
  }

  fileprivate init(_ error: TransportError) {
    switch error {
    case .badAddress(let problem):
      self = .wrongAddress(problem)
    case .noConnection(let reason):
      self.init(failure: RequestFailure(kind: .noConnection), detail: reason)
    case .notTrusted(let reason):
      self.init(
        failure: RequestFailure(kind: .noConnection, serverCode: RequestFailure.notTrusted),
        detail: reason)
    case .insecure(let host):
      self = .wrongAddress("\(host) is not reached over HTTPS, which only loopback may do without")
    case .noReply(let reason):
      self.init(failure: RequestFailure(kind: .noReply), detail: reason)
    case .cancelled:
      self.init(failure: RequestFailure(kind: .noReply), detail: "the request was cancelled")
    }
  }
}

extension ResponseMetadata {
  /// What the coordinator may know of an answer.
  init(_ answer: TokenAnswer) {
    self.init(
      lifetime: answer.lifetime, tokenID: answer.tokenID, hasRefreshToken: answer.refresh != nil,
      user: answer.user?.id, context: answer.context, tokenContext: answer.tokenContext,
      serverTime: answer.serverTime)
    namedBy = answer.namedBy
  }
}
