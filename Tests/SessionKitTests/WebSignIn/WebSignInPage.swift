import Foundation

/// The tables of `Specs/WebSignIn.md`, by their heads.
enum WebSignInPage {
  /// The rows of the table with this head, code marks taken off; none where there is no such table.
  static func rows(_ head: [String]) -> [[String]] {
    let lines = text.components(separatedBy: "\n")
    guard let start = lines.firstIndex(where: { cells($0) == head }) else { return [] }
    return lines.dropFirst(start + 2).prefix { $0.hasPrefix("|") }.map(cells)
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
    let file = root.appendingPathComponent("Specs/WebSignIn.md")
    do { return try String(contentsOf: file, encoding: .utf8) } catch { return "" }
  }()
}
