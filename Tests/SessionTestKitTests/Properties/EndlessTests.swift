import ChildProcesses
import SessionTestKit
import Testing

@Suite("TST-1: bodies that draw without end")
struct EndlessTests {
  private let still = PropertySettings()

  @Test("TST-1: a loop that 0 does not end is ended, and a case beyond the limit does not count")
  func geometric() throws {
    let report = Property("waits", cases: 20, settings: still).check { choices in
      while !choices.chance(1, in: 16) {}
      try choices.require(choices.draw(below: 10) < 5, "great")
    }
    // Replayed without its end, a case continues with zeros: no simpler one, and one that ends.
    let failure = try #require(report.failure)
    #expect(failure.choices == [1, 5])
    let all = Property("all", settings: still).exhaustive(depth: 3) { choices in
      while choices.draw(below: 2) == 0 {}
    }
    #expect(
      all.text == "Property \"all\" held in all 3 cases within 3 draws, 1 with too many draws.")
    #expect(all.overruns == 1)
  }

  @Test("TST-1: an endless enumeration without a limit is reported at its first endless case")
  func endlessEnumeration() {
    var runs = 0
    let report = Property("l2", settings: still).exhaustive { choices in
      runs += 1
      while choices.draw(below: 2) == 0 {}
    }
    #expect(runs == 1)
    #expect(
      report.text.contains("after 0 cases, one asked for more than 65536 draws"), "\(report.text)")
    runs = 0
    let late = Property("late", settings: still).exhaustive { choices in
      runs += 1
      guard choices.draw(below: 3) == 2 else { return }
      while choices.draw(below: 2) == 0 {}
      try choices.assume(false)
    }
    #expect(runs == 3)
    #expect(late.text.contains("after 2 cases, one asked"), "\(late.text)")
  }

  @Test("TST-1: draws past the limit are the same in every run and include all values")
  func overrun() {
    func last(_ choices: Choices) -> [UInt64] {
      for _ in 0..<131_072 { _ = choices.draw(below: 3) }
      return (0..<60).map { _ in choices.draw(below: 3) }
    }
    let first = Choices(seed: 1)
    let end = last(first)
    #expect(first.recorded.count == 65_536)
    #expect(last(Choices(replaying: first.recorded)) == end)
    #expect(Set(end) == [0, 1, 2])
  }

  @Test("TST-1: a property whose cases all exceed the limit ends soon as untested")
  func unhealthy() {
    let body: (Choices) -> Void = { choices in for _ in 0..<70_000 { _ = choices.draw(below: 2) } }
    let property = Property("long", cases: 100_000, settings: still)
    let report = property.check(body)
    #expect(!report.hasPassed)
    #expect(
      report.text.contains("17 of 17 cases asked for more than 65536 draws"), "\(report.text)")
    #expect(!property.exhaustive(body).hasPassed)
    #expect(!Property("few", cases: 3, settings: still).exhaustive(limit: 3, body).hasPassed)
  }

  @Test("TST-1: a body that never ends is reported, and the process ends")
  func endless() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Property("never ends", settings: PropertySettings()).check { choices in
        while true { _ = choices.draw(below: 5) }
      }
    }
    let bytes = try #require(result).standardErrorContent
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("Property \"never ends\" does not end: case 1 asked for more than"))
    #expect(text.contains("\nDraws: ["))
    #expect(text.contains("\nRun it again: SESSION_REPLAY=/"))
    #expect(text.utf8.count < 5_000)
  }

  @Test("TST-1: an enumerated and a replayed body that never end are reported too")
  func endlessElsewhere() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Property("never ends", settings: PropertySettings()).exhaustive(depth: 4) { choices in
        while true { _ = choices.draw(below: 5) }
      }
    }
    let bytes = try #require(result).standardErrorContent
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("a case of the enumeration asked for more than"))
    let code = ReplayCode(property: "never ends", draws: []).text
    #expect(text.contains("SESSION_REPLAY=\(code) swift test"), "\(text)")
  }
}

@Suite("TST-1: cancelled checks")
struct CancelTests {
  private func property(_ scratch: TemporaryFolder) -> Property {
    Property(
      "cancelled", cases: 1_000, regressions: RegressionFolder(path: scratch.path),
      settings: PropertySettings())
  }

  private static func cancel() { withUnsafeCurrentTask { $0?.cancel() } }

  @Test("TST-1: a case that fails because its task is cancelled does not count and is not saved")
  func thrown() async throws {
    let property = property(try TemporaryFolder())
    let report = await Task {
      await property.check { choices in
        await Task.yield()
        if choices.draw(below: 1_000) > 500 { Self.cancel() }
        try Task.checkCancellation()
      }
    }.value
    #expect(report.failure == nil, "\(report.text)")
    #expect(report.text.contains("\n  cancelled after \(report.cases) of 1000 cases"))
    #expect(!report.hasPassed)
    #expect(report.cases < 20)
  }

  @Test("TST-1: a synchronous check ends when its task is cancelled")
  func synchronous() async throws {
    let property = property(try TemporaryFolder())
    let report = await Task { property.check { _ in Self.cancel() } }.value
    #expect(report.text.contains("cancelled after 1 of 1000 cases"))
  }

  @Test("TST-1: a check cancelled while it shrinks reports and saves the case known so far")
  func shrinking() async throws {
    let scratch = try TemporaryFolder()
    let property = property(scratch)
    let report = await Task {
      var failures = 0
      return await property.check { choices in
        await Task.yield()
        let value = choices.draw(below: 1_000_000)
        choices.step("value \(value)")
        guard value >= 300 else { return }
        failures += 1
        if failures == 4 { Self.cancel() }
        try Task.checkCancellation()
        try choices.require(false, "great")
      }
    }.value
    let failure = try #require(report.failure)
    guard case .failed = report.outcome else {
      Issue.record("\(report.text)")
      return
    }
    #expect(failure.message.hasPrefix("great"))
    #expect((failure.choices.first ?? 0) > 300)
    #expect(failure.shrinkStop == "the task was cancelled")
    #expect(failure.savedAt != nil)
  }

  @Test(
    "TST-1: a check cancelled before the failing case runs again reports the case without saving it"
  )
  func unconfirmed() async throws {
    let scratch = try TemporaryFolder()
    let property = property(scratch)
    let report = await Task {
      var failures = 0
      return await property.check { choices in
        await Task.yield()
        guard choices.draw(below: 1_000) >= 300 else { return }
        failures += 1
        if failures == 2 { Self.cancel() }
        try Task.checkCancellation()
        try choices.require(false, "great")
      }
    }.value
    let failure = try #require(report.failure)
    #expect(failure.message.hasPrefix("great"))
    #expect(report.text.contains("after 0 runs the task was cancelled"), "\(report.text)")
    #expect(failure.savedAt == nil)
  }
}

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
    #expect(report.text == "Property \"p\" held in all 3 cases.\n   66.7%  often\n   33.3%  rare")
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
