import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@Suite("A session: closing, and other processes", .timeLimit(.minutes(10)))
struct CloseTests {
  @Test("REF-7 a close during a refresh waits for the response and keeps the rotated token")
  func closeDuringRefresh() async throws {
    let bench = try Bench {
      $0.rotatesRefreshTokens = true
      $0.reuseEndsSession = true
    }
    let session = try await bench.signedIn()
    let gate = bench.server.hold(.refresh, at: .afterActing)
    let refresh = Task { try await session.refresh() }
    #expect(await bench.server.received(.refresh))
    let close = Task { try await session.close() }
    gate.open()
    #expect(try await close.value)
    #expect(try await refresh.value.generation == Generation(2))
    let again = try await bench.open()
    #expect(try await again.refresh().generation == Generation(3))
    #expect(try bench.eventNames() == ["login", "refreshSucceeded", "refreshSucceeded"])
    try await again.close()
  }

  @Test("REF-1 a session still refreshes by itself after another one has opened and closed")
  func besideAnother() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    try await bench.open().close()
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .milliseconds(3_600_000 - 300_000))
    await eventually("the refresh") { session.currentToken?.generation == Generation(2) }
    #expect(bench.server.count(of: .refresh) == 1)
    try await session.close()
  }

  @Test("REF-3 a caller that waits for a peer's refresh gets the token as soon as it is journaled")
  func waitsForAnother() async throws {
    let bench = try Bench()
    let first = try await bench.signedIn()
    let second = try await bench.open()
    let gate = bench.server.hold(.refresh)
    let mine = Task { try await first.refresh() }
    #expect(await bench.server.received(.refresh))
    let theirs = Task { try await second.refresh() }
    await eventually("the second one waits") { second.waiterCount == 1 }
    gate.open()
    #expect(try await mine.value.generation == Generation(2))
    // The session looks every 100 ms of the clock, which only the test moves.
    await eventually("the second one is answered") {
      bench.clock.advance(by: .milliseconds(100))
      return second.waiterCount == 0
    }
    #expect(try await theirs.value.generation == Generation(2))
    #expect(bench.server.count(of: .refresh) == 1)
    try await first.close()
    try await second.close()
  }

  @Test("OUT-1 a wipe does not touch the items of a later login by another process")
  func wipeSparesOthers() async throws {
    let bench = try Bench()
    let first = try await bench.signedIn()
    let second = try await bench.open()
    let gate = bench.server.hold(.logout)
    let logout = Task { try await first.logout() }
    #expect(await bench.server.received(.logout))
    // The second process finds the logout when it commits, and then logs in.
    _ = await failure { () async throws(SessionError) in try await second.refresh() }
    try await second.login(bench.credentials)
    gate.open()
    #expect(try await logout.value == .success)
    #expect(bench.server.count(of: .logout) == 1)
    try await second.close()
    try await first.close()
    let third = try await bench.open()
    #expect(third.isAuthenticated)
    #expect(third.currentToken?.generation == Generation(2))
    try await third.close()
  }

  @Test("a response that is too large for the journal is an error, and the session continues")
  func tooLarge() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    let permissions = (0..<150_000).map { number in
      WireValue.string(
        String([letters[number % 62], letters[number / 62 % 62], letters[number / 3844 % 62]]))
    }
    bench.server.failNext(
      .refresh,
      with: .patch([
        "active_context": .object([
          "role_id": "r", "role_name": "n", "permissions": .array(permissions),
        ])
      ]))
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    guard case .unreadableAnswer = error.failure else {
      Issue.record("\(error.map { String(String(describing: $0).prefix(200)) } ?? "no error")")
      return
    }
    #expect(try await session.refresh().generation == Generation(2))
    try await session.close()
  }

  @Test("OUT-1 a logout with locked secrets is sent to the server after they are unlocked")
  func lockedLogout() async throws {
    let bench = try Bench()
    let store = MemorySecretStore()
    try await bench.signedIn(store: store).close()
    store.isAvailable = false
    let session = try await bench.open(store: store)
    #expect(try await session.logout() == .partial(.itemsRemain))
    #expect(session.state == .unauthenticated)
    #expect(bench.server.count(of: .logout) == 0)
    store.isAvailable = true
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(1))
    #expect(await bench.server.answered(.logout))
    await eventually("the wipe") { store.items.isEmpty }
    try await session.close()
  }
}
