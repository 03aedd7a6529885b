import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

@Suite("What a policy recovers")
struct RecoveryTests {
  private func policy(_ recovery: SessionPolicy.Recovery) -> SessionPolicy {
    var policy = SessionPolicy.bench
    policy.recovery = recovery
    return policy
  }

  private func move(_ bench: Bench, _ from: String, _ to: String) throws {
    try FileManager.default.moveItem(
      atPath: bench.journal + from, toPath: bench.journal + to)
  }

  /// What happens to the secrets whose journal is missed.
  enum Fate: CaseIterable { case journalReturns, journalReturnsLate, logout, login, tooLate }

  @Test(
    "RES-7 the strict policy keeps the secrets of a missed journal for seven days",
    arguments: Fate.allCases)
  func missed(fate: Fate) async throws {
    let bench = try Bench()
    try await bench.signedIn(policy(.strict)).close()
    let names = try bench.files()
    try move(bench, "", ".away")
    var session = try await bench.openMissing(policy(.strict))
    #expect(session.state == .unauthenticated && session.activity == .idle)
    #expect(session.currentToken == nil)
    #expect(try bench.files() == names)
    #expect(try bench.records().map(\.name) == ["opened", "storageFailed"])
    // Time alone removes nothing: an opening does.
    bench.clock.advance(by: .milliseconds(AbsenceDoubt.patience - 1))
    await session.retry()
    #expect(try bench.files() == names)
    switch fate {
    case .journalReturns, .journalReturnsLate:
      try await session.close()
      if fate == .journalReturnsLate { bench.clock.advance(by: .seconds(86_400)) }
      try FileManager.default.removeItem(atPath: bench.journal)
      try move(bench, ".away", "")
      session = try await bench.open(policy(.strict))
      #expect(session.isAuthenticated)
      try await session.refresh()
      try await session.close()
      // It is missed anew, so the time begins again.
      try move(bench, "", ".away")
      session = try await bench.openMissing(policy(.strict))
      #expect(try bench.files() == names)
    case .logout:
      #expect(try await session.logout() == .success)
      #expect(try bench.files().isEmpty)
    case .login:
      try await session.login(bench.credentials)
      #expect(session.currentToken?.generation == Generation(1))
      try await session.close()
      session = try await bench.open(policy(.strict))
      #expect(session.isAuthenticated)
    case .tooLate:
      try await session.close()
      bench.clock.advance(by: .milliseconds(1))
      session = try await bench.open(policy(.strict))
      #expect(try bench.files().isEmpty)
      #expect(try bench.records().last { !$0.name.hasPrefix("storage") }?.name == "secretsWiped")
    }
    try await session.close()
  }

  @Test(
    "RES-7 a journal that comes back takes up its session from the one that went on meanwhile",
    arguments: [false, true], [SessionPolicy.End.keep, .clear])
  func successor(isRefreshed: Bool, ending: SessionPolicy.End) async throws {
    let bench = try Bench()
    var policy = policy(.resume)
    policy.ending.onRejection = ending
    try await bench.signedIn(policy).close()
    try move(bench, "", ".first")
    var session = try await bench.openMissing(policy)
    if isRefreshed { try await session.refresh() }
    try await session.close()
    // Both folders come and go, and each journal goes on from the other.
    for (away, back) in [(".second", ".first"), (".first", ".second"), (".second", ".first")] {
      try move(bench, "", away)
      try move(bench, back, "")
      let before = session.currentToken?.generation ?? .none
      session = try await bench.open(policy)
      #expect(session.isAuthenticated && session.currentToken != nil, "\(back)")
      #expect(try bench.records().contains { $0.name == "continued" })
      #expect(try !bench.records().contains { $0.name == "sessionExpired" })
      try await session.refresh()
      #expect(session.currentToken?.generation ?? .none > before)
      try await session.close()
    }
  }

  @Test("RES-7 a second absence is timed anew, although no refresh replaced the token item")
  func missedTwice() async throws {
    let bench = try Bench()
    var policy = policy(.strict)
    policy.limits.requiredItems = [.token]
    try await bench.signedIn(policy).close()
    // Without a user item the token item has the time.
    try FileSecretStore(folder: bench.secrets).remove(.user)
    try move(bench, "", ".away")
    try await bench.openMissing(policy).close()
    func isNoted() throws -> Bool {
      try bench.items().values.contains { String(decoding: $0, as: UTF8.self).contains("missed") }
    }
    #expect(try isNoted())
    try FileManager.default.removeItem(atPath: bench.journal)
    try move(bench, ".away", "")
    let session = try await bench.open(policy)
    #expect(session.isAuthenticated)
    try await eventually("it is found") { try !isNoted() }
    try await session.close()
    bench.clock.advance(by: .milliseconds(AbsenceDoubt.patience))
    let names = try bench.files()
    try move(bench, "", ".away")
    try await bench.openMissing(policy).close()
    #expect(try bench.files() == names)
  }

  @Test("RES-7 another user's login in a hidden successor stays until a logout")
  func successorOfAnother() async throws {
    let bench = try Bench(users: [.sample, .bob])
    try await bench.signedIn(policy(.resume)).close()
    try move(bench, "", ".first")
    var session = try await bench.openMissing(policy(.resume))
    try await session.logout()
    try await session.login(.password(of: .bob))
    try await session.close()
    let items = try bench.items()
    try move(bench, "", ".second")
    try move(bench, ".first", "")
    session = try await bench.open(policy(.resume))
    #expect(session.currentToken == nil && session.activity == .loading)
    guard case .secretsOwnerUnreadable? = session.storageProblem.failure else {
      Issue.record("\(String(describing: session.storageProblem))")
      return
    }
    try await session.close()
    #expect(try bench.items() == items)
    // No user is signed in after a logout, and not that of the other journal either.
    session = try await bench.open(policy(.resume))
    try await session.logout()
    #expect(try bench.files().isEmpty)
    try await session.close()
    session = try await bench.open(policy(.resume))
    #expect(session.state == .unauthenticated && session.currentToken == nil)
    try await session.close()
  }
}
