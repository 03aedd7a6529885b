import Testing

@_spi(Internals) @testable import SessionCore

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

  /// The figures of a policy with these delays, in milliseconds.
  private func figures(first: Int64 = 2_000, longest: Int64 = 300_000) -> PolicyFigures {
    var policy = SessionPolicy.standard
    policy.refresh.firstRetryDelay = .milliseconds(first)
    policy.refresh.longestRetryDelay = .milliseconds(longest)
    return PolicyFigures(policy)
  }

  @Test("POL-1 REF-6 the delay doubles with each failure, from the first to the longest")
  func retryDelays() {
    let delays = (0...10).map { figures().retryDelay(failures: $0, jitter: 0) }
    #expect(
      delays == [
        2_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000,
      ])
    #expect(figures().retryDelay(failures: .max, jitter: 0) == 300_000)
    // No number of doublings overflows, and after 40 there are no more.
    let long = figures(first: 100, longest: .max)
    #expect(long.retryDelay(failures: 41, jitter: 0) == 100 << 40)
    #expect(long.retryDelay(failures: .max, jitter: 0) == 100 << 40)
    let huge = figures(first: .max / 2, longest: .max)
    #expect(huge.retryDelay(failures: 2, jitter: 0) == .max - 1)
    #expect(huge.retryDelay(failures: 3, jitter: 0) == .max)
  }

  @Test("POL-1 REF-6 jitter subtracts up to half of a delay")
  func jitter() {
    let delays = [0, 1, 32_768, UInt16.max].map { figures().retryDelay(failures: 1, jitter: $0) }
    #expect(delays == [2_000, 2_000, 1_500, 1_001])
  }

  @Test("OUT-1 revocations are repeated from the longest delay on, up to six hours")
  func revocationDelays() {
    let delays = (0...8).map { figures().revocationDelay(tries: $0) }
    let doubled: [Int64] = (0...6).map { 300_000 << $0 }
    #expect(delays == doubled + [21_600_000, 21_600_000])
    #expect(figures().revocationDelay(tries: .max) == 21_600_000)
    let short = figures(first: 100, longest: 100)
    #expect((0...2).map { short.revocationDelay(tries: $0) } == [1_000, 2_000, 4_000])
    #expect(figures(longest: .max).revocationDelay(tries: 0) == 21_600_000)
  }

  @Test("REF-6 requests that may have ended their process pause from the second on")
  func pauses() {
    let pauses = (0...6).map { figures().pause(afterEndedProcesses: $0) }
    #expect(pauses == [0, 0, 60_000, 120_000, 240_000, 300_000, 300_000])
    #expect(figures().pause(afterEndedProcesses: .max) == 300_000)
  }

  @Test(
    "REF-1 a token is refreshed before its expiry, but not in the first half of its life")
  func refreshTimes() {
    let figures = PolicyFigures(.standard)
    #expect(figures.refreshTime(deadline: 5_000_000, lifetime: 3_600_000) == 4_400_000)
    #expect(figures.refreshTime(deadline: 5_000_000, lifetime: 1_200_000) == 4_400_000)
    #expect(figures.refreshTime(deadline: 5_000_000, lifetime: 1_199_998) == 4_400_001)
    #expect(figures.refreshTime(deadline: .min, lifetime: 1_200_000) == .min)
    var policy = SessionPolicy.standard
    policy.refresh.beforeExpiry = nil
    #expect(PolicyFigures(policy).refreshTime(deadline: 5_000_000, lifetime: 1) == nil)
  }

  @Test(
    "REF-3 POL-5 a lease outlasts its request, and uses are stored at most in a tenth")
  func leasesAndUses() {
    #expect(PolicyFigures(.standard).leaseDuration == 31_000)
    var policy = SessionPolicy.standard
    #expect(PolicyFigures(policy).useInterval == 60_000)
    policy.ending.inactivityLimit = .seconds(590)
    #expect(PolicyFigures(policy).useInterval == 59_000)
    policy.ending.inactivityLimit = .seconds(610)
    #expect(PolicyFigures(policy).useInterval == 60_000)
  }
}
