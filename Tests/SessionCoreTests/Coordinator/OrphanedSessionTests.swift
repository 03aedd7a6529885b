@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: OrphanedSession, secrets of another journal")
struct OrphanedSessionTests {
  private static let token = TokenMetadata(
    generation: Generation(7), issuedAt: CoordinatorBench().now.time,
    expiresAt: CoordinatorBench().now.time.advanced(by: CoordinatorBench.lifetime),
    isRefreshable: true)

  private func facts(_ cause: SessionNote.ContinuationCause, expired: ExpiryReason? = nil)
    -> StoredItemsReport
  {
    var facts = StoredItemsReport()
    if expired == nil { facts.token = .otherJournal }
    facts.stray = OrphanedSession(
      link: SessionNote.Continued(journal: "old", sequence: 12, cause: cause), user: "ada",
      context: .plainTeacher, token: Self.token, expired: expired)
    return facts
  }

  private func policy(_ stray: SessionPolicy.OrphanedSecrets, _ end: SessionPolicy.End = .clear)
    -> SessionPolicy
  {
    var policy = SessionPolicy.bench
    policy.recovery.orphanedSecrets = stray
    policy.ending.onRejection = end
    return policy
  }

  @Test("RES-5 orphaned secrets are adopted with a note of their origin, or wiped, by policy")
  func policies() {
    var adopting = CoordinatorBench(policy(.adopt))
    adopting.tell(.opened(facts(.lost)))
    #expect(adopting.names == ["continued", "login"])
    #expect(adopting.coordinator.state.token?.generation == Generation(7))
    #expect(adopting.coordinator.isTokenGood(at: adopting.now.uptime))
    var wiping = CoordinatorBench(policy(.wipe))
    wiping.tell(.opened(facts(.lost)))
    #expect(wiping.names == ["secretsWiped"])
    #expect(wiping.coordinator.state == .unauthenticated)
  }

  @Test("RES-6 a session continues from a quarantined journal, whatever the policy says")
  func continued() {
    for rule in [SessionPolicy.OrphanedSecrets.wipe, .adopt] {
      var bench = CoordinatorBench(policy(rule))
      bench.tell(.opened(facts(.damaged)))
      #expect(bench.names == ["login"])
      #expect(bench.coordinator.state.user == "ada")
    }
  }

  @Test("RES-6 POL-10 the stated end of a session continues with it")
  func statedEnd() {
    var bench = CoordinatorBench(policy(.adopt))
    var facts = facts(.damaged)
    facts.sessionEnd = bench.now.time.advanced(by: 90_000)
    let effects = bench.tell(.opened(facts))
    #expect(bench.coordinator.state.kind == .authenticated)
    #expect(bench.coordinator.lifetimeEnd == bench.now.uptime + 90_000)
    #expect(effects.uptime(of: .lifetime) == bench.now.uptime + 90_000)
  }

  @Test("RES-5 if this journal ever had a token, nothing of another journal is restored")
  func settledBefore() throws {
    for cause in [SessionNote.ContinuationCause.lost, .damaged] {
      var bench = try CoordinatorBench(
        policy(.adopt),
        journal: [
          .event(OpenDecisionTests.login), .event(.logout(SessionEvent.Logout(reason: .user))),
        ])
      bench.tell(.opened(facts(cause)))
      #expect(bench.names == ["login", "logout", "secretsWiped"])
    }
  }

  @Test("RES-6 POL-2 an expired session stays expired if the policy keeps those; else it ends")
  func expired() {
    var keeping = CoordinatorBench(policy(.wipe, .keep))
    keeping.tell(.opened(facts(.damaged, expired: .inactivity)))
    #expect(keeping.names == ["login", "sessionExpired"])
    guard case .expired(let session) = keeping.coordinator.state else {
      Issue.record("\(keeping.coordinator.state)")
      return
    }
    #expect(session.reason == .inactivity)
    #expect(session.user == "ada")
    var clearing = CoordinatorBench(policy(.wipe, .clear))
    clearing.tell(.opened(facts(.damaged, expired: .inactivity)))
    #expect(clearing.names.isEmpty)
  }

  @Test("RES-6 without room for its note, the session keeps loading and is adopted later")
  func fullDisk() {
    var bench = CoordinatorBench(policy(.adopt))
    var now = bench.now
    var coordinator = bench.coordinator
    let first = coordinator.handle(.opened(facts(.lost)), at: now)
    guard case .commit(let commit)? = first.last else {
      Issue.record("\(first)")
      return
    }
    #expect(commit.storing == .stray)
    let failed = coordinator.handle(.commitFailed(isLasting: false), at: now)
    #expect(failed.uptime(of: .restore) != nil)
    #expect(coordinator.activity == .loading)
    now = ClockReading(time: now.time, uptime: now.uptime + 1_000)
    #expect(coordinator.handle(.fired(.restore), at: now) == [.readSecrets])
    bench.tell(.opened(facts(.lost)))
    #expect(bench.coordinator.state.kind == .authenticated)
  }
}
