/// The auth service behind a loopback server: a value, without sockets, clock or randomness.
///
/// A request and the time go in, an answer comes out, and the value is the state: who may sign in,
/// which tokens were issued, replaced, revoked. Equal seeds and equal requests give equal tokens.
public struct LoopbackBackend: Sendable {
  /// Who may sign in; changed live with ``LoopbackServer/updateUser(_:_:)``.
  public internal(set) var users: [LoopbackUser]

  let issuer: String
  var random: ByteStream
  var sessions: [LoopbackSession] = []
  var accessTokens: [String: IssuedToken] = [:]
  var refreshTokens: [String: IssuedToken] = [:]
  /// What it was told to change, each once, in the order in which it came.
  var changes: [LoopbackChange] = []
  private(set) var vault = SecretVault()

  /// A service with the EDU wire shapes: snake_case JSON, the refresh token in the body.
  ///
  /// - Parameters:
  ///   - users: who may sign in.
  ///   - issuer: the `iss` claim of its access tokens.
  ///   - seed: decides the tokens; two servers that must not know each other's need two seeds.
  public static func edu(
    users: [LoopbackUser] = [.sample], issuer: String = "loopback", seed: UInt64 = 1
  ) -> LoopbackBackend {
    LoopbackBackend(users: users, issuer: issuer, random: ByteStream(seed: seed))
  }

  private init(users: [LoopbackUser], issuer: String, random: ByteStream) {
    self.users = users
    self.issuer = issuer
    self.random = random
    for user in users { learn(user) }
  }

  /// Answers one request and changes state accordingly.
  ///
  /// - Parameters:
  ///   - request: a whole request.
  ///   - now: the server's time in milliseconds since 1970, skew included.
  ///   - settings: the knobs as they stand.
  package mutating func answer(
    _ request: ReceivedRequest, now: Int64, settings: LoopbackSettings
  ) -> BackendAnswer {
    let endpoint = LoopbackEndpoint(path: request.path)
    guard let method = endpoint.method else {
      return .failure(404, "NOT_FOUND", "There is nothing at this path.")
    }
    guard request.method == method else {
      var answer = BackendAnswer.failure(405, "METHOD_NOT_ALLOWED", "Use \(method) here.")
      answer.fields = [HTTPField("Allow", method)]
      answer.violation = .method
      return answer
    }
    if endpoint == .materials { return materials(request, now: now) }
    if endpoint == .changes { return change(request, now: now) }
    // A bearer token on the refresh request is what REF-4 forbids.
    if endpoint == .refresh, request.hasAuthorization {
      return .broken(.authorizationOnRefresh, "A refresh carries no Authorization.")
    }
    guard let body = RequestBody(request.body) else {
      return .broken(.body, "The body is no JSON object of texts.")
    }
    let call = BackendCall(request: request, body: body, now: now, settings: settings)
    switch endpoint {
    case .login: return login(call)
    case .refresh: return refresh(call)
    case .switchContext: return switchContext(call)
    case .logout: return logout(call)
    case .materials, .changes, .other, .unreadable:
      return .failure(404, "NOT_FOUND", "There is nothing at this path.")
    }
  }

  /// The numbers of the tokens that a request presents; zero for one that was never issued.
  mutating func presented(in request: ReceivedRequest) -> (access: Int?, refresh: Int?) {
    let body = RequestBody(request.body)
    vault.learn((body?.secrets ?? []) + [request.bearer].compactMap(\.self))
    return (
      request.bearer.map { accessTokens[$0]?.number ?? 0 },
      body?.refreshToken.map { refreshTokens[$0]?.number ?? 0 }
    )
  }

  /// Makes every token issued so far worthless.
  mutating func revoke(access: Bool, refresh: Bool) {
    if access {
      for token in accessTokens.keys { accessTokens[token]?.isRevoked = true }
    }
    if refresh {
      for token in refreshTokens.keys { refreshTokens[token]?.isRevoked = true }
    }
  }

  mutating func learn(_ user: LoopbackUser) {
    vault.learn([user.email, user.password])
  }

  mutating func learn(_ secrets: [String]) {
    vault.learn(secrets)
  }
}

// The state is full of tokens, so neither a print nor a dump may walk it.
extension LoopbackBackend: CustomStringConvertible, CustomReflectable {
  /// How many users, sessions and tokens there are.
  public var description: String {
    "backend of \(users.count) users, \(sessions.count) sessions, "
      + "\(accessTokens.count) access and \(refreshTokens.count) refresh tokens"
  }

  /// What a dump shows: the description.
  public var customMirror: Mirror { Mirror(self, children: ["backend": description]) }
}

extension BackendAnswer {
  static func broken(_ rule: LoopbackCall.Violation, _ message: String) -> BackendAnswer {
    var answer = failure(400, "INVALID_REQUEST", message)
    answer.violation = rule
    return answer
  }
}
