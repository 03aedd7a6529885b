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
    let body: (Choices) -> Void = { choices in
      for _ in 0..<70_000 { _ = choices.draw(below: 2) }
    }
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
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
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
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
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
