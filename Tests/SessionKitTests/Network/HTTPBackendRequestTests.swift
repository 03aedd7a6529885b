import Foundation
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@testable import SessionHTTP

@Suite("Requests")
struct HTTPBackendRequestTests {
  @Test("OUT-4 a name in stored data is spelled as a literal, whatever it has")
  func quoted() {
    let scalars = (UInt8.min...0x7F).map { Unicode.Scalar($0) } + ["é", "日", "\u{301}", "\u{2028}"]
    for scalar in scalars {
      for text in [String(scalar), "a\(scalar)", "refresh_\(scalar)token"] {
        #expect(text.quoted == text.debugDescription)
      }
    }
    #expect("".quoted == "".debugDescription)
  }

  let wire: HTTPBackend
  let credentials = Credential.password("maria@school.test", "pass\"w\\ö\u{1}rd")

  init() throws {
    wire = .snakeCaseJSON(try #require(URL(string: "https://api.school.test/v1")))
  }

  private func members(_ request: HTTPRequest) throws -> [String: String] {
    try JSONDecoder().decode([String: String].self, from: Data(try #require(request.body)))
  }

  private func text(_ request: HTTPRequest) -> String {
    String(decoding: request.body ?? [], as: UTF8.self)
  }

  @Test("LOG-3 a login is JSON without Authorization")
  func login() throws {
    let request = try #require(wire.loginRequest(credentials))
    #expect(request.method == "POST")
    #expect(request.url.absoluteString == "https://api.school.test/v1/auth/login")
    #expect(request.header("content-type") == "application/json")
    #expect(request.header("Authorization") == nil)
    #expect(
      try members(request) == ["email": "maria@school.test", "password": "pass\"w\\ö\u{1}rd"])
    #expect(request.timeout == .seconds(30))
  }

  @Test("LOG-3 POL-4 a name with dots is a nested member in JSON, and keeps its dots in a form")
  func nested() throws {
    var nested = wire
    (nested.requestFields.userName, nested.requestFields.password) = (
      "user.email", "user.pass.word"
    )
    nested.login = .post(
      "auth", fields: [#"client\.id"#: "c", "client": 1, "client.kind": true, #"a\b"#: 2])
    #expect(
      text(try #require(nested.loginRequest(Credential.password("m", "p"))))
        == #"{"a\\b":2,"client":{"kind":true},"client.id":"c","user":{"email":"m","pass":{"word":"p"}}}"#
    )
    nested.login?.body = .form
    nested.login?.fields = [#"client\.id"#: "c"]
    #expect(
      text(try #require(nested.loginRequest(Credential.password("m", "p"))))
        == "client.id=c&user.email=m&user.pass.word=p")
    nested.contextKeys.role = MemberPath(steps: ["acting.as", "id"])
    nested.contextKeys.school = "at.id"
    let target = ContextTarget(role: "r", school: "s")
    #expect(
      text(try #require(nested.switchContext(target, access: Secret("t"))))
        == #"{"acting.as":{"id":"r"},"at":{"id":"s"}}"#)
  }

  @Test("REF-4 a refresh has only the Authorization of the client or of its own refresh token")
  func refresh() throws {
    var odd = wire
    odd.headers = [HTTPHeader("AUTHORIZATION", "Basic abc"), HTTPHeader("X-App", "1")]
    for wire in [wire, odd] {
      let request = try #require(wire.refresh(Secret("rt_1")))
      #expect(request.url.path == "/v1/auth/refresh")
      #expect(request.header("Authorization") == nil)
      #expect(try members(request) == ["refresh_token": "rt_1"])
    }
    #expect(odd.refresh(Secret("rt_1"))?.header("x-app") == "1")
    #expect(odd.loginRequest(credentials)?.header("Authorization") == "Basic abc")
    odd.client = .basic(id: "app", secret: Secret("word"))
    let basic = try #require(odd.refresh(Secret("rt_1")))
    #expect(
      basic.headers.filter { $0.isNamed("Authorization") }.map(\.value) == ["Basic YXBwOndvcmQ="])
    odd.refresh = .post("auth/refresh", body: .none, refreshToken: .bearer)
    let bearer = try #require(odd.refresh(Secret("rt_1")))
    #expect(bearer.headers.filter { $0.isNamed("Authorization") }.map(\.value) == ["Bearer rt_1"])
    #expect(bearer.body == nil)
    odd.client = .none
    odd.refresh = .post(
      "auth/refresh", accessToken: .bearer, refreshToken: .member("refresh_token"))
    let both = try #require(odd.refresh(Secret("rt_1"), access: Secret("at_1")))
    #expect(both.headers.filter { $0.isNamed("Authorization") }.map(\.value) == ["Bearer at_1"])
    #expect(try members(both) == ["refresh_token": "rt_1"])
    #expect(odd.refresh(Secret("rt_1"))?.header("Authorization") == nil)
    odd.refresh = nil
    #expect(odd.refresh(Secret("rt_1")) == nil)
  }

  @Test(
    "REF-4 POL-4 the `prepare` hook changes requests, and cannot add Authorization to a refresh")
  func prepared() async throws {
    var backend = wire
    backend.client = .basic(id: "app", secret: Secret("word"))
    backend.prepare = { request, step in
      request.headers.removeAll { $0.isNamed("Authorization") }
      request.headers.append(HTTPHeader("authorization", "Bearer abc"))
      request.headers.append(HTTPHeader("X-Step", "\(step)"))
    }
    let sent = SentRequests()
    backend.transport = sent
    await lost { () async throws(BackendError) in
      _ = try await backend.refresh(RefreshToken(Secret("rt_1")), in: RequestContext())
    }
    let refresh = try #require(sent.last)
    #expect(refresh.header("X-Step") == "refresh")
    #expect(
      refresh.headers.filter { $0.isNamed("Authorization") }.map(\.value) == [
        "Basic YXBwOndvcmQ="
      ])
    await lost { () async throws(BackendError) in
      _ = try await backend.login(.password("a", "b"), in: RequestContext())
    }
    #expect(sent.last?.header("Authorization") == "Bearer abc")
  }

  private func lost(_ call: () async throws(BackendError) -> Void) async {
    do throws(BackendError) {
      try await call()
      Issue.record("a response came")
    } catch { #expect(error.mayHaveActed) }
  }

  @Test("REF-6 a request that cannot be prepared is not sent")
  func unprepared() async throws {
    struct Refused: Error {}
    var backend = wire
    let sent = SentRequests()
    backend.transport = sent
    backend.prepare = { _, _ in throw Refused() }
    do throws(BackendError) {
      _ = try await backend.refresh(RefreshToken(Secret("rt_1")), in: RequestContext())
      Issue.record("it was sent")
    } catch {
      #expect(error.code == .noResponse && !error.mayHaveActed)
    }
    #expect(sent.last == nil)
  }

  @Test("CTX-1 a switch carries the access token and only the given parts of the target")
  func switched() throws {
    let whole = try #require(
      wire.switchContext(
        ContextTarget(role: "r", school: "s", unit: "u"), access: Secret("a.b.c")))
    #expect(whole.url.path == "/v1/auth/switch-context")
    #expect(whole.header("Authorization") == "Bearer a.b.c")
    #expect(
      try members(whole) == ["role_id": "r", "school_id": "s", "academic_unit_id": "u"])
    let role = try #require(wire.switchContext(ContextTarget(role: "r"), access: Secret("a.b.c")))
    #expect(try members(role) == ["role_id": "r"])
    #expect(
      HTTPBackend(baseURL: wire.baseURL).switchContext(
        ContextTarget(role: "r"), access: Secret("a"))
        == nil)
  }

  @Test("OUT-1 a revocation carries both tokens, and needs an endpoint")
  func revocation() throws {
    let request = try #require(wire.revoke(access: Secret("a.b.c"), refresh: Secret("rt")))
    #expect(request.url.path == "/v1/auth/logout")
    #expect(request.header("Authorization") == "Bearer a.b.c")
    #expect(try members(request) == ["refresh_token": "rt"])
    let bare = try #require(wire.revoke(access: Secret("a.b.c"), refresh: nil))
    #expect(try members(bare).isEmpty)
    var mute = wire
    mute.revocation = nil
    #expect(mute.revoke(access: Secret("a.b.c"), refresh: nil) == nil)
  }

  @Test("OUT-1 a revocation can carry only the refresh token, also as in RFC 7009")
  func otherRevocations() throws {
    var wire = wire
    wire.revocation = .post("logout", refreshToken: .member("refresh"))
    let alone = try #require(wire.revoke(access: Secret("a"), refresh: Secret("r")))
    #expect(alone.header("Authorization") == nil)
    #expect(text(alone) == #"{"refresh":"r"}"#)
    // Without a refresh token there is nothing to revoke.
    #expect(wire.revoke(access: Secret("a"), refresh: nil) == nil)
    wire.revocation = .get(
      "logout", accessToken: .member("access"), refreshToken: .member("refresh"))
    #expect(wire.revoke(access: Secret("a"), refresh: Secret("r")) == nil, "no body, no member")
    wire.revocation = .delete("logout", accessToken: .bearer, refreshToken: .member("refresh"))
    let deleted = try #require(wire.revoke(access: Secret("a"), refresh: Secret("r")))
    #expect(deleted.method == "DELETE" && text(deleted) == #"{"refresh":"r"}"#)
    wire.revocation = .delete("logout", accessToken: .bearer)
    #expect(wire.revoke(access: Secret("a"), refresh: Secret("r"))?.body == nil)
    wire.revocation = .post("logout")
    #expect(wire.revoke(access: Secret("a"), refresh: Secret("r")) == nil)

    wire.revocation = .revocation("revoke")
    wire.client = .basic(id: "a b", secret: Secret("ö:+"))
    let refresh = try #require(wire.revoke(access: Secret("a"), refresh: Secret("r/1")))
    #expect(text(refresh) == "token=r%2F1&token_type_hint=refresh_token")
    // Each part is encoded as in a form, and then both together (RFC 6749 §2.3.1).
    #expect(
      refresh.header("Authorization")
        == "Basic \(Data("a%20b:%C3%B6%3A%2B".utf8).base64EncodedString())")
    // Some servers expect both unchanged (RFC 7617 §2).
    wire.client = .basic(id: "a b", secret: Secret("ö:+"), pair: .plain)
    #expect(
      wire.revoke(access: Secret("a"), refresh: nil)?.header("Authorization")
        == "Basic \(Data("a b:ö:+".utf8).base64EncodedString())")
    let access = try #require(wire.revoke(access: Secret("a"), refresh: nil))
    #expect(text(access) == "token=a&token_type_hint=access_token")
  }

