import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJSON
import SessionKit
import SessionWebSignIn
import Testing

/// A provider's metadata as a value: which documents are wrong, and what the provider sets.
@Suite("The metadata of a provider")
struct OpenIDProviderTests {
  private static let issuer = "https://id.test/tenant"

  /// The example of a right document, with one member changed.
  private static func document(
    _ changed: String = "", _ value: String = ""
  ) throws -> [String: JSONValue] {
    let right = """
      {"issuer":"\(issuer)","authorization_endpoint":"\(issuer)/authorize?tenant=1",
       "token_endpoint":"\(issuer)/token","revocation_endpoint":"https://revoke.test/",
       "userinfo_endpoint":"\(issuer)/me","end_session_endpoint":"\(issuer)/logout",
       "device_authorization_endpoint":"\(issuer)/device","jwks_uri":7,"further":{"a":[1]},
       "scopes_supported":["openid","email","offline_access"],"response_types_supported":["code"],
       "grant_types_supported":["authorization_code"],"code_challenge_methods_supported":["S256"],
       "token_endpoint_auth_methods_supported":["client_secret_post","none"],
       "authorization_response_iss_parameter_supported":true}
      """
    guard case .object(var members) = try JSONReader.read(Array(right.utf8)) else { return [:] }
    if !changed.isEmpty {
      members[changed] = value.isEmpty ? nil : try JSONReader.read(Array(value.utf8))
    }
    return members
  }

  private static func provider(
    _ changed: String = "", _ value: String = ""
  ) throws -> OpenIDProvider {
    try OpenIDProvider(try document(changed, value), of: issuer)
  }

  /// A document with one wrong member: its name and value, and the values in the error.
  struct Wrong: Sendable, CustomTestStringConvertible {
    let member, value, expected: String
    let found: String?
    var testDescription: String { "\(member): \(value)" }

    init(_ member: String, _ value: String, _ expected: String, _ found: String?) {
      (self.member, self.value, self.expected, self.found) = (member, value, expected, found)
    }
  }

  private static let address = "an HTTPS address without user and fragment"

