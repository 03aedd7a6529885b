import Foundation
import Testing

/// A page of `Specs` and its tables, found by their headers.
struct SpecPage: Sendable {
  /// A row of a table, as the argument of a test.
  struct Row: Sendable, CustomTestStringConvertible {
    let cells: [String]

    var testDescription: String { cells.joined(separator: " | ") }

    subscript(index: Int) -> String {
      cells.indices.contains(index) ? cells[index] : "no such cell"
    }
  }

  /// The project's folder.
  static let root: URL = {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    return root
  }()

  /// The lines of the page, or none if it cannot be read.
  ///
  /// Tests then find tables without rows.
  let lines: [String]

  init(_ name: String) {
    let file = SpecPage.root.appendingPathComponent("Specs/" + name)
    do {
      lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    } catch {
      lines = []
    }
  }

  /// The rows of the table with this header, without code marks, or none if there is no such table.
  ///
  /// A cell with several lines (`<br>`) makes a row for each of them.
  func rows(_ head: [String]) -> [[String]] {
    guard let start = lines.firstIndex(where: { cells($0) == head }) else { return [] }
    return lines.dropFirst(start + 2).prefix { $0.hasPrefix("|") }.flatMap(expanded)
  }

  private func expanded(_ line: String) -> [[String]] {
    let cells = line.components(separatedBy: "|")
    guard let place = cells.firstIndex(where: { $0.contains("<br>") }) else {
      return [self.cells(line)]
    }
    return cells[place].components(separatedBy: "<br>").map { value in
      var row = cells
      row[place] = value
      return self.cells(row.joined(separator: "|"))
    }
  }

  private func cells(_ line: String) -> [String] {
    guard line.hasPrefix("|") else { return [] }
    return line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map {
      let trimmed = $0.trimmingCharacters(in: .whitespaces)
      let isCode = trimmed.hasPrefix("`") && trimmed.hasSuffix("`") && trimmed.count > 1
      return isCode ? String(trimmed.dropFirst().dropLast()) : trimmed
    }
  }
}
