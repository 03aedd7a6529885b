import SessionTestKit
import Testing

@Suite("TST-1: health")
struct HealthTests {
  private let still = PropertySettings()

  @Test("TST-1: more than nine discarded cases in ten fail the property, and nine do not")
  func discarded() {
    func report(keeping kept: Int, of whole: Int) -> PropertyReport {
      var count = 0
      return Property("discards", cases: 50, settings: still).check { choices in
        count += 1
        try choices.assume(count % whole < kept)
      }
    }
    let bad = report(keeping: 1, of: 11)
    #expect(!bad.hasPassed)
    #expect(bad.text.contains("cases were discarded, more than nine in ten"))
    let good = report(keeping: 1, of: 10)
    #expect(good.hasPassed, "\(good.text)")
    #expect(good.cases == 50)
    #expect(!report(keeping: 0, of: 10).hasPassed)
  }

  @Test("TST-1: a required label that never occurs fails the property")
  func label() {
    let property = Property(
      "labels", cases: 30, requiredLabels: ["seen", "never"], settings: still)
    let report = property.check { $0.label("seen") }
    guard case .unhealthy(let problems) = report.outcome else {
      Issue.record("\(report.text)")
      return
    }
    #expect(problems == [.labelMissing("never", cases: 30)])
    #expect(!property.exhaustive { $0.label("seen") }.hasPassed)
    #expect(
      property.check { choices in
        choices.label("seen")
        choices.label("never")
      }.hasPassed)
  }

  @Test("TST-1: a property without a case fails")
  func noCases() {
    #expect(!Property("none", cases: 0, settings: still).check { _ in }.hasPassed)
    #expect(!Property("none", settings: still).exhaustive(limit: 0) { _ in }.hasPassed)
  }

  @Test("TST-1: labels are shown on request, the most frequent first")
  func shares() {
    let settings = PropertySettings(environment: ["SESSION_LABELS": "1"])
    let report = Property("p", settings: settings).exhaustive { choices in
      choices.label(["rare", "often", "often"][Int(choices.draw(below: 3))])
    }
    #expect(
      report.text == "Property \"p\" held in all 3 cases.\n   66.7%  often\n   33.3%  rare")
  }

  @Test("TST-1: a setting that cannot be understood is reported")
  func settings() {
    let settings = PropertySettings(environment: ["SESSION_CASES": "many", "SESSION_SEED": "x"])
    let report = Property("p", cases: 3, settings: settings).check { _ in }
    #expect(report.hasPassed)
    #expect(report.warnings.count == 2)
    #expect(report.text.contains("Warning: SESSION_CASES is not a number"))
  }
}
