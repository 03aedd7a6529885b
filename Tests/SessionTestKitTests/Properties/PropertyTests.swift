@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("TST-1: properties")
struct PropertyTests {
  private let still = PropertySettings()

  private struct Oops: Error {}

  @Test("TST-1: a property that holds runs each case once")
  func holds() {
    var runs = 0
    let report = Property("holds", cases: 50, settings: still).check { choices in
      runs += 1
      if choices.draw(below: 2) == 1 { choices.label("odd") }
      choices.label("any")
    }
    #expect(report.hasPassed)
    #expect(report.cases == 50)
    #expect(runs == 50)
    #expect(report.labels["any"] == 50)
    #expect((5...45).contains(report.labels["odd"] ?? 0))
    #expect(report.text == "Property \"holds\" held in 50 cases.")
    #expect(report.labelText.hasPrefix("  100.0%  any\n"))
  }

  @Test("TST-1: one seed always gives the same report, and another seed gives other cases")
  func deterministic() {
    func drawn(_ property: Property) -> [UInt64] {
      var all: [UInt64] = []
      _ = property.check { all.append($0.draw(below: 1_000_000)) }
      return all
    }
    let first = drawn(Property("p", cases: 20, settings: still))
    #expect(first == drawn(Property("p", cases: 20, settings: still)))
    #expect(first != drawn(Property("p", cases: 20, seed: 1, settings: still)))
    #expect(first != drawn(Property("q", cases: 20, settings: still)))
    #expect(Set(first).count > 12)
    var settings = PropertySettings(environment: ["SESSION_SEED": "1", "SESSION_CASES": "2"])
    #expect(drawn(Property("p", cases: 20, settings: settings)).count == 40)
    settings.multiplier = 1
    let another = drawn(Property("p", cases: 20, seed: 1, settings: still))
    #expect(drawn(Property("p", cases: 20, settings: settings)) == another)
  }

  @Test("TST-1: a failing property reports its simplest case once, with steps and states")
  func fails() throws {
    var untold = 0
    let report = Property("small sums", cases: 100, settings: still).check { choices in
      var sum = 0
      for value in Generator.integer(in: 0...100).list(0...20)(choices) {
        sum += value
        choices.step("add \(value)", state: "sum \(sum)")
      }
      if !choices.isTracing { untold += 1 }
      try choices.require(sum <= 150, "the sum is \(sum)", fileID: "Module/File.swift", line: 7)
    }
    let failure = try #require(report.failure)
    #expect(!report.hasPassed)
    #expect(failure.steps == [Step("add 51", state: "sum 51"), Step("add 100", state: "sum 151")])
    #expect(failure.message == "the sum is 151 (Module/File.swift:7)")
    #expect(failure.choices == [1, 51, 1, 100])
    #expect(untold == failure.caseNumber + failure.shrinkRuns)
    let lines = report.text.split(separator: "\n").map(String.init)
    #expect(lines[0] == "Property \"small sums\" does not hold: case \(failure.caseNumber) failed.")
    #expect(lines[1] == "  the sum is 151 (Module/File.swift:7)")
    #expect(lines[3] == "   1  add 51   sum 51")
    #expect(lines[4] == "   2  add 100  sum 151")
    #expect(lines[5] == "Draws: [1, 51, 1, 100]")
    #expect(lines[6] == "Seed: \(report.seed)")
    #expect(lines[7] == "Run it again: SESSION_REPLAY=\(failure.replay) swift test")
    #expect(lines.count == 8)
  }

  @Test("TST-1: the printed code runs only that case, and works for no other property")
  func replay() throws {
    func check(_ name: String, _ settings: PropertySettings) -> (PropertyReport, runs: Int) {
      var runs = 0
      let report = Property(name, settings: settings).check { choices in
        runs += 1
        try choices.require(choices.draw(below: 1_000) < 300, "too great")
      }
      return (report, runs)
    }
    let code = try #require(check("p", still).0.failure).replay
    let settings = PropertySettings(environment: ["SESSION_REPLAY": code])
    let (report, runs) = check("p", settings)
    #expect(runs == 1)
    #expect(report.failure?.choices == [300])
    #expect(report.coverage == .replayed)
    #expect(report.text.contains("the replayed case fails"))
    #expect(check("q", settings).runs > 1)
    let (unread, none) = check("p", PropertySettings(environment: ["SESSION_REPLAY": "08"]))
    #expect(none == 0)
    #expect(!unread.hasPassed)
    #expect(unread.text.contains("the replay code is cut or mistyped"))
  }

