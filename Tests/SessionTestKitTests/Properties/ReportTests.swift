import SessionTestKit
import Synchronization
import Testing

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
  func noIssue() {
    expect(Property("holds", settings: PropertySettings()).check { _ in })
  }

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
