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
        to: folder.file("p\(index).journal"), records: ReportJournals.phone(index))
    }
  }

  private func parts(_ text: String, _ start: String, _ end: String) -> [String] {
    text.components(separatedBy: start).dropFirst().map { $0.components(separatedBy: end)[0] }
  }

  private func number(_ text: String) -> Int? {
    Int(text.replacingOccurrences(of: ",", with: ""))
  }

  @Test("RPL-4 all journals count, and a hundred are drawn, with each cause among them")
  func counts() throws {
    let page = try Self.page.get()
    #expect(page.contains("130 journals · "))
    #expect(parts(page, "<section class=\"lane\"", ">").count == 100)
    #expect(page.contains("30 journals counted and not drawn"))
    let causes = try #require(parts(page, "<table class=\"causes\">", "</table>").first)
    let ends = parts(causes, "<td class=\"num\">", "</td>").compactMap(number)
    var (logouts, rules, ended) = (0, 0, 0)
    for record in (0..<Self.phones).flatMap({ ReportJournals.phone($0) }) {
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
    #expect(Set(rows.map { $0.components(separatedBy: "<")[0] }) == Set(ReportJournals.versions))
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
      let newest = all.filter { $0.whys.contains { $0.cause == cause } }
        .max { $0.lastEnd < $1.lastEnd }
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
