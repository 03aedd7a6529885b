@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@Suite("The tokens of a session")
struct SessionTokensTests {
  @Test("INT-7 one good token at once, then the newest for a slow reader, and the logout ends them")
  func tokens() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    var tokens = session.tokens.makeAsyncIterator()
    #expect(await tokens.next()?.generation == Generation(1))
    try await session.refresh()
    try await session.refresh()
    #expect(await tokens.next()?.generation == Generation(3))
    async let next = tokens.next()
    try await session.logout()
    #expect(await next == nil)
    try await session.login(.sample)
    #expect(await tokens.next() == nil, "the next session's tokens are not this one's")
    try await session.close()
  }

  @Test("INT-7 without a refresh before expiry a newer token is asked for before the old one ends")
  func inTime() async throws {
    let bench = try Bench { $0.accessTokenLifetime = .seconds(60) }
    var policy = SessionPolicy.bench
    policy.refresh.beforeExpiry = nil
    let session = try await bench.signedIn(policy)
    let reader = Task {
      var last: AccessToken?
      for await token in session.tokens.prefix(21) {
        if let last {
          #expect(token.generation.number == last.generation.number + 1)
          #expect(bench.clock.now().time < Timestamp(last.expiresAt))
        }
        last = token
      }
      return last?.generation
    }
    #expect(try await bench.clock.running { await reader.value } == Generation(21))
    try await session.close()
  }

  @Test("INT-7 they end at once without a user, and with the session object")
  func ended() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    var tokens = session.tokens.makeAsyncIterator()
    #expect(await tokens.next() == nil)
    try await session.login(.sample)
    var others = session.tokens.makeAsyncIterator()
    #expect(await others.next() != nil)
    try await session.close()
    #expect(await others.next() == nil)
  }

  @Test("INT-7 without a network they wait, and the next good token follows")
  func offline() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    var tokens = session.tokens.makeAsyncIterator()
    #expect(await tokens.next() != nil)
    // A first failure is repeated at once.
    for _ in 1...2 { bench.server.failNext(.refresh, with: .dropConnection(.beforeActing)) }
    await #expect(throws: SessionError.self) { try await session.refresh() }
    async let next = tokens.next()
    try await session.refresh()
    #expect(await next?.generation == Generation(2))
    try await session.close()
  }
}
