public import Foundation
@_spi(Internals) import SessionCore
public import SessionHTTP
package import SessionJSON
import SessionKit

/// An authorization server: its endpoints, and what it supports.
///
/// ``discover(_:cache:transport:)`` reads it from the server's metadata. It can also be written by hand. A
/// property is `nil` or empty if the server does not state it.
///
/// ```swift
/// let provider = try await OpenIDProvider.discover("https://id.example.com", cache: directory)
/// let backend = try provider.backend(client: .form(id: "notes"))
/// let code = try provider.authorizationCode(client: .form(id: "notes"), redirect: "com.example.notes:/login")
/// ```
///
/// Sources: OpenID Connect Discovery 1.0 §3, RFC 8414 §2, RFC 8628 §4, RFC 9207 §3.
///
/// - Requirement: LOG-17
public struct OpenIDProvider: Hashable, Sendable {
  /// The issuer identifier, which is compared byte by byte.
  public var issuer: String
  /// The page on which a user logs in.
  public var authorization: URL
  /// The endpoint that issues and refreshes tokens.
  public var token: URL
  /// The endpoint that revokes a token (RFC 7009).
  public var revocation: URL?
  /// The endpoint of the user's claims.
  public var userInfo: URL?
  /// The endpoint that begins a device grant (RFC 8628).
  public var deviceAuthorization: URL?
  /// The page that ends the user's session at the provider (RP-Initiated Logout 1.0 §2).
  public var endSession: URL?
  /// The methods with which a client with a secret identifies itself at ``token``.
  ///
  /// The default is `client_secret_basic`, as for a server that states none.
  public var clientMethods: Set<String> = ["client_secret_basic"]
  /// The supported scopes.
  public var scopes: Set<String> = []
  /// Whether the redirect after a login names the issuer (RFC 9207).
  public var namesIssuer = false

  /// Creates a provider with these endpoints.
  public init(issuer: String, authorization: URL, token: URL) {
    (self.issuer, self.authorization, self.token) = (issuer, authorization, token)
  }
}

extension OpenIDProvider {
  /// Returns the backend that refreshes and revokes the tokens of this provider.
  ///
  /// It is `HTTPBackend.oauth` with ``token``, ``revocation`` and the client. It checks identity tokens
  /// (``/SessionHTTP/HTTPBackend/identityToken``) if the client has an identifier. Every part can be changed.
  ///
  /// A client with a secret sends it as it is written, if ``clientMethods`` has that method, or else in the
  /// other way. It throws ``OpenIDProviderError/unsuitable(member:expected:found:)`` if the server accepts neither.
  public func backend(
    client: ClientAuthentication
  ) throws(OpenIDProviderError) -> HTTPBackend {
    let client = try accepted(client)
    var backend = HTTPBackend.oauth(token: token, revocation: revocation, client: client)
    backend.identityToken = identityToken(for: client)
    backend.keepsIdentityToken = endSession != nil
    return backend
  }

  /// Returns the grant that logs a user in on this provider's page.
  ///
  /// If `scope` is `nil`, it requests `openid` and `offline_access`, as far as ``scopes`` has them. It throws
  /// what ``backend(client:)`` throws.
  public func authorizationCode(
    client: ClientAuthentication, redirect: String, scope: String? = nil
  ) throws(OpenIDProviderError) -> AuthorizationCode {
    let client = try accepted(client)
    var code = AuthorizationCode(
      authorization: authorization, token: token, client: client, redirect: redirect,
      scope: scope ?? ownScope, issuer: namesIssuer ? issuer : nil)
    code.identityToken = identityToken(for: client)
    return code
  }

  /// Returns the grant that logs a user in on another device.
  ///
  /// `scope` is that of ``authorizationCode(client:redirect:scope:)``. It throws what ``backend(client:)``
  /// throws, and ``OpenIDProviderError/unsuitable(member:expected:found:)`` if ``deviceAuthorization`` is `nil`.
  ///
  /// - Requirement: LOG-19
  public func deviceGrant(
    client: ClientAuthentication, scope: String? = nil
  ) throws(OpenIDProviderError) -> DeviceGrant {
    guard let deviceAuthorization else {
      throw .unsuitable(
        member: "device_authorization_endpoint", expected: "an HTTPS address", found: nil)
    }
    let client = try accepted(client)
    var grant = DeviceGrant(
      deviceAuthorization: deviceAuthorization, token: token, client: client,
      scope: scope ?? ownScope)
    grant.identityToken = identityToken(for: client)
    return grant
  }

  /// Returns the logout at this provider's page.
  ///
  /// It throws ``OpenIDProviderError/unsuitable(member:expected:found:)`` if ``endSession`` is `nil`.
  ///
  /// - Requirement: OUT-8
  public func logout(
    client: ClientAuthentication, redirect: String
  ) throws(OpenIDProviderError) -> ProviderLogout {
    guard let endSession else {
      throw .unsuitable(member: "end_session_endpoint", expected: "an HTTPS address", found: nil)
    }
    return ProviderLogout(endSession: endSession, client: client.id, redirect: redirect)
  }

  private var ownScope: String? {
    let known = ["openid", "offline_access"].filter(scopes.contains)
    return known.isEmpty ? nil : known.joined(separator: " ")
  }

