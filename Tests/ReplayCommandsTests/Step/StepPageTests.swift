import Foundation
import Testing

@testable import ReplayCommands

@Suite("Specs/ReplayStep.md")
struct StepPageTests {
  private func rows(under heading: String) throws -> [[String]] {
    let lines = try Repository.text("Specs/ReplayStep.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "## \(heading)"))
    return lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
      .filter { $0.hasPrefix("| ") }.dropFirst(2).map { row in
        row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      }
  }

  @Test("RPL-1 the page and the code have the same keys with the same descriptions")
  func keys() throws {
    let told = try rows(under: "Keys")
    let known = StepAction.allCases.map { action in
      [action.keys.map(\.name).joined(separator: " "), action.meaning]
    }
    #expect(told == known)
  }

  @Test("each key has one meaning, and the help page lists every key")
  func help() {
    let keys = StepAction.allCases.flatMap(\.keys)
    #expect(Set(keys).count == keys.count)
    for action in StepAction.allCases {
      for key in action.keys { #expect(StepAction(key) == action) }
      #expect(StepPage.help.lines.contains { $0.hasSuffix("  \(action.meaning)") })
    }
    #expect(StepPage.help.lines.allSatisfy { DisplayWidth.of($0) <= 100 })
  }
}
