import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import SessionTestSupport
import Testing

/// Checks that the properties reach all cases.
@Suite("Health of the properties")
struct CoverageTests {
  /// The rows of Specs/Transitions.md, as "state event condition".
  private func rows() throws -> Set<String> {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appending(path: "Specs/Transitions.md"), encoding: .utf8)
    let kinds = Set(SessionState.Kind.allCases.map(\.rawValue))
    let events = Set(SessionEvent.Kind.allCases.map(\.description))
    let cells = page.split(separator: "\n").map { line in
      line.split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
    }
    return Set(
      cells.filter { $0.count > 6 && kinds.contains($0[1]) && events.contains($0[2]) }
        .map { "\($0[1]) \($0[2])" + ($0[3].isEmpty ? "" : " \($0[3])") })
  }

  @Test("K1 STA-2 TST-1 random histories reach every row of the table")
  func everyRow() throws {
    let rows = try rows()
    #expect(rows.count == 23)
    var hit: [String: Int] = [:]
    #expect(Set(TransitionRow.all.map(\.label)) == rows)
    expect(
      Property(
        "K1 histories meet every row", cases: 200,
        requiredLabels: TransitionRow.all.map(\.label), regressions: RegressionFolder()
      ).check { choices in
        var model = SessionModel()
        for event in History.any()(choices).events {
          if let row = TransitionRow(event, after: model)?.label {
            hit[row, default: 0] += 1
            choices.label(row)
          }
          model.take(event)
        }
      })
    #expect(rows.subtracting(hit.keys).isEmpty)
    #expect(Set(hit.keys).subtracting(rows).isEmpty)
  }

  @Test("K2 TST-1 random runs contain every kind of input and effect, and every timer fires")
  func everyInput() {
    var coverage = CoordinatorCoverage()
    expect(
      Property("K2 runs meet every input and effect", cases: 1500, regressions: RegressionFolder())
        .check { choices in
          coverage.add(try CoordinatorRun.random(choices, rules: []).coverage)
        })
    #expect(coverage.gaps == [])
    #expect(coverage.conflicts > 100)
  }

  @Test("K3 TST-1 unreached cases are reported")
  func gaps() throws {
    let nothing = CoordinatorCoverage().gaps
    #expect(nothing.count { $0.hasPrefix("input") } == 36)
    #expect(nothing.count { $0.hasPrefix("effect") } == 18)
    #expect(nothing.count { $0.hasPrefix("timer") } == SessionTimer.allCases.count)
    let choices = Choices(replaying: [])
    let little = try CoordinatorRun.random(choices, rules: []).coverage.gaps
    #expect(!little.isEmpty && little.count < nothing.count)
    let login = TransitionRow(.login(as: "ada", token: 1), after: SessionModel())?.label
    #expect(try rows().contains(#require(login)))
  }
}
