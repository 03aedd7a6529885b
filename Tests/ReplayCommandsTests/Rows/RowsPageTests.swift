import ChildProcesses
import Foundation
import SessionExplain
import Testing

@testable import ReplayCommands

@Suite("Specs/ReplayRows.md")
struct RowsPageTests {
  /// The first cells of the tables under a heading.
  private func tables(under heading: String) throws -> [[String]] {
    let lines = try Repository.text("Specs/ReplayRows.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "## \(heading)"))
    let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
    return section.split { !$0.hasPrefix("|") }.map { table in
      table.dropFirst(2).compactMap {
        $0.split(separator: "|").first?.trimmingCharacters(in: .whitespaces)
      }
    }
  }

  @Test("RPL-7 the page and the code have the same columns in the same order")
  func columns() throws {
    #expect(try tables(under: "ends") == [SessionRow.columns.map(\.name)])
    let refreshes = try tables(under: "refreshes")
    #expect(
      refreshes == [RefreshRow.columns.map(\.name), RefreshRow.Outcome.allCases.map(\.rawValue)])
  }

  @Test("RPL-7 each row has every column in order", arguments: ["ends", "refreshes"])
  func keys(_ command: String) throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let run = ToolRun.inProcess([command, folder.path])
    let columns = command == "ends" ? SessionRow.columns : RefreshRow.columns
    let lines = run.output.split(separator: "\n")
    #expect(lines.count > 5)
    for line in lines {
      let keys = line.matches(of: /[{,]"([A-Za-z0-9]+)":/).map { String($0.output.1) }
      #expect(keys == columns.map(\.name))
    }
    let rows = try run.objects()
    #expect(rows.count == lines.count)
    for row in rows {
      for column in columns where !column.isOptional {
        #expect(!(row[column.name] is NSNull), "\(column.name)")
      }
    }
  }
}
