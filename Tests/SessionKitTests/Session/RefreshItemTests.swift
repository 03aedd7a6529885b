import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Testing

@testable import SessionKit

/// A real session whose refresh token is its own item in a keychain that requires the user's
/// fingerprint.
@Suite("A session: a separate item for the refresh token")
struct RefreshItemTests {
  private let bench: Bench
  private let door = FakeKeychain()

  init() throws {
    bench = try Bench { $0.rotatesRefreshTokens = true }
  }

  private func open(_ protection: KeychainProtection = .biometryToRefresh) async throws -> Session {
    try await bench.open(.keeping, store: KeychainItems(door, protection))
  }

  private func text(_ item: String) throws -> String {
    String(decoding: try #require(door.items[item]).bytes, as: UTF8.self)
  }

  /// A login, a close, and the session opened again.
  private func reopened() async throws -> Session {
    let session = try await open()
    try await session.login(bench.credentials)
    try await session.close()
    return try await open()
  }

  @Test(
    "STO-2 an opening needs no fingerprint, and a refresh needs one")
  func needsPresence() async throws {
    let session = try await reopened()
    #expect(door.items.keys.sorted() == ["context", "refreshToken", "token", "user"])
    #expect(door.items.filter { $0.value.isProtected }.keys.sorted() == ["refreshToken"])
    #expect(!(try text("token")).contains("\"refresh\""))
    #expect(session.currentToken?.generation == Generation(1))
    let before = try bench.records().count
    #expect(
      await failure { () throws(SessionError) in try await session.refresh() } == .needsPresence)
    #expect(session.isAuthenticated && bench.server.count(of: .refresh) == 0)
    #expect(try bench.records().count == before, "no attempt is counted")
    door.isPresent = true
    try await session.refresh()
    #expect(session.currentToken?.generation == Generation(2))
    try await session.refresh()
    #expect(session.currentToken?.generation == Generation(3))
    #expect(try await session.logout() == .success)
    #expect(door.items.isEmpty)
    try await session.close()
  }

  @Test("STO-2 REF-2 the timer does not prompt, and a due refresh runs when the user is present")
  func background() async throws {
    let session = try await reopened()
    let life = try #require(session.currentToken).expiry.milliseconds(
      since: bench.clock.now().time)
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .milliseconds(life + 1_000))
    #expect(
      await failure { () throws(SessionError) in try await session.accessToken() }
        == .needsPresence)
    #expect(session.isAuthenticated)
    #expect(bench.server.count(of: .refresh) == 0)
    door.isPresent = true
    await session.retry()
    await eventually("it is refreshed") { session.currentToken?.generation == Generation(2) }
    try await session.close()
  }

  @Test(
    """
    OUT-1 STO-2 a logout without the refresh token sends the access token until the server \
    accepts it
    """)
  func logout() async throws {
    var session = try await reopened()
    #expect(try await session.logout() == .partial(.serverNotTold(status: 400)))
    #expect(door.items.keys.sorted() == ["revocation"] && bench.server.count(of: .logout) == 1)
    try await session.close()
    bench.server.revokeAllTokens()
    session = try await open()
    await eventually("the server is told") { door.items.isEmpty }
    try await session.close()
  }

  @Test("STO-2 the next refresh moves the refresh token after the option changes, and none is lost")
  func migrations() async throws {
    door.isPresent = true
    var session = try await open(.afterFirstUnlock)
    try await session.login(bench.credentials)
    #expect(try text("token").contains("\"refresh\"") && door.items["refreshToken"] == nil)
    try await session.close()
    session = try await open(.biometryToRefresh)
    try await session.refresh()
    #expect(!(try text("token").contains("\"refresh\"")) && door.items["refreshToken"] != nil)
    try await session.close()
    session = try await open(.afterFirstUnlock)
    try await session.refresh()
    #expect(try text("token").contains("\"refresh\"") && door.items["refreshToken"] == nil)
    try await session.refresh()
    #expect(session.currentToken?.generation == Generation(4))
    try await session.close()
    session = try await open(.biometryToRefresh)
    try await session.refresh()
    try await session.close()
    session = try await open(.afterFirstUnlock)
    #expect(try await session.logout() == .success)
    #expect(door.items.isEmpty, "also what was kept apart before")
    try await session.close()
  }

  @Test("RES-5 STO-2 a refresh token stays in its item and is used after a new journal adopted it")
  func takenOver() async throws {
    try await reopened().close()
    try FileManager.default.removeItem(atPath: bench.journal)
    var policy = SessionPolicy.keeping
    policy.recovery.orphanedSecrets = .adopt
    let session = try await bench.openMissing(
      policy, store: KeychainItems(door, .biometryToRefresh))
    #expect(session.currentToken?.generation == Generation(1))
    #expect(
      await failure { () throws(SessionError) in try await session.refresh() } == .needsPresence)
    door.isPresent = true
    try await session.refresh()
    try await session.refresh()
    #expect(session.currentToken?.generation == Generation(3))
    try await session.close()
  }

  @Test("REF-7 STO-2 a refresh token older than the token item is ignored, and a newer one is used")
  func pairing() async throws {
    door.isPresent = true
    let items = KeychainItems(door, .biometryToRefresh)
    let session = try await open()
    try await session.login(bench.credentials)
    let first = (try items.read(.token), try items.read(.refreshToken))
    try await session.refresh()
    let second = (try items.read(.token), try items.read(.refreshToken))
    try await session.close()
    let vault = StoredCredentials(store: items, journal: session.engine.log.identifier)
    try items.write(.refreshToken, try #require(first.1))
    let newer = try StoredToken(decoding: #require(second.0))
    #expect(try vault.refreshToken(of: newer) == nil)
    try items.write(.refreshToken, try #require(second.1))
    let older = try StoredToken(decoding: #require(first.0))
    #expect(try vault.refreshToken(of: older) == vault.refreshToken(of: newer))
    #expect(try vault.refreshToken(of: newer) != nil)
    try items.write(.refreshToken, [1, 2, 3])
    #expect(try vault.refreshToken(of: newer) == nil)
    #expect(door.items["refreshToken.unreadable"]?.bytes == [1, 2, 3], "RES-2")
  }
}
