import Foundation
import Testing

/// Checks that each name on `Specs/Seeds.md` exists.
@Suite("Specs/Seeds.md")
struct SeedPageTests {
  private let tree = SourceTree()
  private static let apps = ["EDU", "B2C", "OFF", "TIK", "API"]

  /// The rows of a document's section: number, statement and evidence.
  private func rows(of app: String) throws -> [[String]] {
    let lines = try tree.text(of: "Specs/Seeds.md").components(separatedBy: "\n")
    guard let start = lines.firstIndex(where: { $0.hasPrefix("## \(app)") }) else { return [] }
    return lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
      .filter { $0.hasPrefix("| \(app)-") }
      .map { line in
        line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      }
  }

  /// What a name on the page may mean: a scenario, a test, or a file below the root or `Specs`.
  private func names() throws -> Set<String> {
    let tests = try tree.swiftFiles(below: "Tests")
      .map { ($0 as NSString).lastPathComponent.replacing(".swift", with: "") }
    return Set(tests).union(try ScenarioClaims.all(in: tree).map(\.name))
  }

  private func exists(_ path: String) -> Bool {
    ["", "Specs/", "Specs/Decisions/"].contains { folder in
      FileManager.default.fileExists(atPath: tree.root.path + "/" + folder + path)
    }
  }

  @Test("POL-4 every statement names its evidence or the reason for a departure", arguments: apps)
  func evidence(app: String) throws {
    let rows = try rows(of: app)
    #expect(rows.count >= 20)
    let known = try names()
    for (index, row) in rows.enumerated() {
      try #require(row.count == 3, "\(row)")
      #expect(row[0] == "\(app)-\(index + 1)", "the statements are numbered in their order")
      #expect(row[1].count > 8, "\(row[0]) says nothing")
      let named = row[2].matches(of: /`([^`]+)`/).map { String($0.1) }
      for name in named {
        #expect(known.contains(name) || exists(name), "\(row[0]): there is no \(name)")
      }
      let reason = row[2].firstRange(of: "Departs:").map { row[2][$0.upperBound...] }
      #expect(!named.isEmpty || (reason?.count ?? 0) > 40, "\(row[0]) has no evidence")
      if let reason { #expect(reason.count > 40, "\(row[0]) departs without a reason") }
    }
  }

  @Test("POL-4 the page has a section for each of the five documents")
  func sections() throws {
    let text = try tree.text(of: "Specs/Seeds.md")
    let titles = text.components(separatedBy: "\n").filter { $0.hasPrefix("## ") }
    #expect(titles.map { String($0.dropFirst(3).prefix(3)) } == Self.apps)
  }
}
