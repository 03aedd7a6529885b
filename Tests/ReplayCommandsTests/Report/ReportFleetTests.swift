import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionExplain
import SessionTestKit
import Testing

@testable import ReplayCommands

@Suite("report of many journals")
struct ReportFleetTests {
  private static let phones: UInt64 = 130

  /// The page of all phones, which the tests share.
  private static let page = Result { try page(inside: TemporaryFolder()) }

  private static func page(inside folder: TemporaryFolder, withKey: Bool = false) throws -> String {
    try write(phones, to: folder)
    // A file that is no journal is not read.
    let key = try folder.write(Array("sixteen bytes !!".utf8), to: "key")
    let run = ToolRun.inProcess(
      ["report", folder.path, "-o", "-"] + (withKey ? ["--key-file", key] : []))
    guard run.code == 0 else { throw Falsified("the report fails: \(run.errors)") }
    return run.output
  }

  /// Writes the journals of the first phones.
  private static func write(_ count: UInt64, to folder: TemporaryFolder) throws {
    for index in 0..<count {
      try SampleJournal.write(
        to: folder.file("p\(index).journal"), records: DrawnSession.phone(index))
    }
  }

  private func parts(_ text: String, _ start: String, _ end: String) -> [String] {
    text.components(separatedBy: start).dropFirst().map { $0.components(separatedBy: end)[0] }
  }

  private func number(_ text: String) -> Int? { Int(text.replacingOccurrences(of: ",", with: "")) }

  @Test("RPL-4 all journals count, and a hundred are drawn, with each cause among them")
  func counts() throws {
    let page = try Self.page.get()
    #expect(page.contains("130 journals · "))
    #expect(parts(page, "<section class=\"lane\"", ">").count == 100)
    #expect(page.contains("30 journals counted and not drawn"))
    let causes = try #require(parts(page, "<table class=\"causes\">", "</table>").first)
    let ends = parts(causes, "<td class=\"num\">", "</td>").compactMap(number)
    var (logouts, rules, ended) = (0, 0, 0)
    for record in (0..<Self.phones).flatMap({ DrawnSession.phone($0) }) {
      switch record.content {
      case .event(.logout): logouts += 1
      case .event(.sessionExpired(let expiry)):
        if [.inactivity, .userInactive].contains(expiry.reason) { rules += 1 }
      default: continue
      }
      ended += 1
    }
    #expect(ends.reduce(0, +) == ended)
    #expect(page.contains("<span>\(logouts) by the user</span>"))
    #expect(page.contains("<b>\(ended - logouts - rules)</b>unexpected ends"))
    // Each cause leads to its ends, and the user's own logouts are not red.
    let links = parts(causes, "<a href=\"#cause-", "\"")
    #expect(links.count == ends.count && links.contains("lost-reply"))
    for link in links { #expect(page.contains("<section class=\"cause\" id=\"cause-\(link)\">")) }
    let rows = parts(causes, "<tr class=\"", "</tr>")
    #expect(rows.filter { $0.contains("user-logout") }.allSatisfy { $0.hasPrefix("expected") })
    #expect(rows.first { $0.contains("lost-reply") }?.hasPrefix("unexpected") == true)
  }

  @Test("each app version has a row, and the rows count all sessions")
  func versions() throws {
    let versions = try #require(
      parts(Self.page.get(), "<table class=\"versions\">", "</table>").first)
    let rows = parts(versions, "<tr><th scope=\"row\">", "</tr>")
    #expect(Set(rows.map { $0.components(separatedBy: "<")[0] }) == Set(DrawnSession.versions))
    let sessions = rows.compactMap { number(parts($0, "<td class=\"num\">", "</td>")[0]) }
    #expect(sessions.reduce(0, +) == Int(Self.phones))
  }

  @Test("RPL-9 a user has one pseudonym on a page of many journals, with a key or without")
  func pseudonyms() throws {
    let withKey = try Self.page(inside: TemporaryFolder(), withKey: true)
    // Two phones belong to one user.
    for page in [try Self.page.get(), withKey] {
      let users = parts(page, "<span class=\"dim\">user-", " ")
      #expect(users.count == 100)
      let files = parts(page, "<section class=\"lane\"", "</header>").map { lane in
        (
          (number(parts(lane, ">p", ".journal<").first ?? "") ?? -2) / 2,
          parts(lane, "<span class=\"dim\">", " ").first ?? ""
        )
      }
      let byUser = Dictionary(grouping: files) { $0.0 }.mapValues { Set($0.map(\.1)) }
      #expect(byUser.values.allSatisfy { $0.count == 1 })
      #expect(Set(byUser.values).count == byUser.count)
      #expect(!page.contains("u-1"))
    }
  }

