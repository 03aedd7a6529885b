import ChildProcesses
import Foundation
import SessionTestKit
import Synchronization
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
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
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

@Suite("TST-1: reports")
struct ReportTests {
  private func failing() -> PropertyReport {
    Property("fails", settings: PropertySettings()).check { choices in
      choices.attach(journal: "/tmp/a b's.journal")
      try choices.require(choices.draw(below: 100) < 10, "too great")
    }
  }

  @Test("TST-1: a failing property is one issue at the caller's line, with the whole text")
  func oneIssue() {
    let report = failing()
    let issues = Mutex<[String]>([])
    let line = #line + 2
    withKnownIssue {
      expect(report)
    } matching: { issue in
      issues.withLock { $0.append(contentsOf: issue.comments.map(\.rawValue)) }
      return issue.sourceLocation?.line == line
    }
    // A missing journal is named and fails nothing else.
    let problem = "\nNot attached, since it cannot be read: /tmp/a b's.journal"
    #expect(issues.withLock { $0 } == [report.text + problem])
  }

  @Test("TST-1: a property that holds records no issue")
  func noIssue() { expect(Property("holds", settings: PropertySettings()).check { _ in }) }

  #if compiler(>=6.3)
  @Test("TST-1: a warning is recorded and fails nothing")
  func warning() {
    let settings = PropertySettings(environment: ["SESSION_CASES": "many"])
    let report = Property("warns", settings: settings).check { _ in }
    withKnownIssue {
      expect(report)
    } matching: { issue in
      issue.severity == .warning && issue.comments.map(\.rawValue) == [report.text]
    }
  }
  #endif

  @Test("TST-1: steps and messages of several lines stay in their columns")
  func manyLines() {
    let report = Property("p", settings: PropertySettings()).check { choices in
      choices.step("one\ntwo more", state: "s\nt")
      choices.step("three", state: "u")
      throw Falsified("first\nsecond", fileID: "F", line: 1)
    }
    let expected = """
      Property "p" does not hold: case 1 failed.
        first
        second (F:1)
      The case:
         1  one    s
            two more  t
         2  three  u
      Draws: []
      """
    #expect(report.text.hasPrefix(expected + "\n"), "\(report.text)")
  }

  @Test("TST-1: a label of several lines stays in its row of the table")
  func label() {
    let report = Property("p", cases: 2, requiredLabels: ["c\nd"], settings: PropertySettings())
      .check { $0.label("a\nb") }
    #expect(report.labelText == "  100.0%  a b")
    #expect(report.text.contains("was labelled \"c d\""), "\(report.text)")
  }

  @Test("TST-1: the report shows the command that inspects each journal")
  func journals() {
    var report = failing()
    report.attach(journal: "/tmp/plain.journal")
    #expect(
      report.text.hasSuffix(
        """
        Journal: /tmp/a b's.journal
          sessionreplay timeline '/tmp/a b'\\''s.journal'
        Journal: /tmp/plain.journal
          sessionreplay timeline /tmp/plain.journal
        """))
  }
}
