@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

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
      .failed(
        sent.request ?? RequestNumber(0), RequestFailure(kind: .noConnection), jitter: 0))
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
      effects = bench.tell(
        .failed(effects.request ?? RequestNumber(0), Self.trouble, jitter: 0))
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
      #expect(
        effects.reply(to: caller)
          == .failed(.request(RequestFailure(kind: .noRefreshToken))))
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
