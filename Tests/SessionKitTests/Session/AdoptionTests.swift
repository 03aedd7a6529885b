import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("A session: tokens of an old layer")
struct AdoptionTests {
  /// Tokens that the server issued to the app's old session layer.
  private func old(_ bench: Bench) async throws -> AdoptedTokens {
    let wire = bench.configuration().http
    let request = try #require(wire.loginRequest(bench.credentials))
    let answer = try wire.readLogin(try await URLSessionTransport().send(request))
    return AdoptedTokens(
      access: answer.access, refresh: answer.refresh, lifetime: answer.lifetime,
      user: answer.user, context: answer.context)
  }

  @Test("LOG-9 adopted tokens log in without a request, and are stored and refreshed like others")
  func adopt() async throws {
    let bench = try Bench()
    let tokens = try await old(bench)
    let calls = bench.server.calls.count
    var session = try await bench.open()
    #expect(try await session.adopt(tokens))
    #expect(session.isAuthenticated)
    #expect(session.currentUser?.id == Identifier(LoopbackUser.sample.id))
    #expect(session.activeContext?.role.name == LoopbackContext.teacher.roleName)
    #expect(bench.server.calls.count == calls)
    #expect(try bench.eventNames() == ["login"])
    guard case .login(let login)? = try bench.records().compactMap(\.event).first else {
      Issue.record("no login")
      return
    }
    #expect(login.method == .adoption)
    try await session.refresh()
    #expect(session.currentToken?.generation == Generation(2))
    try await session.close()
    session = try await bench.open()
    #expect(session.isAuthenticated)
    try await session.close()
  }

  @Test(
    "LOG-9 STO-3 tokens that cannot be sent, and an e-mail address as id, are refused",
    arguments: [
      AdoptedTokens(access: Secret("a\nb"), user: UserProfile(id: "u-1")),
      AdoptedTokens(access: Secret("a\u{0}b"), user: UserProfile(id: "u-1")),
      AdoptedTokens(access: Secret(""), user: UserProfile(id: "u-1")),
      AdoptedTokens(access: Secret("a"), refresh: Secret("r\r\n"), user: UserProfile(id: "u-1")),
      AdoptedTokens(access: Secret("a"), refresh: Secret(""), user: UserProfile(id: "u-1")),
      AdoptedTokens(access: Secret("a"), user: UserProfile(id: "ana@x.test")),
      AdoptedTokens(access: Secret("a"), user: UserProfile(id: "")),
      // {"sub":"ana@x.test"}
      AdoptedTokens(access: Secret("e30.eyJzdWIiOiJhbmFAeC50ZXN0In0.c2ln")),
    ])
  func refused(tokens: AdoptedTokens) async throws {
    let bench = try Bench()
    let session = try await bench.open()
    let error = await failure { () async throws(SessionError) in try await session.adopt(tokens) }
    guard case .unreadableAnswer = error.failure else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try bench.eventNames().isEmpty)
    #expect(try bench.files().isEmpty)
    try await session.close()
  }

  @Test("LOG-9 STO-3 a token whose `jti` is an e-mail address is adopted without it")
  func namedByAddress() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    // {"sub":"u-1","jti":"ana@x.test"}
    let token = "e30.eyJzdWIiOiJ1LTEiLCJqdGkiOiJhbmFAeC50ZXN0In0.c2ln"
    #expect(
      try await session.adopt(AdoptedTokens(access: Secret(token), lifetime: .seconds(60))))
    #expect(session.state.token?.id == nil)
    try await session.close()
    let bytes = try Data(contentsOf: URL(filePath: bench.configuration().journal))
    #expect(bytes.firstRange(of: Data("ana@x".utf8)) == nil)
  }

  @Test("LOG-9 POL-4 an adopted token is valid until it expires if the backend has no refresh")
  func withoutRefresh() async throws {
    let bench = try Bench()
    var configuration = bench.configuration()
    configuration.http.refresh = nil
    let session = try await Session.open(configuration)
    try await session.adopt(
      AdoptedTokens(
        access: Secret("a"), refresh: Secret("r"), lifetime: .seconds(60),
        user: UserProfile(id: "u-1")))
    #expect(!session.canRefreshToken)
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error == .noRefreshToken)
    #expect(session.isAuthenticated)
    try await session.close()
  }

  @Test("STO-3 no description of adopted tokens shows a token")
  func shown() {
    let tokens = AdoptedTokens(access: Secret("s3cret"), refresh: Secret("s3cret"))
    #expect("\(tokens) \(String(reflecting: tokens))" == "<redacted> <redacted>")
    #expect(Mirror(reflecting: tokens).children.isEmpty)
  }
}