  @Test("a chosen journal has the newest end of its cause, and the choice keeps the order")
  func choice() throws {
    let folder = try TemporaryFolder()
    try Self.write(40, to: folder)
    let files = (0..<40).map { index in
      JournalFile(path: folder.file("p\(index).journal"), name: "p\(index)")
    }
    let reading = ReportReading(zone: .utc, interruption: Interruption())
    let all = reading.read(.init(files: files), ProgressBar(nil)).journals
    #expect(all.count == 40)
    let chosen = ReportChoice.chosen(all, upTo: 12)
    #expect(chosen.count == 12)
    let names = all.map(\.name)
    let places = try chosen.map { try #require(names.firstIndex(of: $0.name)) }
    #expect(places == places.sorted())
    let causes = Set(all.flatMap { $0.whys.filter { $0.cause.class == .end }.map(\.cause) })
    for cause in causes {
      let newest = all.filter { $0.whys.contains { $0.cause == cause } }.max {
        $0.lastEnd < $1.lastEnd
      }
      #expect(chosen.contains { $0.name == newest?.name }, "\(cause)")
    }
    #expect(ReportChoice.chosen(all, upTo: 40).map(\.name) == names)
  }

  @Test("of several lanes each has an axis of its own")
  func axes() throws {
    let page = try Self.page.get()
    #expect(parts(page, "<svg class=\"own\"", "</svg>").count == 100)
    let folder = try TemporaryFolder()
    try Self.write(2, to: folder)
    let one = ToolRun.inProcess(["report", folder.file("p1.journal"), "-o", "-"]).output
    #expect(one.contains("<svg class=\"axis\"") && !one.contains("class=\"own\""))
    #expect(!one.contains("id=\"causes\""))
  }
}

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
        [EndTally.mostVersions], [EndTally.mostDays], [DayScale.most], [ReportPage.toldProblems],
      ])
    #expect(ReportReading.room(for: 10_000).whys == 4)
  }

  @Test("the parts of a report are in the order of the page")
  func parts() throws {
    let path = "Tools/ReplayCommands/Pure/Report/ReportPage"
    let source = try ["", "+Causes", "+Lanes", "+Why"].map {
      try Repository.text("\(path)\($0).swift")
    }.joined()
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

/// Writes the journals for the pages of `Tools/browser/run` into the folder that it names.
@Suite("Journals for a browser")
struct BrowserJournals {
  private static let place = ProcessInfo.processInfo.environment["SESSION_BROWSER_JOURNALS"]

  @Test("a life, a hostile one, many, and a long one", .enabled(if: place != nil))
  func journals() throws {
    let place = try #require(Self.place)
    try SampleJournal.write(to: "\(place)/sample.journal")
    try SampleJournal.write(
      to: "\(place)/life.journal",
      records: DrawnSession.life(seed: 5, user: SampleJournal.user, days: 3))
    try SampleJournal.write(to: "\(place)/hostile.journal", records: DrawnSession.ofHostileNames())
    try SampleJournal.write(
      to: "\(place)/long.journal", records: DrawnSession.life(seed: 9, user: "u-9", days: 250))
    let fleet = ProcessInfo.processInfo.environment["SESSION_BROWSER_FLEET"].flatMap(UInt64.init)
    try FileManager.default.createDirectory(
      atPath: "\(place)/fleet", withIntermediateDirectories: false)
    for index in 0..<(fleet ?? 400) {
      try SampleJournal.write(
        to: "\(place)/fleet/phone-\(index).journal", records: DrawnSession.phone(index))
    }
    try FileManager.default.createDirectory(
      atPath: "\(place)/many", withIntermediateDirectories: false)
    for index in 0..<200 as Range<UInt64> {
      try SampleJournal.write(
        to: "\(place)/many/phone-\(index).journal",
        records: DrawnSession.life(
          seed: index, user: Identifier("u-\(index)"), days: 1 + Int64(index % 3)))
    }
  }
}
