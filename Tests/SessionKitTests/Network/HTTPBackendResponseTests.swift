import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("Responses by configuration")
struct HTTPBackendResponseTests {
  private let credentials = Credential.password(" Maria@School.test ", "pw")

  private func wire(_ change: (inout HTTPBackend) -> Void) -> HTTPBackend {
    var wire = BackendBench.wire
    wire.tokenForm = .opaque
    change(&wire)
    return wire
  }

  private func problem(_ wire: HTTPBackend, _ body: String) -> String? {
    do throws(AnswerFailure) {
      _ = try wire.readLogin(BackendBench.response(body), to: credentials)
      return nil
    } catch {
      return error.problem
    }
  }

  @Test("POL-4 names may be nested, and have alternatives and an envelope")
  func names() throws {
    let wire = wire {
      $0.response.envelope = "data"
      $0.response.accessToken = ["tokens.access", "token"]
      $0.response.refreshToken = ["tokens.list.1"]
      $0.response.lifetime = [.seconds("tokens.life"), .assumed(.seconds(5))]
      $0.response.user = [.member("owner.user"), .member(.whole)]
      $0.response.context = [MemberPath(steps: ["acting.as"])]
      $0.response.userID = "ids.main"
      $0.response.email = "mails.0"
      $0.contextKeys = .camelCase
    }
    let nested = try wire.readLogin(
      BackendBench.response(
        #"{"data":{"tokens":{"access":"a","list":["x","r"],"life":"60"},"#
          + #""owner":{"user":{"ids":{"main":7},"mails":["m@s.test"]}},"#
          + #""acting.as":{"roleId":3,"roleName":"n","schoolId":"s"}}}"#))
    #expect(nested.access == Secret("a"))
    #expect(nested.refresh == Secret("r"))
    #expect(nested.lifetimeMilliseconds == 60_000)
    #expect(nested.user == UserProfile(id: "7", email: "m@s.test"))
    #expect(nested.context?.role == .init(id: "3", name: "n"))
    #expect(nested.context?.school == .init(id: "s", name: ""))

    let flat = #"{"data":{"token":"b","ids":{"main":"u"}}}"#
    let other = try wire.readLogin(BackendBench.response(flat))
    #expect(other.access == Secret("b"))
    #expect(other.refresh == nil && other.lifetimeMilliseconds == 5_000 && other.user?.id == "u")
    // Members at the top level belong to the user only at a login.
    #expect(try wire.readRefresh(BackendBench.response(flat)).user == nil)
    #expect(problem(wire, #"{"data":[]}"#) == "data is an array; it must be an object")
    #expect(problem(wire, "{}") == "data is missing")
    #expect(
      problem(wire, #"{"data":{"tokens":{"access":1},"x":1}}"#)
        == "data.tokens.access is a number; it must be a string")
    #expect(problem(wire, #"{"data":{"token":"b"}}"#) == "data.ids.main is missing")
  }

  @Test("POL-4 the accepted kinds of token are configurable")
  func kinds() throws {
    let wire = wire { $0.response.tokenTypes = ["jwt", "bearer"] }
    let body = { (type: String) in
      #"{"access_token":"a","expires_in":1,"token_type":"\#(type)","user":{"id":1}}"#
    }
    for type in ["JWT", "Bearer", "bearer"] { #expect(problem(wire, body(type)) == nil) }
    #expect(problem(wire, body("mac")) == "token_type is not bearer or jwt")
  }

  @Test("REF-5 a refresh token is ignored if there is no refresh endpoint")
  func noRefresh() throws {
    let wire = wire { $0.refresh = nil }
    let body = #"{"access_token":"a","refresh_token":"r","expires_in":1,"user":{"id":1}}"#
    #expect(try wire.readLogin(BackendBench.response(body)).refresh == nil)
    #expect(try wire.readSwitch(BackendBench.response(body)).refresh == nil)
  }

  @Test(
    "LOG-4 a user's id is a text or a whole number with all its digits",
    arguments: [
      (#""u-1""#, "u-1"), ("17", "17"), ("-3", "-3"), ("9007199254740993", "9007199254740993"),
      ("18446744073709551617", "18446744073709551617"), (#""17""#, "17"),
    ])
  func number(json: String, id: String) throws {
    let body = #"{"access_token":"a","expires_in":1,"user":{"id":\#(json)}}"#
    #expect(try wire { _ in }.readLogin(BackendBench.response(body)).user?.id == Identifier(id))
    let token = "h.\(LoopbackToken.base64URL(Array(#"{"uid":\#(json)}"#.utf8))).s"
    let claimed = wire { $0.response.user = [.claim("uid")] }
    #expect(
      try claimed.readLogin(
        BackendBench.response(#"{"access_token":"\#(token)","expires_in":1}"#)
      ).user?.id == Identifier(id))
  }

  @Test("STA-5 LOG-4 the user comes from a claim of the identity token or the access token")
  func claims() throws {
    let wire = wire {
      $0.response.user = [.claim("oid", of: .identity), .claim("sub"), .member("user")]
    }
    let identity = LoopbackToken.make(claims: [
      "oid": "o-1", "emails": ["m@s.test"], "given_name": "María", "family_name": "Sample",
      "email": 1,
    ])
    let access = LoopbackToken.make(claims: ["sub": "s-1", "email": "a@s.test"])
    let body = { (access: String, identity: String) in
      #"{"access_token":"\#(access)","id_token":"\#(identity)","expires_in":1}"#
    }
    #expect(
      try wire.readLogin(BackendBench.response(body(access, identity))).user
        == UserProfile(id: "o-1", email: "m@s.test", firstName: "María", lastName: "Sample"))
    #expect(
      try wire.readLogin(BackendBench.response(body(access, "opaque"))).user
        == UserProfile(id: "s-1", email: "a@s.test"))
    // A refresh replaces only the token (REF-5).
    #expect(try wire.readRefresh(BackendBench.response(body(access, identity))).user == nil)
    #expect(
      problem(wire, body("opaque", "opaque"))
        == "claim oid of the identity token and claim sub of the access token and user are missing")
    let address = LoopbackToken.make(claims: ["sub": "a@s.test"])
    #expect(
      problem(wire, body(address, "opaque"))
        == "claim sub of the access token is an e-mail address, which must not be journaled; name "
        + "another claim")
  }

  @Test("LOG-4 LOG-7 each kind of sign-in reads the user from a claim or from the top level")
  func everySignIn() throws {
    let token = LoopbackToken.make(claims: ["sub": "s-1"])
    let answer = BackendBench.response(#"{"access_token":"\#(token)","expires_in":1,"id":"m-1"}"#)
    for (source, id) in [(UserSource.claim("sub"), "s-1"), (.member(""), "m-1")] {
      let wire = wire { $0.response.user = [source] }
      let users = [
        try wire.readLogin(answer).user, try wire.readSocial(answer).user,
        try wire.readRegistration(answer)?.user,
      ]
      #expect(users.map { $0?.id } == Array(repeating: Identifier(id), count: 3))
    }
  }

  @Test("LOG-4 STO-3 a keyed digest of the user name is the id if no member names the user")
  func digest() throws {
    let key = try #require(UserNameKey(Array(0..<16)))
    #expect(UserNameKey(Array(0..<15)) == nil && UserNameKey(Array(0..<17)) == nil)
    #expect(key.bytes == Array(0..<16))
    #expect(UserNameKey(key.bytes) == key)
    #expect(UserNameKey.random() != UserNameKey.random())
    let wire = wire { $0.response.user = [.member("user"), .userName(key)] }
    let answer = BackendBench.response(#"{"access_token":"a","expires_in":1}"#)
    let user = try #require(try wire.readLogin(answer, to: credentials).user)
    #expect(user.id == key.identifier(of: "maria@school.test"))
    #expect(user.id.description.wholeMatch(of: /name-[0-9a-f]{32}/) != nil)
    #expect(key.identifier(of: "ana") != key.identifier(of: "Ana"))
    #expect(key.identifier(of: "e\u{301}") == key.identifier(of: "\u{E9}"))
    #expect(UserNameKey.random().identifier(of: "maria@school.test") != user.id)
    #expect(throws: AnswerFailure.self) { try wire.readLogin(answer) }
    #expect(try wire.readRefresh(answer).user == nil)
  }

  @Test("LOG-6 a profile names the user, and an inactive or deleted account is a failure")
  func profile() throws {
    let wire = wire { $0.profile = .get("me") }
    for body in [#"{"id":1,"email":"a@b.test"}"#, #"{"user":{"id":"1","email":"a@b.test"}}"#] {
      #expect(
        try wire.readProfile(BackendBench.response(body)) == UserProfile(id: "1", email: "a@b.test")
      )
    }
    func failure(_ wire: HTTPBackend, _ status: Int, _ body: String) -> AnswerFailure? {
      do throws(AnswerFailure) {
        _ = try wire.readProfile(BackendBench.response(status: status, body))
        return nil
      } catch {
        return error
      }
    }
    for (status, kind) in [
      (#""INACTIVE""#, .userInactive), (#""deleted""#, .userDeleted), (#""active""#, nil),
      ("null", nil), ("1", nil),
    ] as [(String, RequestFailure.Kind?)] {
      let found = failure(wire, 200, #"{"user":{"id":1,"status":\#(status)}}"#)
      #expect(found?.failure.kind == kind)
      #expect(found?.failure.status ?? 200 == 200)
    }
    var flags = wire
    (flags.response.accountStatus, flags.response.inactive) = (["is_active"], ["false"])
    #expect(failure(flags, 200, #"{"id":1,"is_active":false}"#)?.failure.kind == .userInactive)
    #expect(failure(flags, 200, #"{"id":1,"is_active":true}"#) == nil)
    #expect(failure(wire, 200, #"{"name":"x"}"#)?.problem == "id is missing")
    #expect(failure(wire, 200, #"{"id":"a@b.test"}"#)?.failure.kind == .unreadable)
    #expect(failure(wire, 403, "")?.failure.kind == .unexpected)
    #expect(failure(wire, 401, "")?.failure.kind == .rejected)
    #expect(failure(wire, 200, "<html>")?.failure.kind == .intercepted)
  }

  @Test("POL-4 an error code in a header field takes precedence over one in the body")
  func codeInHeader() throws {
    let odd = wire { $0.response.errorCodeHeader = "X-Error" }
    let deleted = HTTPResponse(
      status: 410, headers: [HTTPHeader("x-error", "USER_DELETED")], body: [])
    #expect(
      throws: AnswerFailure(
        failure: RequestFailure(kind: .userDeleted, status: 410, serverCode: "USER_DELETED"))
    ) { try odd.readRefresh(deleted) }
    // Without the field, the code comes from the body.
    let body = #"{"error":{"code":"USER_INACTIVE"}}"#
    #expect(
      odd.failure(.refresh, BackendBench.response(status: 403, body))?.kind == .userInactive)
  }
}
