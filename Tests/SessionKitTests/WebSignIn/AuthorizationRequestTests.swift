import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionWebSignIn
import Testing

/// The authorization code grant as a value: the requests, and which redirects are answers.
@Suite("An authorization request")
struct AuthorizationRequestTests {
  private static let issuer = "https://id.example.com"

  private static func code(
    scope: String? = "openid offline_access", issuer: String? = nil,
    further: [String: String] = [:]
  ) -> AuthorizationCode {
    AuthorizationCode(
      authorization: URL(string: "https://id.example.com/authorize") ?? URL(filePath: "/"),
      token: URL(string: "https://id.example.com/token") ?? URL(filePath: "/"),
      client: .form(id: "notes app"), redirect: "com.example.notes:/login", scope: scope,
      issuer: issuer, further: further)
  }

  private static let random = (0..<64).map { UInt8($0) }

  private func request(_ code: AuthorizationCode = code()) -> AuthorizationRequest {
    AuthorizationRequest(code, random: Self.random)
  }

  private func fields(of address: URL?) -> [String: String] {
    let items = address.flatMap {
      URLComponents(url: $0, resolvingAgainstBaseURL: false)?.queryItems
    }
    return Dictionary((items ?? []).map { ($0.name, $0.value ?? "") }) { _, _ in "twice" }
  }

  private func redirect(_ query: String) throws -> URL {
    try #require(URL(string: "com.example.notes:/login" + query))
  }

  /// The state of the request with ``random``.
  private var state: String {
    fields(of: request().address(asks: false))["state"] ?? ""
  }

  @Test("WEB-5 SHA-256 gives the standard's digests at each length near the end of a block")
  func digest() {
    func hex(_ bytes: [UInt8]) -> String {
      bytes.map { String($0, radix: 16) }.map { $0.count == 1 ? "0" + $0 : $0 }.joined()
    }
    let known = [
      "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq":
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ]
    for (text, digest) in known { #expect(hex(SHA256.digest(Array(text.utf8))) == digest) }
    let lengths = [
      55: "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318",
      56: "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a",
      63: "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34",
      64: "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb",
      65: "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0",
      119: "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb",
      128: "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e",
    ]
    for (length, digest) in lengths {
      #expect(hex(SHA256.digest(Array(repeating: UInt8(ascii: "a"), count: length))) == digest)
    }
  }

  @Test("WEB-5 the code challenge equals the example of RFC 7636, appendix B")
  func challenge() {
    #expect(
      AuthorizationRequest.challenge(of: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
  }

  @Test("WEB-5 the address has the members of the grant, and further members replace none of them")
  func address() {
    let further = ["audience": "notes & more", "state": "mine", "code_challenge_method": "plain"]
    let address = request(Self.code(further: further)).address(asks: false)
    let fields = fields(of: address)
    #expect(
      fields.keys.sorted() == [
        "audience", "client_id", "code_challenge", "code_challenge_method", "nonce",
        "redirect_uri", "response_type", "scope", "state",
      ])
    #expect(fields["client_id"] == "notes app" && fields["audience"] == "notes & more")
    #expect(fields["redirect_uri"] == "com.example.notes:/login")
    #expect(fields["response_type"] == "code" && fields["code_challenge_method"] == "S256")
    #expect(fields["code_challenge"]?.count == 43 && fields["state"]?.count == 22)
    #expect(address?.absoluteString.hasPrefix("https://id.example.com/authorize?") == true)
    #expect(self.fields(of: request().address(asks: true))["prompt"] == "login")
    #expect(
      self.fields(of: request(Self.code(scope: "notes")).address(asks: false))["nonce"] == nil)
    // The scope of a step-up comes beside the usual one.
    for (usual, joined) in [
      ("openid offline_access", "openid offline_access pay"), (nil, "pay openid"),
    ] {
      let stepUp = Self.code(scope: usual, further: ["scope": "pay openid"])
      let fields = self.fields(of: request(stepUp).address(asks: false))
      #expect(fields["scope"] == joined && fields["nonce"] != nil)
    }
  }

