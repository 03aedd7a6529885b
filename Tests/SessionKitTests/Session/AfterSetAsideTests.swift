import Foundation
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

@Suite("After a journal was quarantined or deleted")
struct AfterSetAsideTests {
  @Test("RES-6 LOG-9 tokens of an old layer are not adopted after the journal was quarantined")
  func adoptedBehind() async throws {
    let bench = try Bench()
    let tokens = AdoptedTokens(
      access: Secret("old"), refresh: Secret("r"), lifetime: .seconds(60),
      user: UserProfile(id: "u-1"))
    let session = try await bench.open()
    #expect(try await session.adopt(tokens))
    try await session.logout()
    try await session.close()
    try bench.damage(2)
    var again = try await bench.openAside()
    #expect(again.quarantine?.cause == .damaged)
    #expect(try await again.adopt(tokens) == false)
    #expect(again.state == .unauthenticated)
    try await again.close()

    // The new journal itself records that it continues another, even if that one is deleted.
    for name in try bench.asides() {
      try FileManager.default.removeItem(atPath: bench.folder.path + "/" + name)
    }
    again = try await bench.openAside()
    #expect(try await again.adopt(tokens) == false)
    try await again.close()
  }

  @Test(
    "RES-6 a process whose journal another one quarantines shows no token and says why")
  func setAsideElsewhere() async throws {
    let bench = try Bench()
    let one = try await bench.signedIn()
    // The last batch would be cut off, and the journal stay.
    try await one.refresh()
    try bench.damage(1)
    let other = try await bench.openAside()
    #expect(other.isAuthenticated)
    let error = await failure { () async throws(SessionError) in try await one.refresh() }
    guard case .replaced? = error.journalError else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(one.storageProblem == error)
    #expect(one.currentToken == nil && one.isTokenExpired)
    #expect(!one.isAuthenticated && one.currentUser == nil && one.activeContext == nil)
    #expect(one.state == .unauthenticated && "\(one.activity)" == "replaced")
    // It stays so.
    try await other.logout()
    let calls = bench.server.calls.count
    let later = [
      await failure { () async throws(SessionError) in try await one.logout() } as SessionError?,
      await failure { () async throws(SessionError) in try await one.accessToken() },
      await failure { () async throws(SessionError) in try await one.login(bench.credentials) },
    ]
    #expect(later == [error, error, error])
    #expect(one.currentToken == nil)
    #expect(bench.server.calls.count == calls)
    try await one.close()
    try await other.close()
    let again = try await bench.open()
    #expect(again.state == .unauthenticated)
    try await again.close()
  }

  @Test("RES-6 JRN-1 a process that follows its journal notices that another one replaced it")
  func setAsideUnderFollower() async throws {
    let bench = try Bench()
    var configuration = bench.configuration()
    configuration.followsOthers = true
    let one = try await Session.open(configuration)
    try await one.login(bench.credentials)
    try await one.refresh()
    try bench.damage(1)
    let other = try await bench.openAside()
    await eventually("it gives up") { one.currentToken == nil }
    #expect(one.state == .unauthenticated && "\(one.activity)" == "replaced")
    guard case .replaced? = one.storageProblem.journalError else {
      Issue.record("\(String(describing: one.storageProblem))")
      return
    }
    try await one.close()
    try await other.close()
  }

  @Test(
    "RES-6 a process that has read records which a repair drops shows no token until it reopens")
  func repairedElsewhere() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    func end(_ reader: inout JournalReader) throws(JournalError) -> UInt64 {
      try reader.visit { _, _ in true }
      return reader.totals.bytes
    }
    var before = try JournalReader(path: bench.journal)
    let signedIn = try end(&before)
    try await session.refresh()
    #expect(session.currentToken != nil)
    // The frames up to the login, as a repair by another process leaves them.
    let rescue = try Journal.rescue(
      bench.journal, time: "20261121T140000Z", options: JournalOptions()
    ) { (reader) throws(JournalError) in
      try end(&reader) > signedIn ? signedIn : nil
    }
    _ = try #require(rescue)
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    guard case .damaged(_, let damage)? = error.journalError, damage.flaw == .historyChanged
    else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(session.storageProblem == error)
    #expect(session.currentToken == nil && session.isTokenExpired)
    try await session.close()
    let again = try await bench.open()
    #expect(again.isAuthenticated)
    try await again.close()
  }

  @Test("RES-5 OUT-1 the pending revocations of a deleted journal are sent once and removed")
  func strayRevocations() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    bench.server.failNext(.logout, with: .status(503))
    #expect(try await session.logout() == .partial(.serverNotTold(status: 503)))
    try await session.close()
    #expect(try bench.files().count == 1)
    try Journal.delete(at: bench.journal)
    let calls = bench.server.calls.count
    // The opening looks for the journal again before it creates another one.
    let again = try await bench.clock.running { try await bench.open() }
    await eventually("it is told") { bench.server.calls.count == calls + 1 }
    try await eventually("it is gone") { try bench.files().isEmpty }
    #expect(bench.server.calls.last?.endpoint == .logout)
    #expect(again.state == .unauthenticated)
    try await again.close()
    try await bench.open().close()
    #expect(bench.server.calls.count == calls + 1)
  }
}
