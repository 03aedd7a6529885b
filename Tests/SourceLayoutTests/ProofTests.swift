import Foundation
import Testing

/// Compares the claims of scenarios with their lines, and writes the table of apps.
@Suite("Proofs")
struct ProofTests {
  private let tree = SourceTree()
  private static let page = "Specs/Scenarios/Proofs.md"
  private static let table = "Specs/Apps.md"
  private static let apps = ["EDU", "B2C", "OFF", "TIK", "API"]

  @Test("a scenario holds the lines that show the requirements it claims to prove")
  func claims() throws {
    let needs = try needs()
    for scenario in try ScenarioClaims.all(in: tree) {
      #expect(!scenario.proves.isEmpty, "\(scenario.name) proves nothing")
      for id in scenario.proves {
        let lines = try #require(needs[id], "\(Self.page) does not say what shows \(id)")
        for line in lines where !line.contains(where: { scenario.holds($0) }) {
          Issue.record(
            "\(scenario.name) does not prove \(id): no \(line.joined(separator: ", and no "))")
        }
      }
    }
  }

  /// A login and nothing else: the lines that nearly every scenario has.
  private static let login = """
    scenario EDU: a login
    app EDU
    at 0s
    do open
    result ok
    do login maria
    request POST /auth/login
      json {"email": "maria@school.test", "password": "correct-horse-9"}
    answer 200
      json {"access_token": "<A1>", "refresh_token": "<R1>", "expires_in": 3600}
    event login user=u-7
    result ok
    state authenticated
    stored token user context
    """

  @Test("a mere login proves only that a login is stored and journaled (LOG-4)")
  func patternsNeedMoreThanALogin() throws {
    let scenarios = try ScenarioClaims.all(in: tree)
    let login = ScenarioClaims(name: "edu-login", text: Self.login)
    let needs = try needs()
    #expect(needs.count >= 40)
    for (id, lines) in needs {
      let isProven = lines.allSatisfy { line in line.contains { login.holds($0) } }
      #expect(isProven == (id == "LOG-4"), "a login alone proves \(id): \(isProven)")
      for pattern in lines.joined() {
        #expect(scenarios.contains { $0.holds(pattern) }, "no file has \(pattern), of \(id)")
      }
    }
  }

  @Test("the table of apps and requirements says what the scenario files claim")
  func appsTable() throws {
    let page = try tree.text(of: Self.table)
    let start = try #require(page.range(of: "| |")).lowerBound
    let actual = page[..<start] + (try rows().joined(separator: "\n")) + "\n"
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      try String(actual).write(
        to: tree.root.appending(path: Self.table), atomically: true, encoding: .utf8)
    } else {
      let isUpToDate = page == actual
      #expect(isUpToDate, "UPDATE_GOLDEN=1 swift test --filter Proof writes the table")
    }
  }

  /// A row for each requirement that a scenario of the five apps proves.
  private func rows() throws -> [String] {
    let scenarios = try ScenarioClaims.all(in: tree)
    let required = try tree.text(of: "Specs/Requirements.md").matches(
      of: /(?m)^\| ([A-Z]{3}-\d+) \| ([^|]*) \|/)
    let rows: [String] = required.compactMap { row in
      let cells = Self.apps.map { app in
        cell(scenarios.filter { $0.app == app && $0.proves.contains(String(row.1)) })
      }
      guard cells.contains(where: { !$0.isEmpty }) else { return nil }
      return "| \(row.1) \(row.2) | \(cells.joined(separator: " | ")) |"
    }
    let head = "| | \(Self.apps.joined(separator: " | ")) |"
    return [head, "| --- |" + Self.apps.map { _ in " --- |" }.joined()] + rows
  }

  /// Up to three scenarios, those with the fewest other claims first.
  private func cell(_ scenarios: [ScenarioClaims]) -> String {
    scenarios.sorted { ($0.proves.count, $0.name) < ($1.proves.count, $1.name) }.prefix(3).map {
      "[\($0.flow)](Scenarios/\($0.name).scenario)"
    }.joined(separator: ", ")
  }

  /// For each requirement the lines that a file must hold, each as alternative patterns.
  private func needs() throws -> [String: [[String]]] {
    var needs: [String: [[String]]] = [:]
    for row in try tree.text(of: Self.page).matches(of: /(?m)^\| ([A-Z]{3}-\d+) \| (.*) \|$/) {
      let lines = row.2.split(separator: ";").map { line in
        line.matches(of: /`([^`]*)`/).map { String($0.1) }
      }
      #expect(lines.allSatisfy { !$0.isEmpty }, "\(row.1) has a line without a pattern")
      #expect(needs.updateValue(lines, forKey: String(row.1)) == nil, "\(row.1) stands twice")
    }
    return needs
  }
}

/// A scenario's file: its app, the requirements that it claims to prove, and its lines.
struct ScenarioClaims {
  /// The file's name without its ending, such as `edu-day`.
  let name: String
  let app: String
  let proves: [String]
  /// Each line's words, without indentation and comments.
  private let lines: [[Substring]]

  init(name: String, text: String) {
    self.name = name
    let lines = text.split(separator: "\n").map { line in
      let words = line.split(separator: " ")
      return Array(words.prefix { !$0.hasPrefix("#") })
    }
    func rest(_ word: Substring) -> [Substring] {
      lines.first { $0.first == word }.map { Array($0.dropFirst()) } ?? []
    }
    self.lines = lines
    app = rest("app").first.map(String.init) ?? ""
    proves = rest("proves").map(String.init)
  }

  /// Every scenario of the project, by name.
  static func all(in tree: SourceTree) throws -> [ScenarioClaims] {
    let folder = "Specs/Scenarios"
    return try FileManager.default.contentsOfDirectory(atPath: tree.root.path + "/" + folder).filter
    { $0.hasSuffix(".scenario") }.sorted().map { file in
      ScenarioClaims(
        name: file.replacing(".scenario", with: ""), text: try tree.text(of: "\(folder)/\(file)"))
    }
  }

  /// The part of its name after the app's: `day` of `edu-day`.
  var flow: Substring { name[name.index(after: name.firstIndex(of: "-") ?? name.startIndex)...] }

  /// Whether a line has these words in their order; one that ends in `=` may go on.
  func holds(_ pattern: some StringProtocol) -> Bool {
    let wanted = pattern.split(separator: " ")
    return lines.contains { line in
      var rest = wanted[...]
      for word in line {
        guard let next = rest.first else { break }
        if word == next || (next.hasSuffix("=") && word.hasPrefix(next)) { rest.removeFirst() }
      }
      return rest.isEmpty
    }
  }
}
