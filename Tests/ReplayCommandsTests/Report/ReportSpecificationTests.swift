import Foundation
import SessionExplain
import Testing

@testable import ReplayCommands

@Suite("Specs/ReplayReport.md")
struct ReportSpecificationTests {
  private func rows(under heading: String, _ number: Int = 0) throws -> [[String]] {
    let lines = try Repository.text("Specs/ReplayReport.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "## \(heading)"))
    let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
    let tables = section.split { !$0.hasPrefix("| ") }.map { Array($0.dropFirst(2)) }
    return try #require(tables.count > number ? tables[number] : nil).map { row in
      row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  @Test("the bounds on the page are those of the code")
  func bounds() throws {
    let numbers = try rows(under: "Bounds").map { row in
      row[1].replacingOccurrences(of: ",", with: "").split { !$0.isNumber }.map { Int($0) }
    }
    let room = ReportReading.room(for: 1)
    #expect(
      numbers == [
        [ReportReading.mostJournals], [ReportReading.mostRows],
        [room.shapes, ReportReading.mostShapes], [room.whys, ReportReading.mostWhys],
        [ReportPage.longestText], [ReportPage.shownVersions], [ReportPage.comparedVersions],
        [EndTally.mostVersions],
        [EndTally.mostDays], [DayScale.most], [ReportPage.toldProblems],
      ])
    #expect(ReportReading.room(for: 10_000).whys == 4)
  }

  @Test("the parts of a report are in the order of the page")
  func parts() throws {
    let path = "Tools/ReplayCommands/Pure/Report/ReportPage"
    let source = try ["", "+Causes", "+Lanes", "+Why", "+Table"].map {
      try Repository.text("\(path)\($0).swift")
    }
    .joined()
    for part in try rows(under: "The page").map({ $0[0] }) where part.first?.isUppercase == true {
      #expect(source.contains(">\(part)</h2>"), "\(part)")
    }
  }

  @Test("RPL-4 each cause of an end has its class in the table, and the table has no other")
  func classes() throws {
    let table = try rows(under: "Classes of ends").map { row in
      row.prefix(2) + row[2].components(separatedBy: ", ")
    }
    let code = EndClass.allCases.map { kind in
      [kind.words, kind.isUnexpected ? "yes" : "no"] + kind.causes.map(\.id)
    }
    #expect(table.map { Array($0) } == code)
    let causes = EndClass.allCases.flatMap(\.causes)
    #expect(causes.count == Set(causes).count)
    #expect(Set(causes) == Set(Cause.all.filter { $0.class == .end }))
    for kind in EndClass.allCases { #expect(kind.causes.allSatisfy { EndClass($0) == kind }) }
  }
}
