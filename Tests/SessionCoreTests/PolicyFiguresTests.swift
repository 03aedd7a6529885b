@_spi(Internals) import SessionCore
import Testing

@Suite("Figures of a policy")
struct PolicyFiguresTests {
  @Test("POL-1 POL-3 POL-5 a duration of a policy counts as whole milliseconds, rounded up")
  func roundedUp() {
    let policy = SessionPolicy(
      refresh: SessionPolicy.Refresh(
        beforeExpiry: .microseconds(1_001), firstRetryDelay: .microseconds(250_000_500),
        timeout: .nanoseconds(1_500_000)),
      ending: SessionPolicy.Ending(
        inactivityLimit: .microseconds(1_000_001), absoluteLifetime: .microseconds(2_000_001)))
    let figures = PolicyFigures(policy)
    #expect(figures.refreshThreshold == 2)
    #expect(figures.firstRetryDelay == 250_001)
    #expect(figures.requestTimeout == 2)
    #expect((figures.inactivityLimit, figures.absoluteLifetime) == (1_001, 2_001))
  }

  @Test("POL-1 LOG-2 POL-5 a figure out of its bounds counts as the nearest bound")
  func bounds() {
    var policy = SessionPolicy(
      refresh: SessionPolicy.Refresh(
        beforeExpiry: .seconds(-1), attempts: 0, firstRetryDelay: .seconds(-3), timeout: .zero),
      ending: SessionPolicy.Ending(inactivityLimit: .milliseconds(1), absoluteLifetime: .zero),
      limits: SessionPolicy.Limits(loginsPerMinute: -5))
    policy.limits.requiredItems = []
    let low = PolicyFigures(policy)
    #expect((low.refreshThreshold, low.maximumAttempts) == (0, 1))
    #expect((low.firstRetryDelay, low.requestTimeout) == (100, 1))
    #expect((low.inactivityLimit, low.loginsPerMinute) == (1_000, 1))
    #expect(low.absoluteLifetime == 1_000)
    #expect(low.requiredItems == [.token], "RES-1")

    policy.refresh.beforeExpiry = .seconds(Int64.max)
    policy.refresh.attempts = .max
    policy.refresh.timeout = .milliseconds(Int64.max)
    policy.ending.inactivityLimit = .milliseconds(Int64.max - 1)
    let high = PolicyFigures(policy)
    #expect((high.refreshThreshold, high.maximumAttempts) == (.max, .max))
    #expect((high.requestTimeout, high.inactivityLimit) == (.max, Int64.max - 1))
  }

  @Test("POL-1 POL-6 LOG-2 figures that are not given are those of the standard policy")
  func defaults() {
    #expect(SessionPolicy() == .standard)
    let figures = PolicyFigures(.standard)
    #expect((figures.refreshThreshold, figures.maximumAttempts) == (600_000, 5))
    #expect((figures.firstRetryDelay, figures.longestRetryDelay) == (2_000, 300_000))
    #expect((figures.requestTimeout, figures.revocationTimeout) == (30_000, 10_000))
    #expect((figures.onRejection, figures.onExhaustion) == (.keep, .stay))
    #expect(figures.onRefusedToken == .end, "POL-7")
    #expect((figures.inactivityLimit, figures.loginsPerMinute) == (nil, 5))
    #expect(figures.orphanedSecrets == .wipe, "RES-5")
    #expect(SessionPolicy.standard.recovery == .strict, "RES-6")
  }

  @Test("POL-2 clearOnRefusal clears after a refused refresh, and a failing server ends nothing")
  func clearing() {
    var policy = SessionPolicy.standard
    policy.ending.onRejection = .clear
    policy.name = SessionPolicy.clearOnRefusal.name
    #expect(SessionPolicy.clearOnRefusal == policy)
    #expect(SessionPolicy.clearOnRefusal.ending.onExhaustion == .stay)
  }

  @Test("POL-1 POL-2 offlineFirst tries once, and keeps a session that a failing server ends")
  func offline() {
    let figures = PolicyFigures(.offlineFirst)
    #expect((figures.maximumAttempts, figures.onRejection) == (1, .keep))
    #expect(figures.onExhaustion == .endAfterExpiry(.keep))
    #expect(figures.profileCheck == .afterLoginAndLaunch)
  }
}