  @Test(
    "POL-4 an address is joined as written, with or without a slash at its end",
    arguments: [
      ("https://h.test/v1", "auth/login", "https://h.test/v1/auth/login"),
      ("https://h.test/v1/", "/auth/login", "https://h.test/v1/auth/login"),
      ("https://h.test/v1", "auth/login/", "https://h.test/v1/auth/login/"),
      ("https://h.test", "token/", "https://h.test/token/"),
      ("https://h.test/", "", "https://h.test/"),
      ("https://h.test/token/", "", "https://h.test/token/"),
      ("https://h.test/token", "", "https://h.test/token"),
      ("https://h.test:8443/a?x=1", "b", "https://h.test:8443/a/b?x=1"),
      ("https://h.test/a?x=1", "b?y=2", "https://h.test/a/b?y=2"),
      ("https://h.test/a", "?y=2", "https://h.test/a?y=2"),
      ("https://h.test/a", "b c/ö%2F100%", "https://h.test/a/b%20c/%C3%B6%2F100%25"),
      ("https://h.test/a", "https://other.test/t/", "https://other.test/t/"),
      ("https://h.test/a", "api:login", "https://h.test/a/api:login"),
      (
        "http://127.0.0.1:80/a b".replacingOccurrences(of: " ", with: "%20"), "c",
        "http://127.0.0.1:80/a%20b/c"
      ),
    ])
  func address(base: String, path: String, expected: String) throws {
    var wire = HTTPBackend(baseURL: try #require(URL(string: base)))
    wire.login = .post(path)
    #expect(wire.loginRequest(credentials)?.url.absoluteString == expected)
  }

  @Test("POL-4 a request has the endpoint's method and fields, and headers of backend and endpoint")
  func parts() throws {
    var wire = wire
    wire.headers = [HTTPHeader("X-App", "1"), HTTPHeader("accept", "application/vnd.api+json")]
    wire.login = .put(
      "in",
      fields: [
        "device": "a\"b", "version": 3, "beta": true, "ratio": 0.5, "email": "not this",
        "none": .number(.nan),
      ], headers: [HTTPHeader("x-app", "2"), HTTPHeader("Content-Type", "text/json")])
    let json = try #require(wire.loginRequest(credentials))
    #expect(json.method == "PUT")
    #expect(json.headers.filter { $0.isNamed("X-App") }.map(\.value) == ["2"])
    #expect(
      json.headers.filter { $0.isNamed("Accept") }.map(\.value) == ["application/vnd.api+json"])
    #expect(json.headers.filter { $0.isNamed("Content-Type") }.map(\.value) == ["text/json"])
    #expect(
      text(json)
        == #"{"beta":true,"device":"a\"b","email":"maria@school.test","none":null,"#
        + #""password":"pass\"w\\ö\u0001rd","ratio":0.5,"version":3}"#)
    wire.login?.body = .form
    #expect(
      text(try #require(wire.loginRequest(credentials)))
        == "beta=true&device=a%22b&email=maria%40school.test&none=null"
        + "&password=pass%22w%5C%C3%B6%01rd&ratio=0.5&version=3")
    wire.login?.body = .none
    wire.login?.headers = []
    let bare = try #require(wire.loginRequest(credentials))
    #expect(bare.body == nil)
    #expect(bare.header("Content-Type") == nil)
    #expect(bare.header("X-App") == "1")
  }

