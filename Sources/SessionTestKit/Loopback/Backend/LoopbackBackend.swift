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
  /// The secrets of its users, and those that it received.
  private var vault = SecretVault()

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
    // A table that grows hashes each long token again.
    accessTokens.reserveCapacity(12)
    refreshTokens.reserveCapacity(12)
  }

  /// All tokens, passwords and e-mail addresses that it knows; no file may contain one.
  var secrets: Set<String> {
    var vault = vault
    vault.learn(Array(accessTokens.keys) + Array(refreshTokens.keys))
    return vault.secrets
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
    answer(request, RequestBody(request.body), now: now, settings: settings)
  }

  /// Answers one request whose body was parsed before; it is `nil` if it could not be parsed.
  mutating func answer(
    _ request: ReceivedRequest, _ body: @autoclosure () -> RequestBody?, now: Int64,
    settings: LoopbackSettings
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
    guard let body = body() else {
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

/// A request with its parsed body, the time and the settings.
struct BackendCall {
  let request: ReceivedRequest
  let body: RequestBody
  let now: Int64
  let settings: LoopbackSettings
}

/// An answer of the backend, before faults are applied and before it becomes HTTP.
package struct BackendAnswer: Sendable, Equatable {
  package var status: Int
  package var body: WireValue?
  package var fields: [HTTPField]
  /// The `code` of an error body.
  package var code: String?
  /// The rule of the protocol that the client broke, if any.
  package var violation: LoopbackCall.Violation?

  package init(
    status: Int, body: WireValue? = nil, fields: [HTTPField] = [], code: String? = nil,
    violation: LoopbackCall.Violation? = nil
  ) {
    (self.status, self.body, self.fields) = (status, body, fields)
    (self.code, self.violation) = (code, violation)
  }

  package static func success(_ body: WireValue) -> BackendAnswer {
    BackendAnswer(status: 200, body: body)
  }

  static func failure(_ status: Int, _ code: String, _ message: String) -> BackendAnswer {
    BackendAnswer(
      status: status,
      body: ["error": ["code": .string(code), "message": .string(message)]], code: code)
  }

  package var response: SentResponse {
    guard let body else { return SentResponse(status: status, fields: fields) }
    let type = HTTPField("Content-Type", "application/json; charset=utf-8")
    return SentResponse(status: status, fields: fields + [type], body: body.bytes)
  }
}

/// A stream of bytes that depends only on its seed (SplitMix64), so that a test's tokens repeat.
package struct ByteStream: Sendable {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  package mutating func take(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 7)
    while bytes.count < count {
      state &+= 0x9e37_79b9_7f4a_7c15
      var word = state
      word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
      word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
      word ^= word >> 31
      for _ in 0..<8 {
        bytes.append(UInt8(truncatingIfNeeded: word))
        word >>= 8
      }
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Returns a UUID of version 4 in its canonical spelling (RFC 9562 §5.4).
  package mutating func uuid() -> String {
    var bytes = take(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    var text: [UInt8] = []
    text.reserveCapacity(36)
    func digit(_ digit: UInt8) -> UInt8 {
      digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }
    for (place, byte) in bytes.enumerated() {
      if (4...10).contains(place), place % 2 == 0 { text.append(UInt8(ascii: "-")) }
      text.append(digit(byte >> 4))
      text.append(digit(byte & 0xF))
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// The values that must not be found in any file: tokens, passwords, e-mail addresses.
package struct SecretVault: Sendable {
  private var learned: Set<String> = []

  package init() {}

  package mutating func learn(_ found: [String]) {
    for secret in found where !secret.isEmpty { learned.insert(secret) }
  }

  package var secrets: Set<String> {
    var secrets = learned
    for secret in learned {
      let parts = secret.utf8.split(
        separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      // The claims contain the e-mail address, so each part of a token is secret on its own. The
      // header is not secret, since all tokens have the same one.
      if parts.count == 3, !secret.utf8.contains(UInt8(ascii: "@")),
        parts.allSatisfy({ $0.count >= 16 })
      {
        secrets.formUnion(parts.dropFirst().map { String(Substring($0)) })
      }
    }
    return secrets
  }
}

/// An issued access or refresh token, with the number that identifies it in the list of calls.
struct IssuedToken: Sendable {
  let number: Int
  let session: Int
  /// The time of expiry in milliseconds since 1970; `nil` if it never expires.
  let expires: Int64?
  var isRevoked = false
  /// The time at which a rotation replaced it, in milliseconds since 1970; `nil` if it is current.
  var replaced: Int64?

  func hasExpired(at now: Int64) -> Bool {
    guard let expires else { return false }
    return now >= expires
  }
}

/// The backend's record of one session.
struct LoopbackSession: Sendable {
  let userID: String
  /// The index of the active context in the user's contexts.
  var context = 0
  /// The current refresh token; a refresh with a replaced token within the grace returns it again.
  var refreshToken: String
  var hasEnded = false
}
