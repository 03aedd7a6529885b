import SessionCore
import SessionJSON

extension LoopbackBackend {
  mutating func login(_ call: BackendCall) -> BackendAnswer {
    guard let email = call.body.email, let password = call.body.password else {
      return .broken(.body, "A login needs email and password.")
    }
    guard let user = users.first(where: { $0.email == email }) else {
      return .failure(404, "USER_NOT_FOUND", "There is no such user.")
    }
    guard user.password == password else {
      return .failure(401, "INVALID_CREDENTIALS", "E-mail address or password is wrong.")
    }
    switch user.status {
    case .active: break
    case .inactive: return .failure(403, "USER_INACTIVE", "The user is inactive.")
    case .locked: return .failure(423, "USER_LOCKED", "The user is locked.")
    }
    let session = sessions.count
    sessions.append(LoopbackSession(userID: user.id, refreshToken: ""))
    var members = issueAccessToken(session, call)
    members["refresh_token"] = .string(issueRefreshToken(session, call))
    members["user"] = user.wire
    members["active_context"] = activeContext(session)?.wire ?? .null
    return .success(.object(members))
  }

  mutating func refresh(_ call: BackendCall) -> BackendAnswer {
    guard let token = call.body.refreshToken else {
      return .broken(.body, "A refresh needs refresh_token.")
    }
    guard let issued = refreshTokens[token] else {
      return .failure(401, "TOKEN_INVALID", "The refresh token is unknown.")
    }
    guard !issued.isRevoked, !sessions[issued.session].hasEnded else {
      return .failure(401, "TOKEN_REVOKED", "The refresh token was revoked.")
    }
    guard !issued.hasExpired(at: call.now) else {
      return .failure(401, "TOKEN_EXPIRED", "The refresh token has expired.")
    }
    if let replaced = issued.replaced,
      call.now >= replaced.addingSaturating(call.settings.rotationGrace.milliseconds)
    {
      if call.settings.reuseEndsSession { end(issued.session) }
      return .failure(401, "TOKEN_REUSED", "The refresh token was replaced.")
    }
    var members = issueAccessToken(issued.session, call)
    if issued.replaced != nil {
      members["refresh_token"] = .string(sessions[issued.session].refreshToken)
    } else if call.settings.rotatesRefreshTokens {
      members["refresh_token"] = .string(replaceRefreshToken(issued.session, call))
    }
    return .success(.object(members))
  }

  mutating func switchContext(_ call: BackendCall) -> BackendAnswer {
    let session: Int
    switch authorize(call.request, now: call.now) {
    case .success(let found): session = found
    case .failure(let refusal): return refusal.answer
    }
    guard let role = call.body.roleID, let school = call.body.schoolID else {
      return .broken(.body, "A switch needs role_id and school_id.")
    }
    let contexts = user(of: session)?.contexts ?? []
    let wanted = contexts.firstIndex { context in
      context.roleID == role && context.schoolID == school
        && (call.body.unitID == nil || call.body.unitID == context.unit?.id)
    }
    guard let wanted else {
      return .failure(403, "CONTEXT_FORBIDDEN", "The user has no such context.")
    }
    sessions[session].context = wanted
    var members = issueAccessToken(session, call)
    members["refresh_token"] = .string(replaceRefreshToken(session, call))
    members["context"] = contexts[wanted].wire
    return .success(.object(members))
  }

  mutating func logout(_ call: BackendCall) -> BackendAnswer {
    let session: Int
    switch authorize(call.request, now: call.now) {
    case .success(let found): session = found
    case .failure(let refusal): return refusal.answer
    }
    guard let token = call.body.refreshToken else {
      return .broken(.body, "A logout needs refresh_token.")
    }
    // An unknown token does not keep a session open (RFC 7009 §2.2); a token of another session
    // does.
    if let issued = refreshTokens[token], issued.session != session {
      return .failure(403, "TOKEN_FOREIGN", "The refresh token belongs to another session.")
    }
    end(session)
    return BackendAnswer(status: 204)
  }

