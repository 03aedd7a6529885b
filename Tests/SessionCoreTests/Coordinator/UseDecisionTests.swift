@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: a session that is not used")
struct UseDecisionTests {
  private static let limit: Int64 = 600_000

  private static var policy: SessionPolicy {
    var policy = SessionPolicy.benchKeeping
    policy.ending.inactivityLimit = .milliseconds(limit)
    return policy
  }

  private static func expired(_ bench: CoordinatorBench) -> ExpiryReason? {
    guard case .expired(let session) = bench.coordinator.state else { return nil }
    return session.reason
  }

  @Test("POL-5 a session unused for the limit expires exactly then, with its reason")
  func expires() {
    var bench = CoordinatorBench.signedIn(Self.policy)
    bench.advance(by: Self.limit - 1)
    let early = bench.tell(.fired(.inactivity))
    #expect(early.uptime(of: .inactivity) == bench.now.uptime + 1)
    bench.advance(by: 1)
    #expect(bench.tell(.fired(.inactivity)) == [.readUse])
    bench.tell(.useRead(.min))
    #expect(Self.expired(bench) == .inactivity)
    #expect(bench.names.suffix(2) == ["sessionExpired", "revocationPending"])
  }

  @Test("POL-5 an end by inactivity has no failure as its cause, although a refresh had failed")
  func afterFailure() {
    var bench = CoordinatorBench.signedIn(Self.policy)
    let (_, sent) = bench.refresh(.schedule)
    bench.tell(
      .failed(
        sent.request ?? RequestNumber(0), RequestFailure(kind: .server, status: 503), jitter: 0))
    bench.advance(by: Self.limit)
    bench.tell(.fired(.inactivity))
    bench.tell(.useRead(.min))
    #expect(bench.names.contains("refreshFailed") && Self.expired(bench) == .inactivity)
    #expect(bench.coordinator.endCause == EndCause(expiry: .inactivity))
  }

  @Test("POL-5 a use moves the end, and a refresh by itself does not")
  func used() {
    var bench = CoordinatorBench.signedIn(Self.policy)
    bench.advance(by: Self.limit / 2)
    bench.tell(.used(bench.now.uptime))
    let (_, effects) = bench.refresh(.schedule)
    bench.tell(.answered(effects.request ?? RequestNumber(0), .token()))
    bench.advance(by: Self.limit / 2)
    #expect(bench.tell(.fired(.inactivity)).uptime(of: .inactivity) != nil)
    let (_, again) = bench.refresh(.schedule)
    bench.tell(.answered(again.request ?? RequestNumber(0), .token()))
    bench.advance(by: Self.limit / 2)
    #expect(bench.tell(.fired(.inactivity)) == [.readUse])
  }

  @Test("POL-5 uses are stored for other processes at most once in a tenth of the limit")
  func bounded() {
    var bench = CoordinatorBench.signedIn(Self.policy)
    var kept = 0
    for _ in 0..<1_000 {
      bench.advance(by: 500)
      kept += bench.tell(.used(bench.now.uptime)).count {
        if case .markActive = $0 { true } else { false }
      }
    }
    #expect((7...10).contains(kept), "\(kept) in 500 s")
  }

  @Test("POL-5 another process's use counts, and one that cannot be read yet ends nothing (RES-3)")
  func others() {
    var bench = CoordinatorBench.signedIn(Self.policy)
    bench.advance(by: Self.limit)
    bench.tell(.fired(.inactivity))
    let locked = bench.tell(.useRead(nil))
    #expect(locked.uptime(of: .inactivity) == bench.now.uptime + 1_000)
    let used = bench.tell(.useRead(bench.now.uptime - 1_000))
    #expect(used.uptime(of: .inactivity) == bench.now.uptime - 1_000 + Self.limit)
    #expect(bench.coordinator.state.kind == .authenticated)
  }

  @Test("POL-5 REF-8 a jump of the civil clock by years neither expires nor revives")
  func jumps() {
    var bench = CoordinatorBench.signedIn(Self.policy)
    bench.jump(by: 1 << 40)
    #expect(bench.tell(.fired(.inactivity)).contains(.readUse) == false)
    bench.advance(by: Self.limit)
    bench.jump(by: -(1 << 41))
    bench.tell(.fired(.inactivity))
    bench.tell(.useRead(.min))
    #expect(Self.expired(bench) == .inactivity)
  }

