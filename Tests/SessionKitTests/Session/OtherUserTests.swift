import Foundation
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("Answers that name somebody else")
struct OtherUserTests {
  /// A session of `u-1`, and a service that answers as if `u-2` had asked.
  private func confused() async throws -> (CallBench, Session) {
    let bench = try CallBench()
    let session = try await bench.signedIn(.keeping)
    bench.service.signIn(as: "u-2")
    return (bench, session)
  }

  @Test(
    "REF-5 STA-6 a refresh that brings another user's token ends the session, and it is given back")
  func refresh() async throws {
    let (bench, session) = try await confused()
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error == .expired)
    guard case .expired(let expired) = session.state else {
      Issue.record("\(session.state)")
      return
    }
    #expect(expired.user == "u-1")
    #expect(session.currentToken == nil)
    await eventually("it is given back") {
      bench.service.book.withLock { book in
        book.requests.contains { $0.header("Authorization") == "Bearer A2" }
      }
    }
    try await session.close()
  }

  @Test("CTX-1 STA-6 a switch that brings another user's token changes nothing")
  func change() async throws {
    let (_, session) = try await confused()
    let target = ContextTarget(role: "r-2")
    let error = await failure { () async throws(SessionError) in
      try await session.switchContext(to: target)
    }
    #expect(error != nil)
    #expect(session.state.user == "u-1")
    #expect(session.currentToken?.generation == Generation(1))
    #expect(session.activeContext == nil || session.activeContext?.role.id != "r-2")
    try await session.close()
  }

  // MARK: One user, named in several ways

  private static func token(_ claims: [String: WireValue]) -> String {
    LoopbackToken.make(claims: claims)
  }

  private static func oauth() throws -> Wire {
    let url = try AnswerBench.url()
    return SessionPreset.oauth(
      token: url.appending(path: "token"), revocation: url.appending(path: "revoke")
    ).wire
  }

  @Test("REF-5 STA-6 a user named by a claim and by a member is one user")
  func twoNames() async throws {
    let backend = try AnswerBench(Self.oauth())
    let session = try await backend.open()
    for number in 1...2 {
      let token = Self.token(["sub": "8f1c-uuid", "jti": .string("t-\(number)")])
      backend.answer(
        #"{"access_token":"\#(token)","refresh_token":"r\#(number)","token_type":"Bearer","#
          + #""expires_in":3600,"user":{"id":42,"email":"a@b.test"}}"#)
    }
    try await session.login(
      PasswordCredentials(userName: "a@b.test", password: Secret("secreta-9")))
    #expect(session.state.user == "8f1c-uuid")
    try await session.refresh()
    #expect(session.currentToken?.generation == Generation(2))
    #expect(session.currentUser?.id == "8f1c-uuid")
    #expect(backend.requests.count == 2)
    try await session.close()
  }

  @Test("LOG-9 STA-6 a session that was taken over is its own, whatever an answer calls its user")
  func adopted() async throws {
    let backend = try AnswerBench(SessionPreset.tik(AnswerBench.url()).wire)
    var policy = SessionPolicy.bench
    policy.profileCheck = .whenUnknown
    var session = try await backend.open(policy)
    let token = Self.token(["sub": "auth|77"])
    #expect(
      try await session.adopt(
        AdoptedTokens(access: Secret(token), refresh: Secret("r0"), lifetime: 3_600_000))
        == .adopted)
    backend.answer(
      #"{"accessToken":"a1","refreshToken":"r1","tokenType":"Bearer","expiresIn":900,"#
        + #""user":{"id":"u1","email":"a@b.test"}}"#)
    try await session.refresh()
    #expect(session.currentToken?.generation == Generation(2))
    #expect(session.currentUser == UserProfile(id: "auth|77", email: "a@b.test"))
    try await session.close()
    session = try await backend.open(policy)
    #expect(session.currentUser == UserProfile(id: "auth|77", email: "a@b.test"))
    try await session.close()
  }

  @Test(
    "REF-5 which sources name the session's user, and which name another",
    arguments: [
      // sub of the access token, the answer's user.id, and who the answer is of; the session's is "me".
      ("me", "me", "me"), ("me", "42", "me"), ("x", "me", "me"), ("me", nil, "me"),
      (nil, "me", "me"), (nil, "42", "42"), ("x", "42", "42"), (nil, nil, nil),
      ("a@b.test", nil, nil), ("a@b.test", "42", "42"),
      // The member is silent: the sign-in may have been read from it.
      ("x", nil, nil),
    ] as [(String?, String?, String?)])
  func sources(sub: String?, member: String?, user: String?) throws {
    let access = Self.token(sub.map { ["sub": .string($0)] } ?? [:])
    let named = member.map { #","user":{"id":"\#($0)"}"# } ?? ""
    var wire = try Self.oauth()
    wire.answer.user = [.member("user"), .claim("sub")]
    for refresh in ["", #","refresh_token":"r""#] {
      let answer = WireBench.response(
        #"{"access_token":"\#(access)","expires_in":60\#(refresh)\#(named)}"#)
      let expected = user.map { Identifier($0) }
      #expect(try wire.readRefresh(answer, user: "me").user?.id == expected)
      #expect(try wire.readSwitch(answer, user: "me").user?.id == expected)
    }
    // A claim that speaks first is the one that a sign-in is read from.
    wire.answer.user = [.claim("sub"), .member("user")]
    let answer = WireBench.response(#"{"access_token":"\#(access)","expires_in":60\#(named)}"#)
    let first = sub == "x" && member != "me" ? "x" : user
    #expect(try wire.readRefresh(answer, user: "me").user?.id == first.map { Identifier($0) })
  }
}