  private func identityToken(for client: ClientAuthentication) -> IdentityToken.Expectation? {
    client.id.map { IdentityToken.Expectation(issuer: issuer, client: $0) }
  }

  /// Returns the client with a method that the server accepts.
  ///
  /// A client without a secret does not authenticate, so no method has to be listed for it:
  /// django-oauth-toolkit 3.4.1 does not list `none`, and serves public clients.
  private func accepted(
    _ client: ClientAuthentication
  ) throws(OpenIDProviderError) -> ClientAuthentication {
    let (post, basic) = ("client_secret_post", "client_secret_basic")
    switch client {
    case .none, .form(_, nil): return client
    case .form(_, _?) where clientMethods.contains(post): return client
    case .basic where clientMethods.contains(basic): return client
    case .form(let id, let secret?) where clientMethods.contains(basic):
      return .basic(id: id, secret: secret)
    case .basic(let id, let secret, _) where clientMethods.contains(post):
      return .form(id: id, secret: secret)
    case .form, .basic:
      throw .unsuitable(
        member: "token_endpoint_auth_methods_supported", expected: "\(basic) or \(post)",
        found: clientMethods.sorted().joined(separator: " "))
    }
  }
}

extension OpenIDProvider {
  /// Reads the metadata of this issuer.
  ///
  /// Unknown members are ignored, and so is what a client does not need, such as keys.
  package init(
    _ document: [String: JSONValue], of issuer: String
  ) throws(OpenIDProviderError) {
    let metadata = Metadata(members: document, isIssuerLocal: !issuer.hasPrefix("https:"))
    // A document of another issuer could send the tokens of its users here, or ours there
    // (RFC 8414 §6.2). So this is the first check.
    let named = try metadata.text("issuer")
    guard let named, named.utf8.elementsEqual(issuer.utf8) else {
      throw metadata.unsuitable("issuer", issuer)
    }
    self.init(
      issuer: issuer, authorization: try metadata.required("authorization_endpoint"),
      token: try metadata.required("token_endpoint"))
    revocation = try metadata.address("revocation_endpoint")
    userInfo = try metadata.address("userinfo_endpoint")
    deviceAuthorization = try metadata.address("device_authorization_endpoint")
    endSession = try metadata.address("end_session_endpoint")
    try metadata.require("code", in: "response_types_supported")
    try metadata.require("authorization_code", in: "grant_types_supported")
    try metadata.require("S256", in: "code_challenge_methods_supported")
    if let methods = try metadata.texts("token_endpoint_auth_methods_supported") {
      clientMethods = Set(methods)
    }
    scopes = Set(try metadata.texts("scopes_supported") ?? [])
    // Discovery 1.0 requires this member, and only recommends `scopes_supported`.
    if try metadata.texts("id_token_signing_alg_values_supported") != nil {
      scopes.insert("openid")
    }
    namesIssuer = try metadata.flag("authorization_response_iss_parameter_supported")
  }
}

/// The members of a metadata document.
///
/// `null` counts as missing.
private struct Metadata {
  let members: [String: JSONValue]
  /// Whether the issuer is on this machine, without HTTPS.
  let isIssuerLocal: Bool

  func unsuitable(_ name: String, _ expected: String) -> OpenIDProviderError {
    let found = members[name].flatMap { $0 == .null ? nil : $0.shown }
    return .unsuitable(member: name, expected: expected, found: found)
  }

  func text(_ name: String) throws(OpenIDProviderError) -> String? {
    switch members[name] {
    case .null, nil: return nil
    case .string(let text): return text
    default: throw unsuitable(name, "a text")
    }
  }

  func flag(_ name: String) throws(OpenIDProviderError) -> Bool {
    switch members[name] {
    case .null, nil: return false
    case .bool(let flag): return flag
    default: throw unsuitable(name, "true or false")
    }
  }

  func texts(_ name: String) throws(OpenIDProviderError) -> [String]? {
    switch members[name] {
    case .null, nil: return nil
    case .array(let elements):
      var texts: [String] = []
      for element in elements {
        guard case .string(let text) = element else { throw unsuitable(name, "texts") }
        texts.append(text)
      }
      return texts
    default: throw unsuitable(name, "an array of texts")
    }
  }

  /// Checks that a list has a value.
  ///
  /// A list that is missing says nothing.
  func require(_ value: String, in name: String) throws(OpenIDProviderError) {
    guard try texts(name)?.contains(value) != false else { throw unsuitable(name, value) }
  }

  func address(_ name: String) throws(OpenIDProviderError) -> URL? {
    guard let text = try text(name) else { return nil }
    // A server elsewhere must not choose a program on this machine, which would get the app's secret.
    guard let url = URL(endpoint: text), isIssuerLocal || url.scheme?.lowercased() == "https" else {
      throw unsuitable(name, "an HTTPS address without user and fragment")
    }
    return url
  }

  func required(_ name: String) throws(OpenIDProviderError) -> URL {
    guard let url = try address(name) else { throw unsuitable(name, "an HTTPS address") }
    return url
  }
}

extension URL {
  /// Creates the address of an endpoint; `nil` if requests with secrets must not go there.
  init?(endpoint text: String) {
    // Foundation encodes other characters, and the server would receive another address than it stated.
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let url = URL(string: text),
      url.isSecure, url.user == nil, url.password == nil, url.fragment == nil
    else { return nil }
    self = url
  }
}
