@_spi(Internals) import SessionCore
public import SessionKit

// The calls of a session: each builds a request, prepares it, sends it once, and reads the
// response.
extension HTTPBackend: AuthBackend {
  /// The origins that receive a stored token, and the app's client identifier.
  ///
  /// - Requirement: STO-6
  public var identity: BackendIdentity {
    let steps: [Step] = [.refresh, .switchContext, .profile, .revocation]
    // Each endpoint that receives stored tokens.
    let endpoints = steps.compactMap { endpoint(of: $0) } + furtherRevocations
    // A path below the base has its origin.
    let others = endpoints.filter { $0.path.utf8.contains(UInt8(ascii: ":")) }
    let urls = [baseURL] + others.map { $0.url(below: baseURL) }
    return BackendIdentity(origins: urls, clientID: client.id)
  }

  /// Logs a user in, or creates an account, at the endpoint for the credential.
  ///
  /// A refresh token alone goes to the endpoint of the refresh. It throws `unsupported` if there is
  /// no endpoint, and for ``/SessionKit/Credential/custom(type:fields:)``.
  ///
  /// The response to a registration decides the result. With an access token the user is signed in.
  /// Without one the result is ``/SessionKit/TokenResponse/accountCreated``.
  ///
  /// - Requirement: LOG-3, LOG-5, LOG-14, LOG-15
  public func login(
    _ credential: Credential, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    guard let request = loginRequest(credential) else { throw .unsupported(credential.notOffered) }
    let step: Step =
      switch credential {
      case .password, .custom: .login
      case .registration: .register
      case .provider: .social
      case .refreshToken: .refresh
      }
    return try await exchange(step, request, in: context) { (response) throws(AnswerFailure) in
      switch step {
      case .register:
        try readRegistration(response, of: credential, in: context) ?? .accountCreated
      case .social: try readSocial(response, in: context)
      case .refresh: try readFirstRefresh(response, in: context)
      default: try readLogin(response, to: credential, in: context)
      }
    }
  }

  /// Gets newer tokens at the endpoint of the refresh.
  ///
  /// - Requirement: REF-4
  public func refresh(
    _ token: RefreshToken, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    guard let request = refresh(token.secret, access: context.access) else {
      throw .unsupported("the backend has no request that refreshes tokens")
    }
    return try await exchange(.refresh, request, in: context) { (response) throws(AnswerFailure) in
      try readRefresh(response, in: context)
    }
  }

  /// Gets a token for another context.
  ///
  /// - Requirement: CTX-1
  public func switchContext(
    _ target: ContextTarget, using token: AccessToken, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    guard let request = switchContext(target, access: token.secret) else {
      throw .unsupported("the backend has no request that switches the context")
    }
    return try await exchange(
      .switchContext, request, in: context, bound: token.isBound ? token.secret : nil
    ) { (response) throws(AnswerFailure) in try readSwitch(response, in: context) }
  }

  /// Gets the profile at its endpoint; `nil` if there is none.
  ///
  /// - Requirement: LOG-6
  public func profile(
    using token: AccessToken, in context: RequestContext
  ) async throws(BackendError) -> ProfileResponse? {
    guard let request = profile(access: token.secret) else { return nil }
    return try await exchange(
      .profile, request, in: context, bound: token.isBound ? token.secret : nil
    ) { (response) throws(AnswerFailure) in try readProfileResponse(response) }
  }

  /// Sends each request of a revocation that the server has not confirmed, in order.
  ///
  /// - Requirement: OUT-1, OUT-5
  public func revoke(
    _ tokens: RevocableTokens, in context: RequestContext
  ) async throws(BackendError) {
    let planned = revocations(access: tokens.access, refresh: tokens.refresh?.secret)
    guard !planned.isEmpty else { throw .unsupported("no revocation request contains a token") }
    let progress = tokens.progress
    for (index, revocation) in planned.enumerated()
    where !progress.confirmed.contains(revocation.name) {
      if revocation.needsAccess, tokens.needsRefresh { throw BackendError(.accessTokenRefused) }
      let isBound = revocation.needsAccess && context.boundKey != nil
      let reply = try await exchange(
        .revocation, revocation.request, in: context, bound: isBound ? tokens.access : nil
      ) { (response) throws(AnswerFailure) in
        try readRevocation(response, needsAccess: revocation.needsAccess)
      }
      switch reply {
      case .done: progress.confirm(revocation.name)
      case .refused(let status): progress.confirm(revocation.name, refusedStatus: status)
      case .unauthorized(let status), .failed(let status):
        throw BackendError(.accessTokenRefused, status: Int(status))
      }
      let isLast = !planned[(index + 1)...].contains { !progress.confirmed.contains($0.name) }
      if !isLast { await tokens.save(progress.confirmed) }
    }
    if let status = progress.refusedStatus {
      throw BackendError(.alreadyInvalid, status: Int(status))
    }
  }

