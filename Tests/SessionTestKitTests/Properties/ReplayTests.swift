import ChildProcesses
import Foundation
import SessionTestKit
import Testing

@Suite("TST-1: replays")
struct ReplayTests {
  private func settings(_ replay: String) -> PropertySettings {
    PropertySettings(environment: ["SESSION_REPLAY": replay])
  }

  @Test("TST-1: an empty variable has no effect")
  func empty() {
    let names = ["SESSION_REPLAY", "SESSION_CASES", "SESSION_SEED", "SESSION_LABELS"]
    let environment = Dictionary(uniqueKeysWithValues: names.map { ($0, "") })
    #expect(PropertySettings(environment: environment) == PropertySettings())
    #expect(!PropertySettings(environment: ["SESSION_LABELS": "0"]).showsLabels)
  }

  @Test("TST-1: a replayed case that is discarded now does not count as passed")
  func discarded() {
    let code = ReplayCode(property: "p", draws: [7]).text
    let report = Property("p", settings: settings(code)).check { choices in
      try choices.assume(choices.draw(below: 10) != 7)
    }
    #expect(!report.hasPassed)
    #expect(report.text.contains("the case is discarded now"))
  }

  @Test(
    "TST-1: a code that is too long for the environment is stored in a file, named by the variable")
  func file() throws {
    func check(_ settings: PropertySettings) -> PropertyReport {
      Property("long code", shrinkRuns: 0, settings: settings).check { choices in
        let values = (0..<3_000).map { _ in choices.draw(below: 1_000) }
        for value in values { choices.step("value \(value)") }
        try choices.require(values[0] < 200, "great")
      }
    }
    let report = check(PropertySettings())
    let failure = try #require(report.failure)
    #expect(failure.replay.count > 5_000)
    #expect(report.text.utf8.count < 40_000, "the report is elided")
    #expect(report.text.contains(" and \(failure.choices.count - 200) more\n"))
    #expect(report.text.contains("\n      … and 2000 more lines\n"))
    #expect(report.text.contains("\n3000  value "))
    #expect(failure.shrinkStop != nil)
    #expect(report.text.contains("\nPerhaps not the simplest case, since after 0 runs"))
    let line = try #require(report.text.split(separator: "\n").first { $0.hasPrefix("Run it") })
    let words = try #require(line.split(separator: "=").last).split(separator: " ")
    let path = String(try #require(words.first))
    #expect(path.hasPrefix("/"))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == failure.replay)
    let again = check(settings(path))
    #expect(again.coverage == .replayed)
    #expect(again.failure?.choices == failure.choices)
    #expect(check(settings("/no/such/file")).text.contains("SESSION_REPLAY: /no/such/file cannot"))
  }

  @Test("TST-1: the variable may name a saved case")
  func savedCase() throws {
    let scratch = try TemporaryFolder()
    func check(_ settings: PropertySettings) -> PropertyReport {
      let folder = RegressionFolder(path: scratch.path)
      return Property("p", regressions: folder, settings: settings).check { choices in
        try choices.require(choices.draw(below: 1_000) < 300, "great")
      }
    }
    let path = try #require(check(PropertySettings()).failure?.savedAt)
    let report = check(settings(path))
    #expect(report.coverage == .replayed)
    #expect(report.failure?.choices == [300])
  }

  @Test("TST-1: invalid bounds of an enumeration are refused")
  func bounds() {
    let property = Property("p", settings: PropertySettings())
    var runs = 0
    let body: (Choices) -> Void = { choices in
      runs += 1
      _ = choices.draw(below: 2)
    }
    #expect(property.exhaustive(depth: -1, body).text.contains("the depth is -1, less than 0"))
    #expect(property.exhaustive(width: 0, body).text.contains("the width is 0"))
    #expect(runs == 0)
    let one = property.exhaustive(depth: 1, width: 1, body).text
    #expect(one == "Property \"p\" held in the only case within 1 draw and values below 1.")
  }

  @Test("TST-1: labels of a property that holds are printed on standard error if requested")
  func labels() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let asked = PropertySettings(environment: ["SESSION_LABELS": "1"])
      _ = Property("asked", settings: asked).exhaustive { choices in
        choices.label(choices.draw(below: 2) == 0 ? "zero" : "one")
      }
      _ = Property("silent", settings: PropertySettings()).check { $0.label("zero") }
      let code = ReplayCode(property: "again", draws: [])
      _ = Property("again", settings: PropertySettings(environment: ["SESSION_REPLAY": code.text]))
        .check { _ in }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    let asked = "Property \"asked\" held in all 2 cases.\n   50.0%  one\n   50.0%  zero\n"
    #expect(text.contains(asked), "\(text)")
    #expect(!text.contains("silent"))
    #expect(text.contains("Property \"again\" held in the replayed case.\n"))
  }
}