  @Test(
    "POL-5 opening expires a session unused for the limit, and opening is not a use",
    arguments: [limit - 1, limit, 10 * limit])
  func reopened(idle: Int64) throws {
    var bench = try CoordinatorBench(Self.policy, journal: [.event(.login(as: "ada"))])
    var facts = StoredItemsReport.session(1)
    facts.idle = idle
    let effects = bench.tell(.opened(facts))
    #expect((Self.expired(bench) == .inactivity) == (idle >= Self.limit))
    if idle < Self.limit { #expect(effects.uptime(of: .inactivity) == bench.now.uptime + 1) }
  }

  @Test("POL-5 a session from before the limit counts from its first opening with the limit")
  func neverNoted() throws {
    var bench = try CoordinatorBench(Self.policy, journal: [.event(.login(as: "ada"))])
    let effects = bench.tell(.opened(.session(1)))
    #expect(effects.contains(.markActive(bench.now.uptime)))
    #expect(effects.uptime(of: .inactivity) == bench.now.uptime + Self.limit)
  }

  @Test("POL-5 an expiry that cannot be journaled is tried again")
  func unjournaled() {
    var bench = CoordinatorBench.signedIn(Self.policy)
    bench.advance(by: Self.limit)
    bench.tell(.fired(.inactivity))
    bench.commitEndings = [.fails]
    let effects = bench.tell(.useRead(.min))
    #expect(effects.uptime(of: .inactivity) == bench.now.uptime + 1_000)
    #expect(bench.coordinator.state.kind == .authenticated)
    // Another process has signed out and in meanwhile: that session was used.
    bench.advance(by: 1_000)
    bench.tell(.fired(.inactivity))
    bench.commitEndings = [.conflicts([.event(.loggedOut()), .event(.login(as: "bob", token: 2))])]
    bench.tell(.useRead(.min))
    #expect(bench.coordinator.state.user == "bob")
  }
}

/// When a token is refreshed, and what follows a refusal without an answer.
@Suite("Decisions: refreshes that need a reason")
struct NeedDecisionTests {
  private static let trouble = RequestFailure(kind: .server, status: 503)

  private var afterNeed: SessionPolicy {
    var policy = SessionPolicy.bench
    policy.refresh.beforeExpiry = nil
    return policy
  }

  @Test("REF-12 without early refreshes no timer is set, and a caller still causes a refresh")
  func reactive() {
    var bench = CoordinatorBench(afterNeed)
    bench.tell(.opened(.nothing))
    var effects = bench.tell(.login(bench.caller(), .password))
    effects = bench.tell(.answered(effects.request ?? RequestNumber(0), .login("ada")))
    #expect(effects.uptime(of: .refresh) == nil && effects.uptime(of: .expiry) == nil)
    #expect(bench.coordinator.state.kind == .authenticated)
    bench.advance(by: CoordinatorBench.lifetime + 1)
    let caller = bench.caller()
    #expect(bench.tell(.refresh(caller, .command, .ifExpired)).sendCount == 1)
  }

  @Test("REF-12 a refresh that failed is retried by itself")
  func retried() {
    var bench = CoordinatorBench.signedIn(afterNeed)
    let (_, sent) = bench.refresh(.unauthorized)
    let effects = bench.tell(
      .failed(sent.request ?? RequestNumber(0), RequestFailure(kind: .noConnection), jitter: 0))
    #expect(effects.uptime(of: .refresh) == bench.now.uptime + 1_000)
  }

