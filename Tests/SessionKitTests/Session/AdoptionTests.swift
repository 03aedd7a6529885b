import SessionKit
import SessionTestKit
import Testing

@Suite("A session: tokens of an old layer")
struct AdoptionTests {
  /// Tokens that the server gave to whatever an app had before.
  private func old(_ bench: Bench) async throws -> AdoptedTokens {
    let wire = bench.configuration().wire
    let request = try #require(wire.login(bench.credentials))
    let answer = try wire.readLogin(try await URLSessionTransport().send(request))
    return AdoptedTokens(
      access: answer.access, refresh: answer.refresh, lifetime: answer.lifetime,
      user: answer.user, context: answer.context)
  }

  @Test("LOG-9 adopting: signed in without a request, durable, and refreshed like any other")
  func adopt() async throws {
    let bench = try Bench()
    let tokens = try await old(bench)
    let calls = bench.server.calls.count
    var session = try await bench.open()
    #expect(try await session.adopt(tokens) == .adopted)
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

  @Test("LOG-9 adopted once: what an old layer left brings back nobody who was logged out")
  func once() async throws {
    let bench = try Bench()
    let tokens = try await old(bench)
    var session = try await bench.open()
    try await session.adopt(tokens)
    #expect(try await session.adopt(tokens) == .settledBefore)
    #expect(session.isAuthenticated)
    try await session.logout()
    #expect(try await session.adopt(tokens) == .settledBefore)
    #expect(!session.isAuthenticated)
    try await session.close()
    session = try await bench.open()
    #expect(try await session.adopt(tokens) == .settledBefore)
    #expect(try bench.eventNames() == ["login", "logout"])
    try await session.close()
  }

  @Test("LOG-9 tokens that nobody is named by stay the old layer's: an error, and none is revoked")
  func nobody() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    let error = await failure { () async throws(SessionError) in
      try await session.adopt(
        AdoptedTokens(access: Secret("opaque"), refresh: Secret("r"), lifetime: 1000))
    }
    guard case .unreadableAnswer = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(!session.isAuthenticated)
    #expect(bench.server.calls.isEmpty)
    #expect(try bench.eventNames().isEmpty)
    #expect(try await session.adopt(old(bench)) == .adopted)
    try await session.close()
  }

  @Test("LOG-9 REF-2 an adopted token that has expired is refreshed at once")
  func expired() async throws {
    let bench = try Bench()
    var tokens = try await old(bench)
    tokens.lifetime = 0
    let session = try await bench.open()
    try await session.adopt(tokens)
    bench.clock.advance(by: 1)
    await eventually("it is refreshed") { session.currentToken?.generation == Generation(2) }
    try await session.close()
  }

  @Test("STO-3 tokens to be adopted are shown without any")
  func shown() {
    let tokens = AdoptedTokens(access: Secret("s3cret"), refresh: Secret("s3cret"))
    #expect("\(tokens) \(String(reflecting: tokens))" == "<redacted> <redacted>")
    #expect(Mirror(reflecting: tokens).children.isEmpty)
  }
}
