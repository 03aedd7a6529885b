/// The auth service of a loopback server: a value, without sockets, clock or randomness.
///
/// It receives a request and the time, and returns an answer. Its state is the users and the tokens
/// that were issued, replaced or revoked. Equal seeds and equal requests result in equal tokens.
public struct LoopbackBackend: Sendable {
  /// The users that may log in; ``LoopbackServer/updateUser(_:_:)`` changes one while the server
  /// runs.
  public internal(set) var users: [LoopbackUser]

  let issuer: String
  var random: ByteStream
  var sessions: [LoopbackSession] = []
  var accessTokens: [String: IssuedToken] = [:]
  var refreshTokens: [String: IssuedToken] = [:]
  /// The changes that it received, without repetitions, in order of arrival.
  var changes: [LoopbackChange] = []
  private(set) var vault = SecretVault()

  /// Creates a service with the EDU protocol: snake_case JSON, the refresh token in the body.
  ///
  /// - Parameters:
  ///   - users: The users that may log in.
  ///   - issuer: The `iss` claim of its access tokens.
  ///   - seed: Decides the tokens. Give two servers different seeds, or they issue the same tokens.
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

  /// Answers one request, and changes the state accordingly.
  ///
  /// - Parameters:
  ///   - request: A complete request.
  ///   - now: The server's time in milliseconds since 1970, clock skew included.
  ///   - settings: The current settings.
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
    // REF-4 forbids a bearer token on a refresh request.
    if endpoint == .refresh, request.hasAuthorization {
      return .broken(.authorizationOnRefresh, "A refresh must not contain an Authorization field.")
    }
    guard let body = RequestBody(request.body) else {
      return .broken(.body, "The body is not a JSON object of strings.")
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

  /// Returns the numbers of the tokens in a request; 0 for a token that was never issued.
  mutating func presented(in request: ReceivedRequest) -> (access: Int?, refresh: Int?) {
    let body = RequestBody(request.body)
    vault.learn((body?.secrets ?? []) + [request.bearer].compactMap(\.self))
    return (
      request.bearer.map { accessTokens[$0]?.number ?? 0 },
      body?.refreshToken.map { refreshTokens[$0]?.number ?? 0 }
    )
  }

  /// Revokes the access tokens, the refresh tokens, or both, that were issued so far.
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

// The state contains tokens, so neither a print nor a dump may show it.
extension LoopbackBackend: CustomStringConvertible, CustomReflectable {
  /// The numbers of users, sessions and tokens.
  public var description: String {
    "backend of \(users.count) users, \(sessions.count) sessions, "
      + "\(accessTokens.count) access and \(refreshTokens.count) refresh tokens"
  }

  /// A mirror that shows only the description.
  public var customMirror: Mirror { Mirror(self, children: ["backend": description]) }
}

extension BackendAnswer {
  static func broken(_ rule: LoopbackCall.Violation, _ message: String) -> BackendAnswer {
    var answer = failure(400, "INVALID_REQUEST", message)
    answer.violation = rule
    return answer
  }
}