  @Test(
    "POL-2 REF-6 a failing server ends no session with a good token, if the policy says so",
    arguments: [SessionPolicy.End.keep, .clear])
  func endAfterExpiry(end: SessionPolicy.End) {
    var policy = SessionPolicy.bench
    (policy.refresh.attempts, policy.ending.onExhaustion) = (1, .endAfterExpiry(end))
    var bench = CoordinatorBench.signedIn(policy, lifetime: 100_000)
    var (_, effects) = bench.refresh()
    for delay in [60_000, 40_000] as [Int64] {
      effects = bench.tell(.failed(effects.request ?? RequestNumber(0), Self.trouble, jitter: 0))
      #expect(bench.coordinator.state.kind == .authenticated)
      #expect(effects.uptime(of: .refresh) == bench.now.uptime + delay)
      bench.advance(by: delay)
      effects = bench.tell(.fired(.refresh))
    }
    effects = bench.tell(.failed(effects.request ?? RequestNumber(0), Self.trouble, jitter: 0))
    #expect(bench.coordinator.state.kind == (end == .keep ? .expired : .unauthenticated))
  }

  @Test("POL-7 LOG-6 the profile request with such a token counts as a call does")
  func refusedAtProfile() {
    let refused = RequestFailure(kind: .rejected, status: 401)
    let unknown = TokenMetadata.unknownLifetime
    // The lifetime, whether the token can be refreshed, the failure and the token of the request.
    let rows: [(Int64, Bool, RequestFailure, UInt64?, SessionPolicy.RefusedToken, Bool)] = [
      (unknown, false, refused, 1, .end, true), (unknown, false, refused, 1, .deliver, false),
      (unknown, false, refused, 2, .end, false), (unknown, false, refused, nil, .end, false),
      (unknown, false, RequestFailure(kind: .unexpected, status: 403), 1, .end, false),
      (unknown, false, Self.trouble, 1, .end, false), (unknown, true, refused, 1, .end, false),
      (CoordinatorBench.lifetime, false, refused, 1, .end, false),
    ]
    for (lifetime, isRefreshable, failure, token, decision, ends) in rows {
      var policy = SessionPolicy.benchKeeping
      policy.ending.onRefusedToken = decision
      var bench = CoordinatorBench.signedIn(
        policy, lifetime: lifetime, isRefreshable: isRefreshable)
      bench.tell(.profileRead("ada", failure, token: token.map { Generation($0) }))
      let reason = ends ? ExpiryReason.endedByServer : nil
      #expect(bench.coordinator.endCause.expiry == reason)
      #expect(bench.coordinator.endCause.failure == (ends ? refused : nil))
      #expect(bench.coordinator.state.kind == (ends ? .expired : .authenticated))
    }
  }

  @Test(
    "POL-7 a refused token of unknown lifetime without a refresh token ends the session",
    arguments: [SessionPolicy.RefusedToken.end, .deliver])
  func refused(decision: SessionPolicy.RefusedToken) {
    var policy = SessionPolicy.benchKeeping
    policy.ending.onRefusedToken = decision
    var bench = CoordinatorBench.signedIn(
      policy, lifetime: TokenMetadata.unknownLifetime, isRefreshable: false)
    let generation = bench.coordinator.state.token?.generation ?? .none
    let caller = bench.caller()
    let effects = bench.tell(.refresh(caller, .unauthorized, .unlessNewer(than: generation)))
    switch decision {
    case .end:
      guard case .expired(let expired) = bench.coordinator.state else {
        Issue.record("it is \(bench.coordinator.state.kind)")
        return
      }
      #expect(expired.reason == .endedByServer)
      #expect(effects.reply(to: caller) == .failed(.ended(.expired, by: nil)))
    case .deliver:
      #expect(bench.coordinator.state.kind == .authenticated)
      #expect(effects.reply(to: caller) == .failed(.request(RequestFailure(kind: .noRefreshToken))))
    }
  }

  @Test(
    "POL-7 a token with a known lifetime stays until its end, and a manual refresh ends nothing")
  func known() {
    var bench = CoordinatorBench.signedIn(.bench, isRefreshable: false)
    bench.tell(.refresh(bench.caller(), .unauthorized, .unlessNewer(than: Generation(1))))
    #expect(bench.coordinator.state.kind == .authenticated)
    bench = CoordinatorBench.signedIn(
      .bench, lifetime: TokenMetadata.unknownLifetime, isRefreshable: false)
    bench.refresh(.manual)
    #expect(bench.coordinator.state.kind == .authenticated)
  }
}
