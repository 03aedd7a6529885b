@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// The journal says that a user is logged in, and the stored items cannot be read yet.
@Suite("Decisions: before the stored items are read")
struct UnreadItemsDecisionTests {
  private func locked() throws -> CoordinatorBench {
    var policy = SessionPolicy.bench
    policy.limits.profileCheck = .afterLoginAndLaunch
    var bench = try CoordinatorBench(policy, journal: [.event(.login(as: "ada"))])
    var stored = StoredItemsReport()
    stored.isLocked = true
    bench.tell(.opened(stored))
    #expect(bench.coordinator.activity == .loading)
    return bench
  }

  @Test("CTX-1 RES-3 a switch is refused at once, since no token is known")
  func switching() throws {
    var bench = try locked()
    let caller = bench.caller()
    #expect(bench.tell(.switchContext(caller)).reply(to: caller) == .failed(.locked))
    #expect(bench.tell(.secretsRead(.session(1))).sendCount == 0)
  }

  @Test("LOG-6 RES-3 the profile is requested only after the items are read")
  func profile() throws {
    var bench = try locked()
    // Another process has refreshed, so the journal names a good token.
    let refreshed = SessionRecord(
      sequence: 2, time: bench.now.time, content: .event(.refreshed(to: 2)))
    let request = SessionEffect.askProfile("ada", Generation(2))
    #expect(!bench.tell(.observed([refreshed], isHolderGone: false)).contains(request))
    #expect(bench.coordinator.isTokenGood(at: bench.now.uptime))
    #expect(bench.tell(.secretsRead(.session(2))).contains(request))
  }
}
