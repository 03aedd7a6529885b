@_spi(Internals) import SessionCore
import SessionTestKit
import SessionTestSupport
import Testing

/// Every rule together on random runs, for each preset.
///
/// A rule that is checked alone lets a run continue past a violation of another rule. A drawn
/// policy uses each preset in only some of the runs.
@Suite("Properties of the coordinator: all rules at once")
struct AllRulesTests {
  static let policies: [SessionPolicy] = [
    .development, .staging, .production, .edu(.development), .edu(.staging), .edu(.production),
    .b2c, .off, .tik, .api, .oauth, .offlineFirst, .clearOnRefusal,
  ]

  @Test("C* TST-1 POL-1 every preset keeps every rule", arguments: policies)
  func every(policy: SessionPolicy) {
    let sweep = Sweep("all rules, \(policy.name)", takingOneOf: 6)
    let cases = Sweep("cases of all rules", takingOneOf: 4).cases(of: 250)
    for seed in sweep.places(of: 1...4 as ClosedRange<UInt64>) {
      expect(
        Property(
          "all rules, \(policy.name), seed \(seed)", cases: cases,
          seed: seed &* 0x9E37_79B9_7F4A_7C15,
          regressions: RegressionFolder()
        ).check {
          _ = try CoordinatorRun.random($0, policy: policy, rules: CoordinatorRule.all)
        })
    }
  }
}
