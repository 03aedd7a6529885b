import Foundation
import Testing

/// The table of what the five apps need, against the tests and scenarios that bear its ids.
@Suite("Requirements")
struct RequirementTests {
  private let house = House()
  private static let page = "Specs/Requirements.md"

  @Test("every requirement has a test that bears its id, and the page names tests and scenarios")
  func table() throws {
    let page = try house.text(of: Self.page)
    let (tests, scenarios) = (try bearers(), try scenarios())
    var count = 0
    let lines = page.components(separatedBy: "\n").map { line in
      guard let row = line.wholeMatch(of: /\| ([A-Z]{3}-\d+) \| ([^|]*) \|.*\|/) else {
        return line
      }
      count += 1
      let id = String(row.1)
      #expect(tests[id] != nil, "no test bears \(id)")
      return "| \(id) | \(row.2) | \(cell(scenarios[id])) | \(cell(tests[id])) |"
    }
    #expect(count >= 50)
    let actual = lines.joined(separator: "\n")
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      try actual.write(
        to: house.root.appending(path: Self.page), atomically: true, encoding: .utf8)
    } else {
      let isUpToDate = page == actual
      #expect(isUpToDate, "UPDATE_GOLDEN=1 swift test --filter Requirements writes the table")
    }
  }

  @Test("what a test or a scenario bears is an id of the page, or of a room that it is not about")
  func known() throws {
    let page = try house.text(of: Self.page)
    let elsewhere: Set<Substring> = ["JRN", "RPL", "TST"]
    for id in Set(try bearers().keys).union(try scenarios().keys)
    where !elsewhere.contains(id.prefix(3)) {
      #expect(page.contains("| \(id) |"), "\(id) is no requirement")
    }
  }

  /// The first of them, and how many more there are.
  private func cell(_ names: Set<String>?) -> String {
    guard let names, !names.isEmpty else { return "–" }
    let shown = names.sorted().prefix(4)
    let rest = names.count - shown.count
    return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  /// The test files whose names of tests bear an id.
  private func bearers() throws -> [String: Set<String>] {
    var files: [String: Set<String>] = [:]
    let id = /\b(?:STA|LOG|REF|RES|OUT|CTX|STO|INT|POL|JRN|RPL|TST|WEB|SYN)-\d+\b/
    for file in try house.swiftFiles(below: "Tests") {
      let name = (file as NSString).lastPathComponent.replacing(".swift", with: "")
      // The first literal behind @Test or @Suite, on its line or the next.
      for test in try house.text(of: file).matches(of: /@(?:Test|Suite)\(\s*"([^"]*)"/) {
        for id in test.1.matches(of: id) {
          files[String(id.0), default: []].insert(name)
        }
      }
    }
    return files
  }

  /// The scenarios that say that they prove an id.
  private func scenarios() throws -> [String: Set<String>] {
    var names: [String: Set<String>] = [:]
    for scenario in try ScenarioClaims.all(in: house) {
      for id in scenario.proves { names[id, default: []].insert(scenario.name) }
    }
    return names
  }
}
