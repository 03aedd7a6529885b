import Foundation
import SessionTestKit
import Testing

@Suite("TST-1: shrinking")
struct ShrinkerTests {
  /// The report on one seed, with as many cases as the bug needs to show.
  private static func report(_ bug: SeededBug, seed: UInt64) -> PropertyReport {
    Property(bug.name, cases: 20_000, seed: seed, settings: PropertySettings()).check(bug.body)
  }

  @Test("TST-1: every seed ends at the simplest case", arguments: SeededBug.all)
  func minimum(bug: SeededBug) throws {
    for seed: UInt64 in 0..<6 {
      let failure = try #require(Self.report(bug, seed: seed).failure)
      #expect(failure.steps.map(\.text) == bug.minimum, "seed \(seed)")
    }
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
