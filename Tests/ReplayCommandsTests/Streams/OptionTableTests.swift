import Foundation
import Testing

@testable import ReplayCommands

@Suite("Specs/ReplayTool.md, options")
struct OptionTableTests {
  @Test("RPL-5 the page and the code have the same commands, operands and options")
  func options() throws {
    let lines = try Repository.text("Specs/ReplayTool.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "## Options"))
    let rows = lines[start...].dropFirst().prefix { !$0.hasPrefix("## ") }
      .filter { $0.hasPrefix("| ") }.dropFirst(2)
      .map { row in
        row.split(separator: "|", omittingEmptySubsequences: false).dropFirst()
          .map { $0.trimmingCharacters(in: .whitespaces) }
      }
    let syntaxes = CommandList.all.map { $0.syntax }
    #expect(rows.map { $0[0] } == syntaxes.map(\.name))
    #expect(CommandList.order == syntaxes.map(\.name))
    for row in rows {
      let syntax = try #require(syntaxes.first { $0.name == row[0] }, "\(row[0])")
      let operands = syntax.operands.map { "`\($0.spelling)`" }.joined(separator: " ")
      #expect(row[1] == operands, "\(row[0])")
      let options = syntax.options.map { option in
        "`--\(option.name)" + (option.letter.map { " -\($0)" } ?? "") + "`"
      }
      #expect(row[2] == options.joined(separator: " "), "\(row[0])")
    }
  }
}
