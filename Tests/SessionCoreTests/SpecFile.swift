import Foundation

/// A file of the repository, and the tables of a Markdown page.
struct SpecFile {
  let lines: [String]

  /// The repository's root, relative to this source file.
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  init(_ path: String) throws {
    let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// The rows of the first table under the heading that ends with `heading`, without its own
  /// heading rows; each row's cells by the column's name, code marks taken off.
  func table(under heading: String) -> [[String: String]] {
    let start = lines.firstIndex { $0.hasPrefix("#") && $0.hasSuffix(" " + heading) }
    guard let start else { return [] }
    let section = lines[(start + 1)...].prefix { !$0.hasPrefix("#") }
    let rows = section.drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }.map(Self.cells)
    guard let names = rows.first else { return [] }
    return rows.dropFirst(2).map { cells in
      Dictionary(zip(names, cells), uniquingKeysWith: { first, _ in first })
    }
  }

  private static func cells(_ row: String) -> [String] {
    row.dropFirst().split(separator: "|", omittingEmptySubsequences: false).dropLast().map {
      $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
    }
  }
}