  @Test("WEB-5 the verifier is only in the request that redeems the code, and in no address")
  func verifier() throws {
    let request = request()
    let redemption = request.redemption(of: Secret("c-1"))
    let form = try #require(redemption.body.map { String(decoding: $0, as: UTF8.self) })
    let fields = Dictionary(
      uniqueKeysWithValues: form.split(separator: "&").map { pair -> (String, String) in
        let sides = pair.split(separator: "=", maxSplits: 1)
        return (String(sides[0]), String(sides[1]))
      })
    let verifier = try #require(fields["code_verifier"])
    #expect(verifier.count == 43)
    #expect(
      AuthorizationRequest.challenge(of: verifier)
        == self.fields(of: request.address(asks: false))["code_challenge"])
    #expect(request.address(asks: false)?.absoluteString.contains(verifier) == false)
    #expect(fields["grant_type"] == "authorization_code" && fields["code"] == "c-1")
    #expect(fields["client_id"] == "notes%20app")
    #expect(!"\(request)\(redemption)".contains(verifier))
  }

  @Test(
    "WEB-5 other random bytes give another state, nonce and challenge, so two logins share nothing")
  func independence() {
    let one = fields(of: request().address(asks: false))
    let other = AuthorizationRequest(Self.code(), random: Self.random.reversed())
    for (name, value) in fields(of: other.address(asks: false))
    where ["state", "nonce", "code_challenge"].contains(name) {
      #expect(value != one[name], "\(name)")
    }
  }

  @Test(
    "WEB-2 WEB-5 a redirect is an answer only at its address and with the request's state")
  func foreignRedirects() throws {
    let request = request()
    #expect(request.reply(in: try redirect("?code=c-1&state=\(state)")) == .code(Secret("c-1")))
    #expect(request.reply(in: try redirect("#code=c-1&state=\(state)")) == .code(Secret("c-1")))
    #expect(request.reply(in: try redirect("/?code=c-1&state=\(state)")) == .code(Secret("c-1")))
    for query in [
      "?code=c-1", "?code=c-1&state=other", "?code=c-1&state=",
      "?state=other&state=\(state)&code=c-1",
      "/deeper?code=c-1&state=\(state)",
    ] {
      #expect(request.reply(in: try redirect(query)) == .foreign, "\(query)")
    }
    let other = try #require(URL(string: "com.example.other:/login?code=c-1&state=\(state)"))
    #expect(request.reply(in: other) == .foreign)
  }

  @Test("WEB-2 a redirect with an error, without a code or with two codes brings no tokens")
  func refusals() throws {
    let request = request()
    let denied = try redirect("?error=access_denied&state=\(state)&code=c-1")
    #expect(request.reply(in: denied) == .refused(.refused(IdentityCode("access_denied"))))
    for query in ["?state=\(state)", "?code=&state=\(state)", "?code=a&code=b&state=\(state)"] {
      #expect(request.reply(in: try redirect(query)) == .refused(.refused(nil)), "\(query)")
    }
  }

  @Test("WEB-5 a redirect with another issuer is refused, byte by byte, and both are shown")
  func issuer() throws {
    let request = request(Self.code(issuer: Self.issuer))
    let named = try redirect("?code=c-1&state=\(state)&iss=https%3A%2F%2Fid.example.com")
    #expect(request.reply(in: named) == .code(Secret("c-1")))
    let other = try redirect("?code=c-1&state=other&iss=https%3A%2F%2Fid.example.com%2F")
    #expect(request.reply(in: other) == .foreign)
    for (query, found) in [
      ("", nil), ("&iss=", nil), ("&iss=ana%40school.test", nil),
      ("&iss=https%3A%2F%2Fid.example.com&iss=https%3A%2F%2Fid.example.com", nil),
      ("&iss=https%3A%2F%2Fid.example.com%3Ftoken%3Ds", nil),
      ("&iss=https%3A%2F%2Fevil.example.com", "https://evil.example.com"),
      ("&iss=https%3A%2F%2Fid.example.com%2F", "https://id.example.com/"),
    ] as [(String, String?)] {
      let problem = WebSignInProblem.otherIssuer(expected: Self.issuer, found: found)
      let reply = request.reply(in: try redirect("?code=c-1&state=\(state)\(query)"))
      #expect(reply == .refused(problem), "\(query)")
      let error = SessionError.webSignIn(problem)
      #expect(error.code == .refused && error.description.contains(" \(Self.issuer). "))
      #expect(error.description.contains(found.map { " \($0)," } ?? "no issuer"))
    }
  }

  @Test("LOG-18 with an expectation the identity token is checked, and must be there for openid")
  func expectation() throws {
    let nonce = try #require(fields(of: request().address(asks: false))["nonce"])
    func check(_ claims: [String: WireValue]?, scope: String = "openid") throws -> String? {
      var code = Self.code(scope: scope)
      code.identityToken = IdentityToken.Expectation(issuer: Self.issuer, client: "notes app")
      let token = claims.map { #","id_token":"\#(LoopbackToken.make(claims: $0))""# } ?? ""
      let response = HTTPResponse(
        status: 200, headers: [HTTPHeader("Date", "Tue, 14 Nov 2023 22:13:20 GMT")],
        body: Array(#"{"access_token":"a"\#(token)}"#.utf8))
      return try request(code).tokens(in: response).identityProblem?.check.description
    }
    var claims: [String: WireValue] = [
      "iss": .string(Self.issuer), "aud": "notes app", "sub": "u", "nonce": .string(nonce),
      "iat": 1_700_000_000, "exp": 1_700_003_600,
    ]
    #expect(try check(claims) == nil)
    #expect(try check(nil) == "token")
    #expect(try check(nil, scope: "notes") == nil)
    claims["aud"] = "other"
    #expect(try check(claims) == "aud" && check(claims, scope: "notes") == "aud")
    claims["aud"] = "notes app"
    claims["exp"] = 1_699_999_000
    claims["iat"] = 1_699_990_000
    #expect(try check(claims) == "exp")
  }

  @Test("WEB-5 tokens are read only from a success, and an identity token must have the nonce")
  func tokens() throws {
    let nonce = try #require(fields(of: request().address(asks: false))["nonce"])
    func answer(_ members: String, status: Int = 200) -> HTTPResponse {
      HTTPResponse(status: status, body: Array("{\(members)}".utf8))
    }
    let own = LoopbackToken.make(claims: ["nonce": .string(nonce)])
    let read = try request().tokens(
      in: answer(#""access_token":"a","refresh_token":"r","id_token":"\#(own)","expires_in":60"#))
    #expect(
      read.access == Secret("a") && read.refresh == Secret("r") && read.lifetime == .seconds(60))
    #expect(read.identityProblem == nil)
    let stolen = LoopbackToken.make(claims: ["nonce": "other"])
    let problem = try request().tokens(in: answer(#""access_token":"a","id_token":"\#(stolen)""#))
      .identityProblem
    #expect(problem?.check == .nonce && problem?.found == "othe…")
    for members in [
      "", #""access_token":"""#,
      #""access_token":"a","token_type":"mac""#, #""access_token":"a","token_type":1"#,
      #""access_token":"a","expires_in":"soon""#,
    ] {
      let failure = #expect(throws: AnswerFailure.self, "\(members)") {
        try request().tokens(in: answer(members))
      }
      #expect(failure?.failure == RequestFailure(kind: .unreadable, status: 200))
      #expect(failure?.problem != nil)
    }
    var jwt = Self.code()
    jwt.tokenTypes = ["Jwt"]
    for type in ["jwt", "JWT"] {
      let response = answer(#""access_token":"a","token_type":"\#(type)""#)
      #expect(try request(jwt).tokens(in: response).access == Secret("a"))
    }
    let bearer = answer(#""access_token":"a","token_type":"Bearer""#)
    #expect(throws: AnswerFailure.self) { try request(jwt).tokens(in: bearer) }
  }

  @Test(
    "WEB-5 STO-4 an unusable grant states its problem",
    arguments: [
      (
        "http://id.example.com/a", "https://id.example.com/t", ClientAuthentication.form(id: "a"),
        "a:/b", "the authorization endpoint must be HTTPS"
      ),
      (
        "https://id.example.com/a", "http://id.example.com/t", .form(id: "a"), "a:/b",
        "the token endpoint must be HTTPS"
      ),
      (
        "https://id.example.com/a", "https://id.example.com/t", .none, "a:/b",
        "needs the app's client identifier"
      ),
      (
        "https://id.example.com/a", "https://id.example.com/t", .form(id: "a"), "login",
        "no scheme"
      ),
      (
        "https://id.example.com/a", "https://id.example.com/t", .form(id: "a"), "a:/b#c",
        "has a fragment"
      ),
      (
        "https://id.example.com/a", "https://id.example.com/t", .form(id: "a"),
        "http://app.example.com/b", "must go to this machine"
      ),
    ])
  func problems(
    authorization: String, token: String, client: ClientAuthentication, redirect: String,
    problem: String
  ) throws {
    let code = AuthorizationCode(
      authorization: try #require(URL(string: authorization)),
      token: try #require(URL(string: token)), client: client, redirect: redirect)
    #expect(code.problem?.contains(problem) == true, "\(code.problem ?? "none")")
    #expect(Self.code().problem == nil)
  }
}