  @Test("TST-1: a flaky property is reported as flaky, whenever it holds again")
  func flaky() throws {
    for goodFrom in [2, 6] {
      var failures = 0
      let report = Property("flaky", settings: still).check { choices in
        guard choices.draw(below: 1_000_000) > 5_000 else { return }
        failures += 1
        if failures < goodFrom { throw Oops() }
      }
      guard case .flaky(let failure) = report.outcome else {
        Issue.record("\(report.text)")
        continue
      }
      #expect(failure.message == "Oops()")
      #expect(!report.hasPassed)
      let place = "is flaky: case \(failure.caseNumber) failed, and the same draws held"
      #expect(report.text.contains(place))
    }
  }

  /// After the first failing case, values below 10 fail too, but in another way.
  private func twoFaults(
    _ great: (UInt64) throws -> Void, _ small: (UInt64) throws -> Void
  ) -> [UInt64]? {
    var isFound = false
    let report = Property("two faults", cases: 500, settings: still).check { choices in
      let value = choices.draw(below: 1_000)
      if value >= 900 {
        isFound = true
        try great(value)
      } else if isFound, value < 10 {
        try small(value)
      }
    }
    return report.failure?.choices
  }

  @Test("TST-1: shrinking accepts only a case that fails at the same place")
  func samePlace() {
    #expect(twoFaults({ _ in throw Falsified("great") }, { _ in throw Oops() }) == [900])
    // The same line.
    #expect(twoFaults({ _ in throw Falsified("a") }, { _ in throw Falsified("b") }) == [])
    #expect(
      twoFaults({ _ in throw Falsified("a") }, { _ in throw Falsified("a", line: 1) }) == [900])
  }

  private enum Fault: Error {
    case great(UInt64)
    case odd
  }

  @Test("TST-1: different cases of an error enumeration are different bugs")
  func sameKind() {
    #expect(twoFaults({ throw Fault.great($0) }, { throw Fault.great($0 + 1) }) == [])
    #expect(twoFaults({ throw Fault.great($0) }, { _ in throw Fault.odd }) == [900])
    // Outside the macro: inside it every line counts as its own.
    let stories = twoFaults(
      { _ in try given(.login(as: "ada")).then(.state(.expired)) },
      { _ in try given(.login(as: "ada")).then(.user("bob")) })
    #expect(stories == [900])
  }

  @Test("TST-1: asynchronous bodies are checked and shrunk in the same way")
  func asynchronous() async throws {
    // All tests start at once, and each yield waits for its turn: a minute is too short.
    let property = Property("async", shrinkTime: .seconds(3_600), settings: still)
    let report = await property.check { choices in
      let value = await choices.span {
        await Task.yield()
        return choices.draw(below: 1_000)
      }
      try choices.require(value < 300, "too great")
    }
    #expect(report.failure?.choices == [300])
    let all = await Property("all", settings: still).exhaustive { choices in
      await Task.yield()
      _ = choices.draw(below: 4)
    }
    #expect(all.text == "Property \"all\" held in all 4 cases.")
    let plain = Property("plain", settings: still).check { _ in }
    #expect(plain.hasPassed)
  }

  @Test("TST-1: a cancelled check says so and claims no untested case")
  func cancelled() async {
    let report = await Task {
      await Property("cancelled", cases: 1_000, settings: still).check { choices in
        await Task.yield()
        _ = choices.draw(below: 2)
        withUnsafeCurrentTask { $0?.cancel() }
      }
    }.value
    #expect(report.text.contains("cancelled after 1 of 1000 cases"))
    #expect(!report.hasPassed)
  }
}
