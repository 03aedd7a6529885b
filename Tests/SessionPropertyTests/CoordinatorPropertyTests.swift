import SessionCore
import SessionTestKit
import Testing

@Suite("Coordinator: random runs")
struct CoordinatorPropertyTests {
  private func hold(_ rule: CoordinatorRule, cases: Int = 200) {
    let report = Property(rule.rawValue, cases: cases).check { choices in
      _ = try CoordinatorRun.random(choices, rules: [rule])
    }
    if !report.hasPassed { Issue.record("\(report.text)") }
  }

  @Test("every rule", arguments: CoordinatorRule.allCases)
  func all(_ rule: CoordinatorRule) { hold(rule) }
}