  /// One request of a revocation.
  private struct PlannedRevocation {
    let name: String
    let needsAccess: Bool
    let request: HTTPRequest
  }

  /// Returns the requests for these tokens, in order.
  ///
  /// Requests that would name no token are left out.
  private func revocations(access: Secret, refresh: Secret?) -> [PlannedRevocation] {
    allRevocations.compactMap { endpoint in
      revoke(at: endpoint, access: access, refresh: refresh).map {
        PlannedRevocation(
          name: endpoint.name, needsAccess: endpoint.isAuthenticated(beside: refresh), request: $0)
      }
    }
  }

  /// Prepares and sends a request once, and reads the response.
  ///
  /// With a ``proof`` it is sent again if the server refuses only that. `access` is the token that
  /// the request carries, if the server bound it to the key.
  package func exchange<Response>(
    _ step: Step, _ request: HTTPRequest, in context: RequestContext, bound access: Secret? = nil,
    _ read: (HTTPResponse) throws(AnswerFailure) -> Response
  ) async throws(BackendError) -> Response {
    var request = request
    request.timeout = context.timeout
    if prepare != nil { request = try await prepared(request, step, in: context) }
    let response: HTTPResponse
    if let proof, step.asksForToken || access != nil {
      response = try await send(request, step, provedBy: proof, bound: access, in: context)
    } else {
      response = try await sendOnce(request)
    }
    do throws(AnswerFailure) { return try read(response) } catch {
      throw BackendError(error.failure, message: error.problem)
    }
  }

  func sendOnce(_ request: HTTPRequest) async throws(BackendError) -> HTTPResponse {
    do throws(TransportError) { return try await transport.send(request) } catch {
      throw BackendError(error)
    }
  }

  /// Returns the request with the changes of ``prepare``.
  private func prepared(
    _ request: HTTPRequest, _ step: Step, in context: RequestContext
  ) async throws(BackendError) -> HTTPRequest {
    var request = request
    guard let prepare else { return request }
    let (before, start) = (request.headers, ContinuousClock.now)
    do { try await prepare(&request, step) } catch let error as BackendError { throw error } catch {
      throw .noResponse("the request could not be prepared", mayHaveActed: false)
    }
    if step == .refresh {
      // A refresh contains no other credential than those that the backend's values name (REF-4).
      request.headers.removeAll { $0.isNamed("Authorization") }
      request.headers += before.filter { $0.isNamed("Authorization") }
    }
    let spent = ContinuousClock.now - start
    guard spent < request.timeout else {
      throw .noResponse("preparing the request used up its time limit", mayHaveActed: false)
    }
    // Another process may have ended the session meanwhile.
    guard await context.mayBeSent() else {
      throw .noResponse(
        "the session has changed, and the request was not sent", mayHaveActed: false)
    }
    request.timeout -= spent
    return request
  }
}

extension Credential {
  /// A text that the backend has no request for the credential.
  fileprivate var notOffered: String {
    switch self {
    case .password: "the backend has no login with a password"
    case .registration: "the backend has no request that creates an account"
    case .provider: "the backend has no login with another service's token"
    case .refreshToken: "the backend has no request that refreshes tokens"
    case .custom: "the backend has no request for a custom credential"
    }
  }
}

extension BackendError {
  /// Creates the error for a request to which a transport returned no response.
  init(_ error: TransportError) {
    switch error {
    case .badAddress(let problem): self.init(.invalidAddress, message: problem)
    case .insecure(let host):
      self.init(
        .invalidAddress,
        message: "the address of \(host) is not HTTPS, which is required except for loopback")
    case .noConnection(let reason): self = .noResponse(reason, mayHaveActed: false)
    case .notTrusted(let reason): self.init(.notTrusted, message: reason)
    case .noReply(let reason): self = .noResponse(reason, mayHaveActed: true)
    case .cancelled: self = .noResponse("the request was cancelled", mayHaveActed: true)
    }
  }
}

