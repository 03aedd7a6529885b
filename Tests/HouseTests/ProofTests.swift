import Foundation
import Testing

/// What scenarios say that they prove, against what they hold, and the README's table of it.
@Suite("Proofs")
struct ProofTests {
  private let house = House()
  private static let page = "Specs/Scenarios/Proofs.md"
  private static let apps = ["EDU", "B2C", "OFF", "TIK", "API"]

  @Test(
    "a scenario that says that it proves a requirement holds the lines without which it could not")
  func claims() throws {
    let needs = try needs()
    for scenario in try ScenarioClaims.all(in: house) {
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

  @Test(
    "no requirement is proven by a scenario that tells nothing, and no line is asked for that no file has"
  )
  func needsAreNeeds() throws {
    let scenarios = try ScenarioClaims.all(in: house)
    let nothing = ScenarioClaims(name: "edu-nothing", text: "scenario nothing\napp EDU\nproves X")
    let needs = try needs()
    #expect(needs.count >= 40)
    for (id, lines) in needs {
      let isEmpty = lines.allSatisfy { line in line.contains { nothing.holds($0) } }
      #expect(!isEmpty, "\(id) is proven by nothing")
      for pattern in lines.joined() {
        #expect(scenarios.contains { $0.holds(pattern) }, "no file has \(pattern), of \(id)")
      }
    }
  }

  @Test("the README's table of apps and requirements is what the scenario files say")
  func table() throws {
    let readme = try house.text(of: "README.md")
    let (from, to) = ("<!-- apps: written from the scenario files -->\n", "<!-- apps: end -->")
    let before = try #require(readme.range(of: from)).upperBound
    let after = try #require(readme.range(of: to)).lowerBound
    let actual = readme[..<before] + (try rows().joined(separator: "\n")) + "\n" + readme[after...]
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      try String(actual).write(
        to: house.root.appending(path: "README.md"), atomically: true, encoding: .utf8)
    } else {
      let isUpToDate = readme == actual
      #expect(isUpToDate, "UPDATE_GOLDEN=1 swift test --filter Proof writes the table")
    }
  }

  /// A row for each requirement; one that no scenario of the five proves says where its tests are named.
  private func rows() throws -> [String] {
    let scenarios = try ScenarioClaims.all(in: house)
    let required = try house.text(of: "Specs/Requirements.md")
      .matches(of: /(?m)^\| ([A-Z]{3}-\d+) \| ([^|]*) \|/)
    let rows = required.map { row in
      let cells = Self.apps.map { app in
        cell(scenarios.filter { $0.app == app && $0.proves.contains(String(row.1)) })
      }
      let isTold = cells.contains { !$0.isEmpty }
      let tests = isTold ? "" : " ([its tests](Specs/Requirements.md))"
      return "| \(row.1) \(row.2)\(tests) | \(cells.joined(separator: " | ")) |"
    }
    let head = "| | \(Self.apps.joined(separator: " | ")) |"
    return [head, "| --- |" + Self.apps.map { _ in " --- |" }.joined()] + rows
  }

  /// Up to three scenarios, those first that prove the least beside it.
  private func cell(_ scenarios: [ScenarioClaims]) -> String {
    scenarios.sorted { ($0.proves.count, $0.name) < ($1.proves.count, $1.name) }.prefix(3)
      .map { "[\($0.flow)](Specs/Scenarios/\($0.name).scenario)" }.joined(separator: ", ")
  }

  /// For each requirement the lines that must be there, each as patterns of which one is enough.
  private func needs() throws -> [String: [[String]]] {
    var needs: [String: [[String]]] = [:]
    for row in try house.text(of: Self.page).matches(of: /(?m)^\| ([A-Z]{3}-\d+) \| (.*) \|$/) {
      let lines = row.2.split(separator: ";").map { line in
        line.matches(of: /`([^`]*)`/).map { String($0.1) }
      }
      #expect(lines.allSatisfy { !$0.isEmpty }, "\(row.1) has a line without a pattern")
      #expect(needs.updateValue(lines, forKey: String(row.1)) == nil, "\(row.1) stands twice")
    }
    return needs
  }
}
