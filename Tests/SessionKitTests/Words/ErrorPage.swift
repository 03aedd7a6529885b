import Foundation

/// The tables of `Specs/Errors.md`, by their heads.
struct ErrorPage {
  private let lines: [String]

  init() throws {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let file = root.appendingPathComponent("Specs/Errors.md")
    lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
  }

  /// The rows of the table with this head; none where there is no such table.
  func rows(_ head: [String]) -> [[String]] {
    guard let start = lines.firstIndex(where: { cells($0) == head }) else { return [] }
    return lines.dropFirst(start + 2).prefix { $0.hasPrefix("|") }.map(cells)
  }

  private func cells(_ line: String) -> [String] {
    guard line.hasPrefix("|") else { return [] }
    return line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }
}
