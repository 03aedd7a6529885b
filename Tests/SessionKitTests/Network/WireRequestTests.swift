import Foundation
import SessionKit
import SessionTestKit
import Testing

@Suite("Requests")
struct WireRequestTests {
  let wire: Wire
  let credentials = PasswordCredentials(
    userName: "maria@school.test", password: Secret("pass\"w\\ö\u{1}rd"))

  init() throws {
    wire = .edu(baseURL: try #require(URL(string: "https://api.school.test/v1")))
  }

  private func members(_ request: HTTPRequest) throws -> [String: String] {
    try JSONDecoder().decode([String: String].self, from: Data(try #require(request.body)))
  }

  @Test("LOG-3 a login is JSON without Authorization")
  func login() throws {
    let request = wire.login(credentials)
    #expect(request.method == "POST")
    #expect(request.url.absoluteString == "https://api.school.test/v1/auth/login")
    #expect(request.header("content-type") == "application/json")
    #expect(request.header("Authorization") == nil)
    #expect(
      try members(request) == ["email": "maria@school.test", "password": "pass\"w\\ö\u{1}rd"])
    #expect(request.timeout == 30_000)
  }

  @Test("REF-4 a refresh has its token in the body and never Authorization")
  func refresh() throws {
    var odd = wire
    odd.headers = [HTTPHeader("AUTHORIZATION", "Basic abc"), HTTPHeader("X-App", "1")]
    odd.adjust = { $1.headers.append(HTTPHeader("authorization", "Bearer abc")) }
    for wire in [wire, odd] {
      let request = wire.refresh(Secret("rt_1"))
      #expect(request.url.path == "/v1/auth/refresh")
      #expect(request.header("Authorization") == nil)
      #expect(try members(request) == ["refresh_token": "rt_1"])
    }
    #expect(odd.refresh(Secret("rt_1")).header("x-app") == "1")
    #expect(odd.login(credentials).header("Authorization") == "Basic abc")
  }

  @Test("CTX-1 a switch has the bearer and only the parts that there are")
  func switched() throws {
    let whole = wire.switchContext(
      ContextTarget(role: "r", school: "s", unit: "u"), access: Secret("a.b.c"))
    #expect(whole.url.path == "/v1/auth/switch-context")
    #expect(whole.header("Authorization") == "Bearer a.b.c")
    #expect(
      try members(whole) == ["role_id": "r", "school_id": "s", "academic_unit_id": "u"])
    let role = wire.switchContext(ContextTarget(role: "r"), access: Secret("a.b.c"))
    #expect(try members(role) == ["role_id": "r"])
  }

  @Test("OUT-1 a revocation names both tokens, and there is none without a place for it")
  func revocation() throws {
    let request = try #require(wire.revoke(access: Secret("a.b.c"), refresh: Secret("rt")))
    #expect(request.url.path == "/v1/auth/logout")
    #expect(request.header("Authorization") == "Bearer a.b.c")
    #expect(try members(request) == ["refresh_token": "rt"])
    let bare = try #require(wire.revoke(access: Secret("a.b.c"), refresh: nil))
    #expect(try members(bare).isEmpty)
    var mute = wire
    mute.revocationPath = nil
    #expect(mute.revoke(access: Secret("a.b.c"), refresh: nil) == nil)
  }

  @Test("POL-4 standard OAuth 2.0 is configuration")
  func oauth() throws {
    var oauth = wire
    (oauth.loginPath, oauth.refreshPath) = ("oauth/token", "oauth/token")
    oauth.bodyForm = .form
    oauth.keys.userName = "username"
    oauth.members = [
      .login: ["grant_type": "password", "client_id": "app"],
      .refresh: ["grant_type": "refresh_token", "client_id": "app"],
    ]
    oauth.tokenForm = .opaque
    oauth.needsUser = false
    let login = oauth.login(PasswordCredentials(userName: "a b&c", password: Secret("=ö~")))
    #expect(login.header("Content-Type") == "application/x-www-form-urlencoded")
    #expect(
      String(decoding: login.body ?? [], as: UTF8.self)
        == "client_id=app&grant_type=password&password=%3D%C3%B6~&username=a%20b%26c")
    #expect(
      String(decoding: oauth.refresh(Secret("rt")).body ?? [], as: UTF8.self)
        == "client_id=app&grant_type=refresh_token&refresh_token=rt")
    let answer = try oauth.readLogin(
      WireBench.response(#"{"access_token":"opaque","token_type":"bearer","expires_in":60}"#))
    #expect(answer.access == Secret("opaque"))
    #expect(answer.user == nil)
  }

  @Test("POL-4 camel case in an envelope is configuration, the odd is a closure")
  func camelCase() throws {
    var camel = wire
    camel.envelope = "data"
    camel.keys.accessToken = "accessToken"
    camel.keys.lifetime = "expiresIn"
    camel.needsUser = false
    camel.errorCode = { $0.header("X-Error") }
    let body = #"{"data":{"accessToken":"a.b.c","expiresIn":60}}"#
    #expect(try camel.readLogin(WireBench.response(body)).lifetime == 60_000)
    #expect(throws: AnswerFailure.self) { try camel.readLogin(WireBench.response("{}")) }
    #expect(
      throws: AnswerFailure(
        failure: RequestFailure(
          kind: .userDeleted, status: 410, serverCode: "USER_DELETED"))
    ) {
      try camel.readRefresh(
        WireBench.response(status: 410, headers: [HTTPHeader("x-error", "USER_DELETED")], ""))
    }
    camel.read = { (step, _) throws(AnswerFailure) in
      TokenAnswer(access: Secret("odd"), lifetime: step == .login ? 1 : 2)
    }
    #expect(try camel.readLogin(WireBench.response("")).lifetime == 1)
    #expect(try camel.readSwitch(WireBench.response("")).lifetime == 2)
    #expect(throws: AnswerFailure.self) { try camel.readLogin(WireBench.response(status: 500, "")) }
  }
}
