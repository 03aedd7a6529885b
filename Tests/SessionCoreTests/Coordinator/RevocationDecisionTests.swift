@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// Revocations after logouts, whichever process logged out and however often (OUT-1).
@Suite("Decisions: revocations after logouts")
struct RevocationDecisionTests {
  /// Logs out without a network, and signs in again.
  private static func leave(_ bench: inout CoordinatorBench, _ generation: UInt64) throws {
    bench.tell(.logout(bench.caller()))
    bench.tell(.wiped(.done))
    bench.tell(.revoked(Generation(generation), .failed, status: 0))
    let sent = bench.tell(.login(bench.caller(), .password))
    bench.tell(.answered(try #require(sent.request), .login("ada")))
  }

  private func settled(_ bench: CoordinatorBench) -> [SessionNote.RevocationSettled] {
    bench.journal.compactMap { record in
      guard case .note(.revocationSettled(let settled)) = record.content else { return nil }
      return settled
    }
  }

  @Test("OUT-1 two logouts without a network are both revoked later")
  func two() throws {
    var bench = CoordinatorBench.signedIn()
    try Self.leave(&bench, 1)
    try Self.leave(&bench, 2)
    #expect(settled(bench).allSatisfy { $0.outcome == .failed })
    #expect(bench.tell(.fired(.revocation)) == [.revoke(Generation(1))])
    let first = bench.tell(.revoked(Generation(1), .failed, status: 503))
    #expect(first == [.revoke(Generation(2))], "one after the other")
    let second = bench.tell(.revoked(Generation(2), .revoked, status: 0))
    #expect(second.contains(.forgetRevocation(Generation(2))))
    #expect(!second.contains(.forgetRevocation(Generation(1))))
    #expect(second.uptime(of: .revocation) != nil)
    #expect(bench.tell(.fired(.revocation)) == [.revoke(Generation(1))])
    let last = bench.tell(.revoked(Generation(1), .revoked, status: 0))
    #expect(last == [.forgetRevocation(Generation(1))])
    #expect(bench.coordinator.fold.intents.revocations.isEmpty)
  }

  @Test("OUT-1 a revocation whose outcome cannot be journaled does not stop the next one")
  func unjournaled() throws {
    var bench = CoordinatorBench.signedIn()
    try Self.leave(&bench, 1)
    try Self.leave(&bench, 2)
    bench.tell(.fired(.revocation))
    bench.commitEndings = [.fails]
    let first = bench.tell(.revoked(Generation(1), .revoked, status: 200))
    #expect(first.contains(.revoke(Generation(2))))
    bench.commitEndings = [.fails]
    let second = bench.tell(.revoked(Generation(2), .revoked, status: 200))
    #expect(second.uptime(of: .revocation) != nil, "both are still open in the journal")
    #expect(bench.tell(.fired(.revocation)) == [.revoke(Generation(1))])
    #expect(
      bench.tell(.revoked(Generation(1), .revoked, status: 200))
        == [.forgetRevocation(Generation(1)), .revoke(Generation(2))])
  }

  @Test("OUT-1 opening revokes each logout that has its token and abandons the others")
  func opened() throws {
    var bench = CoordinatorBench.signedIn()
    for generation in 1...3 as ClosedRange<UInt64> { try Self.leave(&bench, generation) }
    var stored = StoredItemsReport.session(4)
    stored.revocations = [Generation(1), Generation(3), Generation(9)]
    var later = try CoordinatorBench(journal: bench.journal.map(\.content))
    let effects = later.tell(.opened(stored))
    #expect(effects.contains(.revoke(Generation(1))))
    #expect(effects.contains(.forgetRevocation(Generation(9))), "nobody owes that to anybody")
    #expect(
      settled(later).last
        == SessionNote.RevocationSettled(
          generation: Generation(2), outcome: .abandoned, status: 0))
    let next = later.tell(.revoked(Generation(1), .revoked, status: 0))
    #expect(next == [.forgetRevocation(Generation(1)), .revoke(Generation(3))])
  }

  @Test("OUT-1 at most eight revocations wait: the oldest is dropped with a note")
  func bound() throws {
    var bench = CoordinatorBench.signedIn()
    for generation in 1...8 as ClosedRange<UInt64> { try Self.leave(&bench, generation) }
    #expect(settled(bench).allSatisfy { $0.outcome == .failed })
    try Self.leave(&bench, 9)
    let given = settled(bench).filter { $0.outcome == .abandoned }.map(\.generation)
    #expect(given == [Generation(1)])
    #expect(bench.coordinator.fold.intents.revocations.map(\.number) == Array(2...9))
  }

  @Test("OUT-1 after another process logs out and dies, its token is kept and revoked")
  func another() {
    var bench = CoordinatorBench.signedIn()
    bench.commitEndings = [
      .conflicts([.event(.loggedOut()), .note(.revocationPending(Generation(1)))])
    ]
    let (caller, effects) = bench.refresh()
    #expect(effects.reply(to: caller) == .failed(.ended(.unauthenticated, by: nil)))
    #expect(effects.contains(.wipe(.everything(keepingRevocation: Generation(1)))))
    let policy = bench.coordinator.policy
    #expect(effects.uptime(of: .revocation) == bench.now.uptime + policy.requestTimeout + 1_000)
    bench.tell(.wiped(.done))
    bench.advance(by: policy.requestTimeout + 1_000)
    #expect(bench.tell(.fired(.revocation)) == [.revoke(Generation(1))])
  }

  @Test("OUT-1 a failed wipe is repeated later, and the token to revoke is kept then")
  func wipedLater() throws {
    var bench = CoordinatorBench.signedIn()
    bench.commitEndings = [
      .conflicts([.event(.loggedOut()), .note(.revocationPending(Generation(1)))])
    ]
    _ = bench.refresh()
    #expect(bench.tell(.wiped(.failed)).uptime(of: .wipe) != nil)
    #expect(bench.tell(.fired(.wipe)) == [.wipe(.everything(keepingRevocation: Generation(1)))])
  }

  @Test("OUT-1 a logout that another process revoked itself is not revoked again")
  func anotherTells() {
    var bench = CoordinatorBench.signedIn()
    let generation = Generation(1)
    bench.commitEndings = [
      .conflicts([.event(.loggedOut()), .note(.revocationPending(generation))])
    ]
    _ = bench.refresh()
    let told = SessionNote.RevocationSettled(generation: generation, outcome: .revoked, status: 0)
    let record = SessionRecord(
      sequence: UInt64(bench.journal.count + 1), time: bench.now.time,
      content: .note(.revocationSettled(told)))
    let effects = bench.tell(.wiped(.overtaken([record])))
    #expect(
      effects == [.forgetRevocation(generation), .wipe(.everything(keepingRevocation: nil))])
    #expect(bench.tell(.fired(.revocation)).isEmpty)
  }

  @Test(
    "OUT-1 if another process signs in before the wipe, the old token is kept for its revocation")
  func keptFirst() throws {
    var bench = CoordinatorBench.signedIn()
    bench.tell(.logout(bench.caller()))
    let record = SessionRecord(
      sequence: UInt64(bench.journal.count + 1), time: bench.now.time,
      content: .event(.login(as: "bob", token: 2)))
    let effects = bench.tell(.wiped(.overtaken([record])))
    let kept = effects.place { $0 == .wipe(.nothing(keepingRevocation: Generation(1))) }
    let loaded = effects.place { $0 == .reloadToken(Generation(2)) }
    #expect(kept < loaded && loaded < effects.count)
  }
}