  private static let wrong = [
    Wrong("issuer", "", issuer, nil),
    Wrong("issuer", "null", issuer, nil),
    Wrong("issuer", #""https://evil.test/tenant""#, issuer, "https://evil.test/tenant"),
    Wrong("issuer", #""https://id.test/tenant/""#, issuer, "https://id.test/tenant/"),
    Wrong("issuer", #""https://ID.test/tenant""#, issuer, "https://ID.test/tenant"),
    Wrong("issuer", #""ana@school.test""#, issuer, "a text that is not shown"),
    Wrong("issuer", "7", "a text", "a number"),
    Wrong("authorization_endpoint", "", "an HTTPS address", nil),
    Wrong("authorization_endpoint", #""/authorize""#, address, "/authorize"),
    Wrong("token_endpoint", "null", "an HTTPS address", nil),
    Wrong("token_endpoint", #""http://id.test/token""#, address, "http://id.test/token"),
    Wrong("token_endpoint", #""https://id.test/t#a""#, address, "https://id.test/t#a"),
    Wrong("token_endpoint", #""https://a:b@id.test/t""#, address, "a text that is not shown"),
    Wrong("token_endpoint", #""https://id.test/a b""#, address, "a text that is not shown"),
    Wrong("token_endpoint", #""https:///token""#, address, "https:///token"),
    Wrong("revocation_endpoint", #""ftp://id.test/r""#, address, "ftp://id.test/r"),
    Wrong("end_session_endpoint", "{}", "a text", "an object"),
    Wrong("device_authorization_endpoint", #""""#, address, ""),
    Wrong("userinfo_endpoint", #""javascript:1""#, address, "javascript:1"),
    Wrong("response_types_supported", #"["id_token","token"]"#, "code", "id_token token"),
    Wrong("response_types_supported", #""code""#, "an array of texts", "code"),
    Wrong("grant_types_supported", #"["implicit"]"#, "authorization_code", "implicit"),
    Wrong("code_challenge_methods_supported", #"["plain"]"#, "S256", "plain"),
    Wrong("code_challenge_methods_supported", "[]", "S256", ""),
    Wrong("token_endpoint_auth_methods_supported", "[1]", "texts", "a number"),
    Wrong("scopes_supported", "{}", "an array of texts", "an object"),
    Wrong(
      "authorization_response_iss_parameter_supported", #""true""#, "true or false", "true"),
  ]

  @Test("LOG-17 a wrong document is refused with both values", arguments: wrong)
  func wrongDocuments(row: Wrong) throws {
    let error = #expect(throws: OpenIDProviderError.self) {
      try Self.provider(row.member, row.value)
    }
    #expect(
      error == .unsuitable(member: row.member, expected: row.expected, found: row.found))
    #expect(error?.description.contains(row.expected) == true && error?.message == .appNotSetUp)
  }

  @Test("LOG-17 a document gives each endpoint, and what is missing or unknown is no error")
  func right() throws {
    let provider = try Self.provider()
    var byHand = OpenIDProvider(
      issuer: Self.issuer,
      authorization: try #require(URL(string: Self.issuer + "/authorize?tenant=1")),
      token: try #require(URL(string: Self.issuer + "/token")))
    for member in try Self.document().keys
    where !["issuer", "authorization_endpoint", "token_endpoint"].contains(member) {
      _ = try Self.provider(member)
    }
    byHand.revocation = URL(string: "https://revoke.test/")
    byHand.userInfo = URL(string: Self.issuer + "/me")
    byHand.endSession = URL(string: Self.issuer + "/logout")
    byHand.deviceAuthorization = URL(string: Self.issuer + "/device")
    byHand.clientMethods = ["client_secret_post", "none"]
    byHand.scopes = ["openid", "email", "offline_access"]
    byHand.namesIssuer = true
    #expect(provider == byHand)
    let stated = try Self.provider("token_endpoint_auth_methods_supported")
    #expect(stated.clientMethods == ["client_secret_basic"])
  }

  @Test("LOG-17 the backend and the grant have the provider's endpoints, issuer and scopes")
  func values() throws {
    var provider = try Self.provider()
    let backend = try provider.backend(client: .form(id: "app"))
    #expect(backend.baseURL == provider.token && backend.client == .form(id: "app"))
    #expect(backend.revocation == .revocation("https://revoke.test/"))
    let code = try provider.authorizationCode(client: .form(id: "app"), redirect: "app:/login")
    #expect(
      code.authorization == provider.authorization && code.token == provider.token
        && code.issuer == Self.issuer && code.scope == "openid offline_access")
    let grant = try provider.deviceGrant(client: .form(id: "app"))
    #expect(
      grant.deviceAuthorization == provider.deviceAuthorization && grant.token == provider.token
        && grant.scope == code.scope && grant.identityToken == code.identityToken)
    provider.deviceAuthorization = nil
    #expect(throws: OpenIDProviderError.self) {
      try provider.deviceGrant(client: .form(id: "app"))
    }
    provider.namesIssuer = false
    provider.scopes = ["notes"]
    let plain = try provider.authorizationCode(client: .form(id: "app"), redirect: "app:/login")
    #expect(plain.issuer == nil && plain.scope == nil)
  }

  @Test(
    "LOG-17 a client authenticates as the server accepts, in its own way if possible",
    arguments: [
      (["client_secret_basic"], ClientAuthentication.form(id: "a"), .form(id: "a")),
      ([], .form(id: "a"), .form(id: "a")),
      ([], ClientAuthentication.none, Optional(ClientAuthentication.none)),
      (
        ["client_secret_basic", "client_secret_post"], .form(id: "a", secret: Secret("s")),
        .form(id: "a", secret: Secret("s"))
      ),
      (
        ["client_secret_basic"], .form(id: "a", secret: Secret("s")),
        .basic(id: "a", secret: Secret("s"))
      ),
      (
        ["client_secret_basic", "client_secret_post"],
        .basic(id: "a", secret: Secret("s"), pair: .plain),
        .basic(id: "a", secret: Secret("s"), pair: .plain)
      ),
      (
        ["client_secret_post"], .basic(id: "a", secret: Secret("s")),
        .form(id: "a", secret: Secret("s"))
      ),
      (["private_key_jwt", "none"], .basic(id: "a", secret: Secret("s")), nil),
      (["tls_client_auth"], .form(id: "a", secret: Secret("s")), nil),
    ] as [([String], ClientAuthentication, ClientAuthentication?)])
  func methods(
    listed: [String], client: ClientAuthentication, expected: ClientAuthentication?
  ) throws {
    var provider = try Self.provider()
    provider.clientMethods = Set(listed)
    guard let expected else {
      #expect(
        throws: OpenIDProviderError.unsuitable(
          member: "token_endpoint_auth_methods_supported",
          expected: "client_secret_basic or client_secret_post",
          found: listed.sorted().joined(separator: " "))
      ) { try provider.backend(client: client) }
      return
    }
    #expect(try provider.backend(client: client).client == expected)
    #expect(
      try provider.authorizationCode(client: client, redirect: "a:/b").client == expected)
  }
}
