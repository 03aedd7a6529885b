@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: a session at the end of its lifetime")
struct LifetimeDecisionTests {
  private static let limit: Int64 = 7_200_000

  private static func policy(_ end: SessionPolicy.End = .keep) -> SessionPolicy {
    var policy = SessionPolicy.benchKeeping
    policy.ending.onRejection = end
    policy.ending.absoluteLifetime = .milliseconds(limit)
    return policy
  }

  private static func expired(_ bench: CoordinatorBench) -> ExpiryReason? {
    guard case .expired(let session) = bench.coordinator.state else { return nil }
    return session.reason
  }

  @Test(
    "POL-10 a session that is used and refreshed expires exactly at the end of its lifetime")
  func expires() {
    var bench = CoordinatorBench.signedIn(Self.policy())
    bench.advance(by: Self.limit / 2)
    bench.tell(.used(bench.now.uptime))
    let (_, effects) = bench.refresh()
    bench.tell(.answered(effects.request ?? RequestNumber(0), .token()))
    bench.advance(by: Self.limit / 2 - 1)
    let early = bench.tell(.fired(.lifetime))
    #expect(early.uptime(of: .lifetime) == bench.now.uptime + 1)
    #expect(bench.coordinator.state.kind == .authenticated)
    bench.advance(by: 1)
    let late = bench.tell(.fired(.lifetime))
    #expect(Self.expired(bench) == .lifetimeEnded)
    #expect(bench.names.suffix(2) == ["sessionExpired", "revocationPending"], "OUT-6")
    #expect(late.contains(.cancel(.lifetime)))
  }

  @Test(
    "POL-10 opening expires a session past its lifetime, by civil time after a reboot",
    arguments: [limit - 1, limit, 10 * limit])
  func reopened(age: Int64) throws {
    var bench = try CoordinatorBench(Self.policy(), journal: [.event(.login(as: "ada"))])
    bench.advance(by: age)
    let effects = bench.tell(.opened(.session(1)))
    #expect((Self.expired(bench) == .lifetimeEnded) == (age >= Self.limit))
    if age < Self.limit { #expect(effects.uptime(of: .lifetime) == bench.now.uptime + 1) }
  }

  @Test("POL-10 REF-8 opening ignores a civil clock that was set while the system kept running")
  func sameStart() throws {
    for jump in [1 << 40, -(1 << 40)] as [Int64] {
      var bench = try CoordinatorBench(Self.policy(), journal: [.event(.login(as: "ada"))])
      let token = try #require(bench.coordinator.state.token)
      var facts = StoredItemsReport.session(1)
      facts.deadline = bench.now.uptime + token.expiresAt.milliseconds(since: bench.now.time)
      let began = bench.now.uptime - bench.now.time.milliseconds(since: token.issuedAt)
      bench.advance(by: 60_000)
      bench.jump(by: jump)
      let effects = bench.tell(.opened(facts))
      #expect(bench.coordinator.state.kind == .authenticated, "\(jump)")
      guard case .authenticated(let session) = bench.coordinator.state else { continue }
      let head = token.issuedAt.milliseconds(since: session.since)
      #expect(effects.uptime(of: .lifetime) == began - head + Self.limit)
    }
  }

  @Test("POL-10 a new login restarts the lifetime")
  func again() {
    var bench = CoordinatorBench.signedIn(Self.policy())
    bench.advance(by: Self.limit - 1)
    bench.tell(.logout(bench.caller()))
    let login = bench.tell(.login(bench.caller(), .password))
    bench.tell(.answered(login.request ?? RequestNumber(0), .login("ada")))
    bench.advance(by: 1)
    #expect(
      bench.tell(.fired(.lifetime)).uptime(of: .lifetime) == bench.now.uptime + Self.limit - 1)
    #expect(bench.coordinator.state.kind == .authenticated)
  }
}
