import Foundation
import Testing

@testable import SessionTestKit

@Suite("TST-1: sweeps")
struct SweepTests {
  private let still = PropertySettings()

  private func taken(_ name: String, _ share: Int, of count: Int = 600) -> [Int] {
    Sweep(name, takingOneOf: share, isWhole: false).places(of: 0..<count)
  }

  @Test(
    "TST-1 a daily run takes one of each group of adjacent places, the same each time")
  func day() {
    for share in 2...7 {
      let places = taken("a sweep", share, of: share * 50)
      #expect(places.map { $0 / share } == Array(0..<50))
      #expect(places == taken("a sweep", share, of: share * 50))
      #expect(places != taken("another sweep", share, of: share * 50))
      // It contains places of every remainder, so that no regular pattern is missed.
      #expect(Set(places.map { $0 % share }) == Set(0..<share))
    }
  }

  @Test("TST-1 a whole run takes all places, and a daily run at least one")
  func whole() {
    #expect(Sweep("all", takingOneOf: 9, isWhole: true).places(of: 0..<30) == Array(0..<30))
    #expect(Sweep("all", takingOneOf: 9, isWhole: true).cases(of: 200) == 200)
    #expect(Sweep("some", takingOneOf: 9, isWhole: false).cases(of: 200) == 23)
    #expect(Sweep("one", takingOneOf: 9, isWhole: false).cases(of: 1) == 1)
    #expect(Sweep("each", takingOneOf: 0, isWhole: false).places(of: 0..<3) == [0, 1, 2])
    for name in ["a", "b", "c", "d"] {
      #expect(taken(name, 9, of: 1) == [0])
      #expect(taken(name, 9, of: 0).isEmpty)
    }
  }

  /// Three draws of four values; a sweep takes its share.
  private func enumerate(_ isWhole: Bool, failing wrong: [UInt64] = []) -> (
    report: PropertyReport, seen: [[UInt64]]
  ) {
    var seen: [[UInt64]] = []
    let report = Property("p", settings: still).exhaustive { choices in
      let draws = (0..<3).map { _ in choices.draw(below: 4) }
      try choices.look(Sweep("draws", takingOneOf: 4, isWhole: isWhole))
      seen.append(draws)
      try choices.require(draws != wrong, "wrong")
    }
    return (report, seen)
  }

  @Test("TST-1 a sweep of an enumeration takes cases from all parts of it, and the report says so")
  func enumerated() {
    let (some, seen) = enumerate(false)
    #expect(some.cases == 16 && some.discarded == 0 && some.hasPassed)
    #expect(some.coverage == .someCases)
    #expect(some.text.contains("16 cases from everywhere in the enumeration, there are more"))
    #expect(Set(seen.map { $0[0] * 4 + $0[1] }) == Set(0..<16))
    #expect(Set(seen.map { $0[2] }).count == 4)
    let (all, _) = enumerate(true)
    #expect(all.cases == 64 && all.coverage == .everyCase)
  }

  @Test("TST-1 every case of a selected place runs, whatever is drawn after the selection")
  func behind() {
    var seen: [UInt64: Set<UInt64>] = [:]
    let report = Property("p", settings: still).exhaustive { choices in
      let place = choices.draw(below: 40)
      try choices.look(Sweep("draws", takingOneOf: 4, isWhole: false))
      seen[place, default: []].insert(choices.draw(below: 3) * 2 + choices.draw(below: 2))
    }
    #expect(report.cases == 60)
    #expect(Set(seen.keys.map { $0 / 4 }) == Set(0..<10) && seen.count == 10)
    #expect(seen.values.allSatisfy { $0.count == 6 })
  }

  @Test("TST-1 a failure of a whole run can be replayed in a daily run that skips its place")
  func replayed() throws {
    let (_, seen) = enumerate(false)
    let left = try #require(
      (0..<4 as Range<UInt64>).map { [3, 3, $0] }.first { !seen.contains($0) })
    #expect(enumerate(false, failing: left).report.hasPassed)
    let failure = try #require(enumerate(true, failing: left).report.failure)
    #expect(failure.choices == left.trimmed)
    let settings = PropertySettings(environment: ["SESSION_REPLAY": failure.replay])
    let again = Property("p", settings: settings).exhaustive { choices in
      let draws = (0..<3).map { _ in choices.draw(below: 4) }
      try choices.look(Sweep("draws", takingOneOf: 4, isWhole: false))
      try choices.require(draws != left, "wrong")
    }
    #expect(again.failure?.choices == left.trimmed)
  }

  @Test("TST-1 a sweep skips no random cases")
  func random() {
    let report = Property("p", cases: 50, settings: still).check { choices in
      _ = choices.draw(below: 4)
      try choices.look(Sweep("draws", takingOneOf: 4, isWhole: false))
    }
    #expect(report.cases == 50)
  }

  @Test("TST-1 SESSION_SWEEP is whole, empty or not set, so a misspelled word is noticed")
  func environment() {
    #expect(Sweep.isWhole(["SESSION_SWEEP": "whole"]))
    #expect(!Sweep.isWhole([:]))
    #expect(["", "whole"].contains(ProcessInfo.processInfo.environment["SESSION_SWEEP"] ?? ""))
  }
}
