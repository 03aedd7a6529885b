import ChildProcesses
import Foundation
import Testing

@testable import ReplayCommands

@Suite("Specs/ReplayStats.md")
struct StatsPageTests {
  private func words(under heading: String) throws -> [String] {
    let lines = try Repository.text("Specs/ReplayStats.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "## \(heading)"))
    return lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
      .filter { $0.hasPrefix("| ") }.dropFirst(2)
      .compactMap { $0.split(separator: "|").first?.trimmingCharacters(in: .whitespaces) }
  }

  @Test("RPL-4 the page names every figure of the answer, in its order, and no other")
  func figures() throws {
    let folder = try TemporaryFolder()
    try SampleJournal.write(to: folder.file("a.journal"))
    let run = ToolRun.inProcess(["stats", "--json", "--by", "method", folder.file("a.journal")])
    let groups = try #require(try run.objects().first?["groups"] as? [[String: Any]])
    let found = try #require(groups.first).keys.filter { $0 != "key" }
    let named = try words(under: "Figures")
    #expect(Set(found) == Set(named))
    let text = try #require(run.output.range(of: "\"groups\":[")).upperBound
    let places = named.map { run.output[text...].range(of: "\"\($0)\":")?.lowerBound }
    #expect(zip(places, places.dropFirst()).allSatisfy { ($0 ?? text) < ($1 ?? text) })
  }

  @Test("the page names the values of --by")
  func groupings() throws {
    #expect(try words(under: "Groups") == StatsGrouping.allCases.map(\.rawValue))
  }
}
