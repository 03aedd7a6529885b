import Foundation
import Testing

/// The tables of `Specs/Calls.md`, by their headings.
enum CallTables {
  struct Row: Sendable, CustomTestStringConvertible {
    let cells: [String]

    var testDescription: String { cells.joined(separator: " | ") }

    subscript(index: Int) -> String {
      cells.indices.contains(index) ? cells[index] : "no such cell"
    }
  }

  static let targets = rows(["wire at", "address", "Authorization", "the call is"])
  static let rules = rows(["target", "stage", "what happened", "the session shows", "next"])

  /// The rows below the table head of these words; none where there is no such table.
  private static func rows(_ head: [String]) -> [Row] {
    let lines = text.components(separatedBy: "\n")
    guard let start = lines.firstIndex(where: { cells($0) == head }) else { return [] }
    return lines.dropFirst(start + 2).prefix { $0.hasPrefix("|") }.map { Row(cells: cells($0)) }
  }

  private static func cells(_ line: String) -> [String] {
    guard line.hasPrefix("|") else { return [] }
    return line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map {
      $0.trimmingCharacters(in: .whitespaces).filter { $0 != "`" }
    }
  }

  /// Empty where the file cannot be read, which the tests see as a table without rows.
  private static let text: String = {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let file = root.appendingPathComponent("Specs/Calls.md")
    do { return try String(contentsOf: file, encoding: .utf8) } catch { return "" }
  }()
}
