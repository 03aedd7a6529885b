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
      guard let row = line.wholeMatch(of: /\| ([A-Z]{3}-\d+) \| ([^|]*) \|[^|]*\| ([^|]*) \|/)
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
      try actual.write(to: tree.root.appending(path: Self.page), atomically: true, encoding: .utf8)
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
    let id = /\b(?:STA|LOG|REF|RES|OUT|CTX|STO|INT|POL|JRN|RPL|TST|WEB|SYN|SCL|LCH|DOC|ACC)-\d+\b/
    for file in try tree.swiftFiles(below: "Tests") {
      let name = (file as NSString).lastPathComponent.replacing(".swift", with: "")
      // The first literal after @Test or @Suite, on the same line or the next.
      for test in try tree.text(of: file).matches(of: /@(?:Test|Suite)\(\s*"([^"]*)"/) {
        for id in test.1.matches(of: id) { files[String(id.0), default: []].insert(name) }
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

/// Checks that each name on `Specs/Seeds.md` exists.
@Suite("Specs/Seeds.md")
struct SeedPageTests {
  private let tree = SourceTree()
  private static let apps = ["EDU", "B2C", "OFF", "TIK", "API"]

  /// The rows of a document's section: number, statement and evidence.
  private func rows(of app: String) throws -> [[String]] {
    let lines = try tree.text(of: "Specs/Seeds.md").components(separatedBy: "\n")
    guard let start = lines.firstIndex(where: { $0.hasPrefix("## \(app)") }) else { return [] }
    return lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }.filter {
      $0.hasPrefix("| \(app)-")
    }.map { line in line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
  }

  /// What a name on the page may mean: a scenario, a suite or a file of tests.
  private func names() throws -> Set<String> {
    let tests = try tree.swiftFiles(below: "Tests").flatMap { file in
      [(file as NSString).lastPathComponent.replacing(".swift", with: "")]
        + (try tree.tests(of: file).map(\.type))
    }
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