  mutating func materials(_ request: ReceivedRequest, now: Int64) -> BackendAnswer {
    switch authorize(request, now: now) {
    case .failure(let refusal): return refusal.answer
    case .success(let session):
      let school = activeContext(session)?.schoolName ?? "no school"
      return .success([
        "materials": [
          ["id": "m-1", "title": .string("Fractions, \(school)")],
          ["id": "m-2", "title": .string("Volcanoes, \(school)")],
        ]
      ])
    }
  }
}

extension LoopbackBackend {
  struct Refusal: Error {
    let answer: BackendAnswer

    init(_ code: String, _ message: String) {
      answer = .failure(401, code, message)
    }
  }

  /// Returns the session of the request's bearer token, or the reason for a rejection.
  func authorize(_ request: ReceivedRequest, now: Int64) -> Result<Int, Refusal> {
    guard let bearer = request.bearer else {
      return .failure(Refusal("TOKEN_MISSING", "There is no bearer token."))
    }
    guard let issued = accessTokens[bearer] else {
      return .failure(Refusal("TOKEN_INVALID", "The access token is unknown."))
    }
    guard !issued.isRevoked, !sessions[issued.session].hasEnded else {
      return .failure(Refusal("TOKEN_REVOKED", "The access token was revoked."))
    }
    guard !issued.hasExpired(at: now) else {
      return .failure(Refusal("TOKEN_EXPIRED", "The access token has expired."))
    }
    return .success(issued.session)
  }

  private mutating func end(_ session: Int) {
    sessions[session].hasEnded = true
  }

  private func user(of session: Int) -> LoopbackUser? {
    users.first { $0.id == sessions[session].userID }
  }

  private func activeContext(_ session: Int) -> LoopbackContext? {
    guard let contexts = user(of: session)?.contexts else { return nil }
    // The user may have fewer contexts by now.
    let index = sessions[session].context
    return contexts.indices.contains(index) ? contexts[index] : contexts.first
  }

  /// Issues an access token; returns the members that every token response has.
  private mutating func issueAccessToken(
    _ session: Int, _ call: BackendCall
  ) -> [String: WireValue] {
    let lifetime = max(1, call.settings.accessTokenLifetime.milliseconds)
    let expires = call.now.addingSaturating(lifetime)
    let owner = user(of: session)
    let claims = LoopbackClaims(
      user: sessions[session].userID, email: owner?.email ?? "", tokenID: random.uuid(),
      issuer: issuer, issued: call.now / 1000, expires: expires / 1000,
      context: activeContext(session))
    let token = LoopbackToken.make(payload: claims.bytes)
    accessTokens[token] = IssuedToken(
      number: accessTokens.count + 1, session: session, expires: expires)
    return [
      "access_token": .string(token), "token_type": "Bearer",
      "expires_in": .int(Int(max(1, lifetime.addingSaturating(500) / 1000))),
    ]
  }

  private mutating func issueRefreshToken(_ session: Int, _ call: BackendCall) -> String {
    let token = "rt_" + LoopbackToken.base64URL(random.take(32))
    let expires = call.settings.refreshTokenLifetime.map {
      call.now.addingSaturating($0.milliseconds)
    }
    refreshTokens[token] = IssuedToken(
      number: refreshTokens.count + 1, session: session, expires: expires)
    sessions[session].refreshToken = token
    return token
  }

  /// Issues the next refresh token of a session.
  ///
  /// If tokens rotate, the old one is replaced.
  private mutating func replaceRefreshToken(_ session: Int, _ call: BackendCall) -> String {
    let old = sessions[session].refreshToken
    if call.settings.rotatesRefreshTokens {
      refreshTokens[old]?.replaced = call.now
    }
    return issueRefreshToken(session, call)
  }
}

/// The claims of an issued access token.
private struct LoopbackClaims {
  let user: String
  let email: String
  let tokenID: String
  let issuer: String
  /// When the token was issued and when it expires, in seconds since 1970.
  let issued: Int64
  let expires: Int64
  let context: LoopbackContext?

