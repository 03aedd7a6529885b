import Foundation
import Testing

/// Compares the table of requirements with the tests and scenarios that carry its ids.
@Suite("Requirements")
struct RequirementTests {
  private let tree = SourceTree()
  private static let page = "Specs/Requirements.md"

  @Test("every requirement has a test that carries its id, or is marked as open")
  func table() throws {
    let page = try tree.text(of: Self.page)
    let (tests, scenarios) = (try testFiles(), try scenarios())
    var ids: [String] = []
    let lines = page.components(separatedBy: "\n").map { line in
      guard
        let row = line.wholeMatch(of: /\| ([A-Z]{3}-\d+) \| ([^|]*) \|[^|]*\| ([^|]*) \|/)
      else { return line }
      let id = String(row.1)
      ids.append(id)
      let isOpen = tests[id] == nil && row.3 == "open"
      #expect(tests[id] != nil || isOpen, "no test carries \(id)")
      let shown = isOpen ? "open" : cell(tests[id])
      return "| \(id) | \(row.2) | \(cell(scenarios[id])) | \(shown) |"
    }
    #expect(ids.count >= 110 && Set(ids).count == ids.count)
    let actual = lines.joined(separator: "\n")
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      try actual.write(
        to: tree.root.appending(path: Self.page), atomically: true, encoding: .utf8)
    } else {
      let isUpToDate = page == actual
      #expect(isUpToDate, "UPDATE_GOLDEN=1 swift test --filter Requirements writes the table")
    }
  }

  @Test("every id that a test or a scenario carries is on the page")
  func knownIDs() throws {
    let page = try tree.text(of: Self.page)
    for id in Set(try testFiles().keys).union(try scenarios().keys) {
      #expect(page.contains("| \(id) |"), "\(id) is no requirement")
    }
  }

  /// The first four names, and the number of the others.
  private func cell(_ names: Set<String>?) -> String {
    guard let names, !names.isEmpty else { return "–" }
    let shown = names.sorted().prefix(4)
    let rest = names.count - shown.count
    return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  /// The test files that have a test or a suite with an id in its display name.
  private func testFiles() throws -> [String: Set<String>] {
    var files: [String: Set<String>] = [:]
    let id = /\b(?:STA|LOG|REF|RES|OUT|CTX|STO|INT|POL|JRN|RPL|TST|WEB|SYN|SCL|LCH|DOC)-\d+\b/
    for file in try tree.swiftFiles(below: "Tests") {
      let name = (file as NSString).lastPathComponent.replacing(".swift", with: "")
      // The first literal after @Test or @Suite, on the same line or the next.
      for test in try tree.text(of: file).matches(of: /@(?:Test|Suite)\(\s*"([^"]*)"/) {
        for id in test.1.matches(of: id) {
          files[String(id.0), default: []].insert(name)
        }
      }
    }
    return files
  }

  /// The scenarios that claim to prove an id.
  private func scenarios() throws -> [String: Set<String>] {
    var names: [String: Set<String>] = [:]
    for scenario in try ScenarioClaims.all(in: tree) {
      for id in scenario.proves { names[id, default: []].insert(scenario.name) }
    }
    return names
  }
}