extension HTTPEndpoint {
  /// The name of the request in stored data.
  fileprivate var name: String { "\(method) \(path) \(accessToken.name) \(refreshToken.name)" }

  /// Returns whether the access token authenticates the request, so that the server needs a valid
  /// one.
  ///
  /// A token in a member is the subject of the request, such as RFC 7009's `token`.
  fileprivate func isAuthenticated(beside refreshToken: Secret?) -> Bool {
    guard refreshToken == nil || self.refreshToken != accessToken else { return false }
    return switch accessToken {
    case .bearer, .header: true
    case .member, .nowhere: false
    }
  }
}

extension TokenLocation {
  /// The place as it is spelled in Swift, in the names of requests in stored data.
  fileprivate var name: String {
    switch self {
    case .nowhere: "nowhere"
    case .bearer: "bearer"
    case .member(let name): "member(\(name.quoted))"
    case .header(let name, nil): "header(\(name.quoted))"
    case .header(let name, let scheme?): "header(\(name.quoted), scheme: \(scheme.quoted))"
    }
  }

  /// The same place of a call; `nil` if the token is not sent.
  fileprivate var ofCalls: CallTokenPlace? {
    switch self {
    case .nowhere: nil
    case .bearer: .bearer
    case .header(let name, let scheme): .header(name, scheme: scheme)
    case .member(let name): .member(name)
    }
  }
}

extension HTTPBackend {
  /// What the configuration says of the refresh, of users and contexts in tokens, and of calls.
  public var traits: BackendTraits {
    var traits = BackendTraits()
    traits.refreshesTokens = refresh != nil
    traits.refreshTokenPath = "\(response.refreshToken.first ?? .whole)"
    traits.needsRefreshToken = missingRefreshToken == .fails
    traits.keepsTimeLimit = prepare == nil && proof == nil
    traits.proof = proof
    traits.keepsIdentityToken = keepsIdentityToken
    traits.assumedLifetime = assumedLifetime
    traits.userClaims = response.user.compactMap { source in
      guard case .claim(let path, let token) = source else { return nil }
      return UserClaim(path.steps, of: token.kind)
    }
    traits.user = user
    traits.context = { TokenClaims(payload: $0, keys: contextKeys).context }
    traits.calls = { callDefaults }
    return traits
  }

  private var callDefaults: CallDefaults {
    CallDefaults(
      baseURL: baseURL,
      endpoints: Step.allCases.compactMap { step in
        endpoint(of: step).map {
          CallDefaults.Endpoint(
            method: $0.method, url: $0.url(below: baseURL), isLeftAlone: step.isLeftAlone)
        }
      },
      // At a revocation, a token in a member is the subject of the request, and proves nothing.
      tokenPlaces: [profile, switchContext].compactMap { $0?.accessToken.ofCalls }
        + allRevocations.map(\.accessToken).filter { !$0.isMember }.compactMap(\.ofCalls),
      tellingStatuses: failures.filter {
        ($0.meaning == .rejected || $0.meaning.isOfAccount) && $0.steps?.contains(.call) != false
      }
      .map(\.statuses),
      failure: { failure(.call, HTTPResponse($0)) })
  }

  private func user(access: JSONMembers?, identity: JSONMembers?) -> FoundUser? {
    let sources = UserSources(
      members: JSONMembers.none, access: access, identity: identity, userName: nil, expected: nil,
      isBesideToken: false)
    do throws(Unreadable) { return try user(.login, sources) } catch {
      // A source that cannot be read names no user.
      return nil
    }
  }
}

extension HTTPBackend.Step {
  /// Whether an app's own call to this endpoint is sent unchanged.
  ///
  /// - Requirement: INT-3
  fileprivate var isLeftAlone: Bool {
    switch self {
    case .login, .register, .social, .refresh, .revocation: true
    case .switchContext, .profile, .call: false
    }
  }
}

extension HTTPResponse {
  /// Creates the response to a call.
  init(_ response: CallResponse) {
    self.init(
      status: response.status, headers: response.fields.map { HTTPHeader($0.name, $0.value) },
      body: response.body)
  }
}

extension String {
  /// The text as `debugDescription` spells it.
  ///
  /// That looks at the text character by character, although nearly every name has none to escape.
  var quoted: String {
    let isPlain = utf8.allSatisfy { byte in
      (0x20...0x7E).contains(byte) && !"\"'\\".utf8.contains(byte)
    }
    return isPlain ? "\"\(self)\"" : debugDescription
  }
}
