import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("A session whose user logs in again")
struct ReauthenticateTests {
  @Test("LOG-16 it goes on with the new tokens, also after a restart")
  func renewed() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let user = session.currentUser
    let before = try #require(session.currentToken)
    var events = session.events.makeAsyncIterator()
    try await session.reauthenticate(.sample)
    #expect(try await events.next()?.event.kind == .refreshSucceeded)
    #expect(session.currentToken?.generation == Generation(2))
    #expect(session.currentToken?.plaintext != before.plaintext)
    #expect(session.currentUser == user && session.activity == .idle)
    #expect(bench.server.count(of: .logout) == 0, "the former tokens are left alone")
    try await session.close()

    let again = try await bench.open()
    #expect(try await again.refresh().generation == Generation(3))
    #expect(try await again.logout() == .success)
    try await again.close()
    #expect(try bench.eventNames() == ["login", "refreshSucceeded", "refreshSucceeded", "logout"])
  }

  @Test("LOG-16 a wrong password changes nothing, and the error is that of a login")
  func wrong() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let before = session.state
    let error = await failure { () async throws(SessionError) in
      try await session.reauthenticate(.password(LoopbackUser.sample.email, "wrong-horse-9"))
    }
    #expect(error?.code == .invalidCredentials)
    #expect(session.state == before && session.activity == .idle)
    try await session.close()
  }

  @Test("LOG-16 REF-3 a login beside a refresh that is on the wire stores its own token after it")
  func besideRefresh() async throws {
    let bench = try Bench { $0.rotatesRefreshTokens = true }
    let session = try await bench.signedIn()
    let held = bench.server.hold(.refresh)
    async let refreshed = session.refresh()
    await eventually("the refresh is on the wire") { held.waiting == 1 }
    async let again: Void = session.reauthenticate(.sample)
    await eventually("the login is answered") { bench.server.count(of: .login) == 2 }
    // Its answer has reached the session, and waits.
    await eventually("it waits") { session.activity == .refreshing }
    try await Task.sleep(for: .milliseconds(100))
    held.open()
    #expect(try await refreshed.generation >= Generation(2))
    try await again
    #expect(session.currentToken?.generation == Generation(3))
    try await session.close()

    let next = try await bench.open()
    #expect(next.currentToken?.generation == Generation(3))
    #expect(try await next.refresh().generation == Generation(4))
    try await next.close()
  }
}