  /// The claims as JSON, sorted by name.
  var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.object { claims in
      claims.member("active_context") { writer in
        if let context { context.write(to: &writer) } else { writer.value(JSONValue.null) }
      }
      claims.field("email", email)
      claims.field("exp", expires)
      claims.field("iat", issued)
      claims.field("iss", issuer)
      claims.field("jti", tokenID)
      claims.field("nbf", issued)
      claims.field("sub", user)
    }
    return Array(writer.bytes)
  }
}

/// A maker of access tokens that look like JWTs and cannot be verified.
///
/// A token has three base64url parts without padding (RFC 7515 §3.1) and the header `HS256`. The
/// signature is a deterministic digest without a key, so a client that verifies it rejects the
/// token. The tokens are for clients that read claims only as hints, as this library does.
///
/// - Requirement: STA-5
public enum LoopbackToken {
  /// Returns a well-formed token with the given claims.
  public static func make(claims: [String: WireValue]) -> String {
    make(payload: WireValue.object(claims).bytes)
  }

  /// Returns a token whose claims are these bytes of JSON.
  package static func make(payload: [UInt8]) -> String {
    let signatureLength = encodedLength(of: 32)
    let signedLength = header.utf8.count + 1 + encodedLength(of: payload.count)
    return String(unsafeUninitializedCapacity: signedLength + 1 + signatureLength) { text in
      var end = header.utf8.count
      _ = text.update(fromContentsOf: header.utf8)
      text[end] = UInt8(ascii: ".")
      end += 1
      end += encode(payload, into: UnsafeMutableBufferPointer(rebasing: text[end...]))
      let signature = digest(of: UnsafeBufferPointer(rebasing: text[..<end]))
      text[end] = UInt8(ascii: ".")
      end += 1
      return end + encode(signature, into: UnsafeMutableBufferPointer(rebasing: text[end...]))
    }
  }

  private static let header = base64URL(
    WireValue.object(["alg": "HS256", "typ": "JWT"]).bytes)

  /// Encodes bytes in the alphabet of RFC 4648 §5, without padding.
  package static func base64URL(_ bytes: [UInt8]) -> String {
    String(unsafeUninitializedCapacity: encodedLength(of: bytes.count)) { encode(bytes, into: $0) }
  }

  private static func encodedLength(of count: Int) -> Int { (count * 4 + 2) / 3 }

  /// Writes bytes in that alphabet, and returns the length of the text.
  private static func encode(
    _ bytes: [UInt8], into text: UnsafeMutableBufferPointer<UInt8>
  ) -> Int {
    let digits = alphabet.utf8Start
    func digit(_ group: UInt32, _ shift: UInt32) -> UInt8 { digits[Int(group >> shift & 63)] }
    return bytes.withUnsafeBufferPointer { bytes in
      var (place, written) = (0, 0)
      while place + 3 <= bytes.count {
        let group =
          UInt32(bytes[place]) << 16 | UInt32(bytes[place + 1]) << 8 | UInt32(bytes[place + 2])
        text[written] = digit(group, 18)
        text[written + 1] = digit(group, 12)
        text[written + 2] = digit(group, 6)
        text[written + 3] = digit(group, 0)
        (place, written) = (place + 3, written + 4)
      }
      let left = bytes.count - place
      guard left > 0 else { return written }
      let group =
        UInt32(bytes[place]) << 16 | (left == 2 ? UInt32(bytes[place + 1]) << 8 : 0)
      for number in 0...left {
        text[written + number] = digit(group, UInt32(18 - 6 * number))
      }
      return written + left + 1
    }
  }

  private static var alphabet: StaticString {
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
  }

  private static func digest(of text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    // FNV-1a, stretched to the 32 bytes that an HS256 signature has.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    var stream = ByteStream(seed: hash)
    return stream.take(32)
  }
}
