@_spi(Internals) import SessionCore
import Testing

@Suite("Specs/Policy.md")
struct PolicyPageTests {
  @Test("POL-1 POL-2 POL-6 LOG-2 LOG-6 the page shows the figures of each policy")
  func table() {
    let policies: [SessionPolicy] = [
      .standard, .staging, .development, .offlineFirst, .clearOnRefusal,
    ]
    let rows = SpecPage("Policy.md").rows([
      "policy", "before expiry", "attempts", "first delay", "refused", "exhausted",
      "logins a minute", "asked",
    ])
    #expect(rows == policies.map(row))
  }

  private func row(_ policy: SessionPolicy) -> [String] {
    let figures = PolicyFigures(policy)
    let exhausted =
      switch figures.onExhaustion {
      case .stay: "stay"
      case .end(let end): "\(end)"
      case .endAfterExpiry(let end): "endAfterExpiry \(end)"
      }
    return [
      policy.name, figures.refreshThreshold.map { "\($0 / 1_000) s" } ?? "only when needed",
      "\(figures.maximumAttempts)", "\(figures.firstRetryDelay) ms", "\(figures.onRejection)",
      exhausted, figures.loginsPerMinute.map(String.init) ?? "any", "\(figures.profileCheck)",
    ]
  }

  @Test("POL-3 POL-5 POL-7 POL-10 RES-6 the page's statements about all policies are true")
  func common() {
    let policies: [SessionPolicy] = [
      .standard, .staging, .development, .offlineFirst, .clearOnRefusal,
    ]
    for figures in policies.map(PolicyFigures.init) {
      #expect(figures.launchRefresh == .ifExpired)
      #expect(figures.onRefusedToken == .end)
      #expect((figures.inactivityLimit, figures.absoluteLifetime) == (nil, nil))
      #expect((figures.requestTimeout, figures.longestRetryDelay) == (30_000, 300_000))
      #expect((figures.peerRequestGrace, figures.revocationTimeout) == (60_000, 10_000))
    }
    #expect(policies.allSatisfy { $0.recovery == .strict && $0.lock == SessionPolicy.Lock() })
  }
}
