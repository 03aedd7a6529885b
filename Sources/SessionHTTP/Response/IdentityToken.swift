@_spi(Internals) public import SessionCore
package import SessionJSON
public import SessionKit

/// The check of an identity token (OpenID Connect Core 1.0 §3.1.3.7 and §12.2).
///
/// **The signature is not checked.** A client that received the token from the token endpoint over TLS need
/// not check it (§3.1.3.7, rule 6), because TLS proves who sent it. Do not use this check for a token from
/// another place, such as a redirect or another app. Nor does it check `at_hash` and `auth_time`.
///
/// - Requirement: LOG-18
public enum IdentityToken {
  /// What the claims of a token must be.
  public struct Expectation: Hashable, Sendable {
    /// The issuer identifier, compared byte by byte.
    public var issuer: String
    /// The app's client identifier, which must be an audience.
    public var client: String
    /// Further audiences that the app trusts; another one is refused (rule 3).
    ///
    /// Set it for the backend and for the grant.
    public var trustedAudiences: Set<String> = []
    /// The nonce of the login; `nil` at a refresh, whose token need not have one.
    public var nonce: String?
    /// The former `sub`, at a refresh; `nil` at a login.
    public var subject: String?

    /// Creates an expectation for a client of an issuer.
    public init(issuer: String, client: String) {
      (self.issuer, self.client) = (issuer, client)
    }
  }

  /// By how much the clocks of the provider's servers may differ, in milliseconds: 2 minutes.
  package static let tolerance: Int64 = 120_000

  /// Checks a token; throws the first check that fails.
  ///
  /// `now` is the server's time, which is the `Date` of the response. Without it, `exp` is only compared with
  /// `iat`: the clock of a device may be wrong. Two minutes of difference are accepted.
  public static func check(
    _ token: Secret, against expected: Expectation, at now: Timestamp?
  ) throws(IdentityTokenError) {
    let claims: JSONMembers
    do throws(TokenClaims.Problem) { claims = try TokenClaims.payload(of: token) } catch {
      throw IdentityTokenError(
        .form, expected: "three parts, the second of which is an object", found: "\(error)")
    }
    try claims.require("iss", .issuer, expected.issuer) { $0.isText(expected.issuer) }
    let audiences = claims.audiences
    let trusted = expected.trustedAudiences.union([expected.client])
    guard audiences.contains(expected.client), trusted.isSuperset(of: audiences) else {
      let others = expected.trustedAudiences.sorted().joined(separator: " ")
      let more = others.isEmpty ? "" : ", and else only \(others)"
      throw claims.refusal("aud", .audience, expected.client + more)
    }
    if claims.claim("azp") != nil || audiences.count > 1 {
      try claims.require("azp", .authorizedParty, expected.client) { $0.isText(expected.client) }
    }
    try checkTimes(claims, at: now)
    if let nonce = expected.nonce { try checkNonce(claims, nonce) }
    let subject = claims.identifierHint("sub")
    guard let subject, expected.subject.map(JSONValue.string(subject.description).isText) != false
    else {
      throw claims.refusal(
        "sub", .subject, expected.subject.map { ShownText.of($0) ?? "the former one" } ?? "a text")
    }
  }

  /// Checks that a token belongs to the login with this nonce.
  package static func checkNonce(
    _ claims: JSONMembers?, _ nonce: String
  ) throws(IdentityTokenError) {
    let found = claims?.claim("nonce")
    guard found?.isText(nonce) != true else { return }
    var shown = found?.kind
    if case .string(let text)? = found { shown = ShownText.of(text).map(start) ?? "another text" }
    throw IdentityTokenError(.nonce, expected: start(of: nonce), found: shown)
  }

  private static func start(of nonce: String) -> String { nonce.prefix(4) + "…" }

  private static func checkTimes(
    _ claims: JSONMembers, at now: Timestamp?
  ) throws(IdentityTokenError) {
    guard let issued = claims.time("iat"),
      now.map({ issued <= $0.advanced(by: tolerance) }) != false
    else {
      throw claims.refusal(
        "iat", .issuedAt, now.map { "a time until \($0.advanced(by: tolerance))" } ?? "a time")
    }
    let start = max(now?.advanced(by: -tolerance) ?? issued, issued)
    guard let end = claims.time("exp"), end > start else {
      throw claims.refusal("exp", .expiry, "a time after \(start)")
    }
  }
}

extension JSONMembers {
  fileprivate func claim(_ name: String) -> JSONValue? {
    // A path of one name cannot fail.
    do throws(Unreadable) { return try value(at: [name]) } catch { return nil }
  }

  /// The audiences; empty if the claim is neither a text nor an array of texts.
  fileprivate var audiences: [String] {
    switch claim("aud") {
    case .string(let text): return [text]
    case .array(let elements):
      let texts = elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
      return texts.count == elements.count ? texts : []
    default: return []
    }
  }

  fileprivate func require(
    _ name: String, _ check: IdentityTokenError.Check, _ expected: String,
    _ isRight: (JSONValue) -> Bool
  ) throws(IdentityTokenError) {
    guard claim(name).map(isRight) == true else { throw refusal(name, check, expected) }
  }

  /// Returns the error that a claim is not the expected one.
  fileprivate func refusal(
    _ name: String, _ check: IdentityTokenError.Check, _ expected: String
  ) -> IdentityTokenError {
    let isTime = check == .expiry || check == .issuedAt
    let found = isTime ? time(name)?.description : nil
    return IdentityTokenError(check, expected: expected, found: found ?? claim(name)?.shown)
  }
}

extension JSONValue {
  /// Whether it is this text, byte by byte: `==` of two texts ignores how a letter is composed.
  fileprivate func isText(_ text: String) -> Bool {
    if case .string(let own) = self { own.utf8.elementsEqual(text.utf8) } else { false }
  }

  /// The value as an error may show it.
  package var shown: String {
    switch self {
    case .string(let text): ShownText.of(text) ?? "a text that is not shown"
    case .array(let elements):
      elements.prefix(8).map { element in
        if case .string(let text) = element { ShownText.of(text) ?? "…" } else { element.kind }
      }.joined(separator: " ")
    default: kind
    }
  }
}
