import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("TST-1: shrinking")
struct ShrinkerTests {
  /// The report for one seed, with as many cases as the bug needs to appear.
  private static func report(_ bug: SeededBug, seed: UInt64) -> PropertyReport {
    Property(bug.name, cases: 20_000, seed: seed, settings: PropertySettings()).check(bug.body)
  }

  @Test("TST-1: every seed shrinks to the simplest case", arguments: SeededBug.all)
  func minimum(bug: SeededBug) throws {
    for seed: UInt64 in 0..<6 {
      let failure = try #require(Self.report(bug, seed: seed).failure)
      #expect(failure.steps.map(\.text) == bug.minimum, "seed \(seed)")
    }
  }

  @Test("TST-1: a case of hundreds of draws also shrinks to the simplest case")
  func long() throws {
    let list = Generator.integer(in: 0...999).list(400...4_000, mean: 300)
    let report = Property("long", cases: 10, settings: PropertySettings()).check { choices in
      let values = choices.chance(9, in: 10) ? list(choices) : []
      try choices.require(!values.contains { $0 > 600 }, "great")
    }
    // No list is shorter than 400. The one great value is the only draw that matters.
    let failure = try #require(report.failure)
    #expect(failure.choices.filter { $0 != 0 } == [1, 601], "\(failure.shrinkRuns) runs")
  }

  @Test("TST-1: coarse deletions shrink a huge case")
  func huge() throws {
    let list = Generator.integer(in: 0...999_999).list(0...20_000, mean: 9_000)
    let report = Property("huge", cases: 10, settings: PropertySettings()).check { choices in
      try choices.require(!list(choices).contains { $0 > 999_000 }, "great")
    }
    let failure = try #require(report.failure)
    #expect(failure.firstDraws > 1_000)
    #expect(failure.choices == [1, 999_001])
    #expect(failure.shrinkRuns < 400)
  }

  @Test("TST-1: a case of thousands of necessary draws shrinks to the few that are required")
  func wide() throws {
    func check(_ count: Int, shrinkRuns: Int) -> PropertyReport {
      let property = Property(
        "wide", cases: 3, shrinkRuns: shrinkRuns, settings: PropertySettings())
      return property.check { choices in
        let values = (0..<count).map { _ in choices.draw(below: 1_000) }
        try choices.require(values.reduce(0, +) < 6_000, "great")
      }
    }
    // Candidates that are examined but not run do not end it.
    let huge = try #require(check(2_000, shrinkRuns: 300).failure)
    #expect(huge.shrinkRuns == 300)
    #expect(huge.shrinkStop == "no more were allowed")
    let report = check(600, shrinkRuns: 4_096)
    let failure = try #require(report.failure)
    #expect(failure.choices.filter { $0 > 0 }.count == 7, "\(report.text)")
    #expect(failure.choices.reduce(0, +) == 6_000)
  }

  @Test("TST-1: shrinking also ends at its limits of work and time, and the report says so")
  func budgets() throws {
    func check(_ property: Property) -> PropertyReport {
      property.check { choices in
        let sum = (0..<30_000).reduce(0) { sum, _ in sum + choices.draw(below: 10) }
        try choices.require(sum < 100_000, "great")
      }
    }
    let worked = check(
      Property(
        "work", shrinkRuns: .max, shrinkDraws: 1_000_000, settings: PropertySettings()))
    let failure = try #require(worked.failure)
    #expect(failure.shrinkStop == "1000000 draws had been replayed", "\(worked.text)")
    // Only replayed draws are counted: of a case of 30,000 draws 33 or more.
    #expect(failure.shrinkRuns >= 33)
    let left = failure.choices.count { $0 > 0 }
    #expect(worked.text.contains(" to \(failure.choices.count), \(left) of them above 0:"))
    let timed = check(Property("time", shrinkTime: .zero, settings: PropertySettings()))
    #expect(timed.failure?.shrinkRuns == 0)
    #expect(timed.failure?.shrinkStop == "its 0.0 seconds were over")
    #expect(
      timed.text.contains("Perhaps not the simplest case, since after 0 runs its 0.0 seconds"))
  }

  /// The figures for the specification: SESSION_BENCH=1 swift test -c release --filter figures.
  @Test(
    "how many of 300 seeds reach the simplest case",
    .enabled(if: ProcessInfo.processInfo.environment["SESSION_BENCH"] != nil))
  func figures() throws {
    var reached = 0
    var allRuns = 0
    for bug in SeededBug.all {
      var hits = 0
      var runs = 0
      var misses: [String: Int] = [:]
      for seed: UInt64 in 0..<300 {
        let failure = try #require(Self.report(bug, seed: seed).failure)
        runs += failure.shrinkRuns
        let steps = failure.steps.map(\.text)
        if steps == bug.minimum {
          hits += 1
        } else {
          misses["\(failure.choices) \(steps)", default: 0] += 1
        }
      }
      reached += hits
      allRuns += runs
      print("\(bug.name): \(hits) of 300, \(runs / 300) runs on average \(misses)")
    }
    let whole = SeededBug.all.count * 300
    print("all: \(reached) of \(whole), \(allRuns / whole) runs on average")
  }
}
