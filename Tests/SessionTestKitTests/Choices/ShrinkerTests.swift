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
      Property("work", shrinkRuns: .max, shrinkDraws: 1_000_000, settings: PropertySettings()))
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

/// A property that is wrong in a known way, and the simplest case that shows it.
struct SeededBug: Sendable, CustomTestStringConvertible {
  let name: String
  /// The steps of the only simplest case.
  let minimum: [String]
  let body: @Sendable (Choices) throws -> Void

  var testDescription: String { name }

  private init(
    _ name: String, minimum: [String], _ body: @escaping @Sendable (Choices) throws -> Void
  ) {
    self.name = name
    self.minimum = minimum
    self.body = body
  }

  /// A bug in a list of values that are drawn in sequence.
  private static func inList<Value>(
    _ name: String, of element: Generator<Value>, _ minimum: [String],
    isWrong: @escaping @Sendable ([Value]) -> Bool
  ) -> SeededBug {
    let generator = element.list(0...60, mean: 12)
    return SeededBug(name, minimum: minimum) { choices in
      let values = generator(choices)
      for value in values { choices.step("\(value)") }
      try choices.require(!isWrong(values), "wrong")
    }
  }

  private static let commands = Generator<String>.element(
    of: "wait", "login", "refresh", "switch", "expire", "late refresh", "logout")

  static let all: [SeededBug] = [
    inList("a sum over 1000", of: .integer(in: 0...1_000), ["1", "1000"]) {
      $0.reduce(0, +) > 1_000
    },
    inList("a sum over 1000 of small values", of: .integer(in: 0...400), ["201", "400", "400"]) {
      $0.reduce(0, +) > 1_000
    },
    inList("two equal events apart", of: commands, ["wait", "wait", "wait"]) { events in
      events.indices.contains { one in
        events.indices.contains { $0 > one + 1 && events[$0] == events[one] }
      }
    },
    inList("a pair of sum 200", of: .integer(in: 0...1_000), ["0", "200"]) { values in
      values.indices.contains { one in values[..<one].contains { $0 + values[one] == 200 } }
    },
    inList("two values 3 apart", of: .integer(in: 0...100), ["0", "3"]) { values in
      values.contains { one in values.contains { $0 == one + 3 } }
    },
    inList("login, expire, late refresh", of: commands, ["login", "expire", "late refresh"]) {
      events in
      var wanted = ["login", "expire", "late refresh"]
      for event in events where event == wanted.first { wanted.removeFirst() }
      return wanted.isEmpty
    },
    inList("not sorted", of: .integer(in: -500...500), ["-499", "-500"]) { values in
      zip(values, values.dropFirst()).contains { $0 > $1 }
    },
    inList("three different values", of: .integer(in: 0...9_999), ["0", "1", "2"]) {
      Set($0).count >= 3
    },
    inList("a value over 12345", of: .integer(in: 0...1_000_000), ["12346"]) { values in
      values.contains { $0 > 12_345 }
    },
    SeededBug("a list that begins with its length", minimum: ["0", "50"]) { choices in
      let values = (0..<choices.draw(in: 0...30)).map { _ in choices.draw(in: 0...99) }
      for value in values { choices.step("\(value)") }
      try choices.require(!values.dropFirst().contains { $0 >= 50 }, "wrong")
    },
    SeededBug("events with different payloads", minimum: ["switch 0 7", "logout"]) { choices in
      var events: [String] = []
      while events.count < 40, choices.chance(12, in: 13) {
        choices.span {
          switch choices.draw(below: 4) {
          case 0: events.append("logout")
          case 1: events.append("login \(choices.draw(below: 50))")
          case 2: events.append("switch \(choices.draw(below: 9)) \(choices.draw(below: 9))")
          default: events.append("refresh \(choices.draw(below: 5)) 0 \(choices.draw(below: 5))")
          }
        }
      }
      for event in events { choices.step(event) }
      let start = events.firstIndex { $0.hasPrefix("switch") && $0.hasSuffix("7") }
      try choices.require(!(start.map { events[$0...].contains("logout") } ?? false), "wrong")
    },
    SeededBug("two values that lie far apart", minimum: ["1", "999"]) { choices in
      let values = (0..<40).map { _ in choices.draw(in: 0...999) }
      for value in values where value > 0 { choices.step("\(value)") }
      try choices.require(!(values[0] + values[39] >= 1_000 && values[0] < 990), "wrong")
    },
  ]
}