  @Test("STO-3 an endpoint's description hides user, password and query of its address")
  func shown() {
    for (path, words) in [
      ("auth/login/", "POST auth/login/"), ("a?key=1", "POST a"),
      ("https://u:pw@h.test/a?key=1", "POST h.test"), ("a?to=https://u:pw@h.test", "POST a"),
    ] {
      #expect("\(HTTPEndpoint.post(path))" == words)
    }
  }

  @Test("POL-4 a token is sent as bearer, as a member, in a header or not at all")
  func places() throws {
    var wire = wire
    for (place, authorization, header, body) in [
      (.nowhere, nil, nil, "{}"), (.bearer, "Bearer t", nil, "{}"),
      (.member("tok"), nil, nil, #"{"tok":"t"}"#), (.header("X-Token"), nil, "t", "{}"),
      (.header("authorization"), "t", nil, "{}"),
      (.header("Authorization", scheme: "Token"), "Token t", nil, "{}"),
      (.header("X-Token", scheme: "JWT"), nil, "JWT t", "{}"),
    ] as [(TokenLocation, String?, String?, String)] {
      wire.refresh = .post("r", accessToken: .bearer, refreshToken: place)
      wire.profile = .post("p", accessToken: place, refreshToken: .bearer)
      let requests = [wire.refresh(Secret("t")), wire.profile(access: Secret("t"))]
      for request in try requests.map({ try #require($0) }) {
        #expect(request.header("Authorization") == authorization)
        #expect(request.header("X-Token") == header)
        #expect(text(request) == body)
      }
    }
  }

  @Test(
    "POL-4 a client authenticates in the body or by Basic, and never together with a user's token")
  func client() throws {
    var wire = wire
    wire.client = .form(id: "app", secret: Secret("w"))
    #expect(
      try members(try #require(wire.refresh(Secret("r"))))
        == ["client_id": "app", "client_secret": "w", "refresh_token": "r"])
    wire.client = .form(id: "app")
    #expect(
      try members(try #require(wire.refresh(Secret("r"))))
        == ["client_id": "app", "refresh_token": "r"])
    let target = ContextTarget(role: "r")
    #expect(
      try members(try #require(wire.switchContext(target, access: Secret("a"))))
        == ["role_id": "r"])
    wire.client = .basic(id: "app", secret: Secret(""))
    #expect(wire.loginRequest(credentials)?.header("Authorization") == "Basic YXBwOg==")
    #expect(
      wire.switchContext(target, access: Secret("a"))?.header("Authorization") == "Bearer a")
    #expect(
      wire.revoke(access: Secret("a"), refresh: nil)?.header("Authorization") == "Bearer a")
  }
}

/// Records each request, and loses every response.
private final class SentRequests: HTTPTransport {
  private let requests = Mutex<[HTTPRequest]>([])

  var last: HTTPRequest? { requests.withLock { $0.last } }

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    requests.withLock { $0.append(request) }
    throw .noReply("the response was lost")
  }
}
