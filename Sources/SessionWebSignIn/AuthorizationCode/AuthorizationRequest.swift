package import Foundation
@_spi(Internals) package import SessionCore
package import SessionHTTP
package import SessionKit

/// One authorization request: it creates the secrets of one login and reads the redirect.
///
/// It is a value. Its inputs are random bytes, and its outputs are requests and responses:
///
///     random bytes → address → (the page) → redirect → reply → token request → (the server) → tokens
package struct AuthorizationRequest: Hashable, Sendable {
  /// The content of a redirect.
  package enum Reply: Hashable, Sendable {
    /// The server issued a code.
    case code(Secret)
    /// The server refused the login.
    case refused(WebSignInProblem)
    /// The redirect does not belong to this request: its address or state is another.
    case foreign
  }

  /// The number of random bytes that a request needs.
  package static let randomBytes = 64

  private let code: AuthorizationCode
  private let verifier: String
  private let state: String
  private let nonce: String?

  /// Creates a request.
  ///
  /// `random` has ``randomBytes`` bytes that cannot be predicted.
  package init(_ code: AuthorizationCode, random: [UInt8]) {
    var code = code
    if let asked = code.further["scope"]?.split(separator: " ") {
      // A step-up names only its own scope, and the session keeps the usual one (RFC 9470 §4).
      let usual = code.scope?.split(separator: " ") ?? []
      code.scope = (usual + asked.filter { !usual.contains($0) }).joined(separator: " ")
    }
    self.code = code
    verifier = Base64.encode(url: Array(random.prefix(32)))
    state = Base64.encode(url: Array(random.dropFirst(32).prefix(16)))
    let bytes = Array(random.dropFirst(48).prefix(16))
    nonce = TokenEndpoint.isOpenID(code.scope) ? Base64.encode(url: bytes) : nil
  }

  /// Returns the challenge of a verifier (RFC 7636 §4.2, S256).
  package static func challenge(of verifier: String) -> String {
    Base64.encode(url: SHA256.digest(Array(verifier.utf8)))
  }

  /// Returns the address of the page; `nil` if it is malformed.
  ///
  /// With `asks`, the server asks the user even if its cookies name one (OpenID Connect's
  /// `prompt=login`).
  package func address(asks: Bool) -> URL? {
    let own = [
      "response_type": "code", "client_id": code.client.id, "redirect_uri": code.redirect,
      "state": state, "scope": code.scope, "nonce": nonce, "prompt": asks ? "login" : nil,
      "code_challenge": Self.challenge(of: verifier), "code_challenge_method": "S256",
    ]
    let fields = code.further.merging(own.compactMapValues(\.self)) { $1 }
    return Redirects.address(code.authorization, fields)
  }

  /// Reads a redirect, from its query or its fragment.
  package func reply(in redirect: URL) -> Reply {
    guard Redirects.isSame(redirect, code.redirect) else { return .foreign }
    let fields = Redirects.fields(of: redirect)
    // A parameter that occurs twice would be ambiguous (RFC 6749 §3.1).
    guard fields["state"] == [state] else { return .foreign }
    if let issuer = code.issuer {
      let named = fields["iss"] ?? []
      // Byte by byte (RFC 9207 §2.4): `==` of two texts ignores how a letter is composed.
      guard named.count == 1, named[0].utf8.elementsEqual(issuer.utf8) else {
        let found = named.count == 1 ? Self.issuer(named[0]) : nil
        return .refused(.otherIssuer(expected: issuer, found: found))
      }
    }
    if fields["error"] != nil {
      return .refused(RedirectReader.problem(in: redirect.absoluteString) ?? .refused(nil))
    }
    guard let values = fields["code"], values.count == 1, !values[0].isEmpty else {
      return .refused(.refused(nil))
    }
    return .code(Secret(values[0]))
  }

  /// Returns the request that redeems a code.
  package func redemption(of secret: Secret) -> HTTPRequest {
    endpoint.backend.tokenRequest([
      "grant_type": "authorization_code", "code": .text(secret.plaintext),
      "redirect_uri": .text(code.redirect), "code_verifier": .text(verifier),
    ])
  }

  /// Returns the tokens in the response to that request, by the rules of a login.
  package func tokens(in response: HTTPResponse) throws(AnswerFailure) -> IdentityTokens {
    try endpoint.tokens(in: response)
  }

  /// The endpoint that redeems the code.
  var endpoint: TokenEndpoint {
    TokenEndpoint(
      code.token, code.client, types: code.tokenTypes, scope: code.scope,
      identityToken: code.identityToken, nonce: nonce)
  }

  /// Returns an issuer identifier that may be shown: an HTTPS address, or one of this machine,
  /// without user, query and fragment (RFC 9207 §2).
  ///
  /// Any other text in its place may be a secret.
  private static func issuer(_ text: String) -> String? {
    guard text.utf8.count <= 255, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let url = URL(string: text), url.isSecure, url.host?.isEmpty == false, url.user == nil,
      url.password == nil, url.query == nil, url.fragment == nil
    else { return nil }
    return text
  }
}

// The request contains the secrets that protect the code.
extension AuthorizationRequest: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  package var description: String { "an authorization request" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
