import Foundation
import Testing

/// The tables of `Specs/Answers.md`, by their headings.
enum AnswerTables {
  struct Row: Sendable, CustomTestStringConvertible {
    let cells: [String]

    var testDescription: String { cells.joined(separator: " | ") }

    subscript(index: Int) -> String {
      cells.indices.contains(index) ? cells[index] : "no such cell"
    }
  }

  static let failures = rows(["status", "body", "kind", "code kept"])
  static let waits = rows(["Retry-After", "Date", "milliseconds"])
  static let bodies = rows(["body", "problem"])
  static let badMembers = rows(["at", "member", "value", "problem"])
  static let lifetimes = rows(["lifetime", "answer", "claims", "Date", "result"])
  static let calls = rows(["status", "body", "meaning"])
  static let interceptions = rows(["at", "status", "Content-Type", "body", "meaning"])
  static let lives = rows(["expires_in", "claims", "before", "life"])
  static let goodMembers = rows(["at", "member", "value"])

  /// The rows below the table head of these words; none where there is no such table.
  private static func rows(_ head: [String]) -> [Row] {
    let lines = text.components(separatedBy: "\n")
    guard let start = lines.firstIndex(where: { cells($0) == head }) else { return [] }
    return lines.dropFirst(start + 2).prefix { $0.hasPrefix("|") }.map { Row(cells: cells($0)) }
  }

  private static func cells(_ line: String) -> [String] {
    guard line.hasPrefix("|") else { return [] }
    return line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map {
      let trimmed = $0.trimmingCharacters(in: .whitespaces)
      return trimmed.hasPrefix("`") ? String(trimmed.dropFirst().dropLast()) : trimmed
    }
  }

  /// Empty where the file cannot be read, which the tests see as a table without rows.
  private static let text: String = {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let file = root.appendingPathComponent("Specs/Answers.md")
    do { return try String(contentsOf: file, encoding: .utf8) } catch { return "" }
  }()
}
