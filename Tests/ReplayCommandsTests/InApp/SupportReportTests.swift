import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
@_spi(Internals) import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

@Suite("A support report")
struct SupportReportTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func lines(_ report: SupportReport) throws -> [[String: Any]] {
    try report.text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }

  /// Imports a report as a user does; the path of the new journal.
  private func imported(_ report: SupportReport) throws -> String {
    let file = try folder.write(Array(report.text.utf8), to: "report.jsonl")
    let run = ToolRun.inProcess(["import", file, "-o", folder.file("again"), "--force"])
    guard run.code == 0 else { throw Falsified("import: \(run.errors)") }
    return folder.file("again")
  }

  /// Every sentence of an explanation, whose words are no names.
  private static let sentences =
    (Cause.all.map(\.headline) + FindingWord.allCases.map(\.sentence)
    + UntoldWord.allCases.map(\.sentence)
    + AdviceWord.allCases.map(\.sentence)).joined(separator: "\n")

  @Test("RPL-8 RPL-9 STO-3 a report of any history has no name in it, and is imported as it is")
  func drawn() throws {
    expect(
      Property(
        "a report is the redacted journal", cases: 12, requiredLabels: ["compacted", "ended"]
      ).check { choices in
        let history = History.legal(upTo: 24)(choices)
        choices.step(history.description)
        let drawn = try DrawnJournal(choices, history, compactedIn: folder)
        let path = try folder.write(drawn.bytes, to: "drawn.journal")
        let read = try SessionHistory(path: path)
        if read.isCompacted { choices.label("compacted") }
        if read.events.contains(where: { $0.event.isEnd }) { choices.label("ended") }
        let key = choices.chance(1, in: 2) ? "a key of sixteen bytes" : nil
        let report = try SupportReport(of: read, key: key)

        let leaks = try Leak.search(report.text, source: path).filter {
          !Self.sentences.contains($0)
        }
        guard leaks.isEmpty else { throw Falsified("\(leaks.prefix(3)) can be read") }
        let redaction = Redaction(
          pseudonyms: key.map { Pseudonyms(key: Array($0.utf8)) } ?? Pseudonyms(of: read.origin))
        let (old, new) = (
          try SeenJournal(drawn.bytes), try SeenJournal(try Array(bytes(of: imported(report))))
        )
        guard try new.decoded() == (try old.decoded().map(redaction.record)) else {
          throw Falsified("the import is not what the redaction makes of each record")
        }
        guard new.records.map(\.remainingInBatch) == old.records.map(\.remainingInBatch),
          new.totals.watermarks == old.totals.watermarks, new.isClean
        else { throw Falsified("other batches or watermarks") }
      })
  }

  private func bytes(of path: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: path))
  }

  @Test("RPL-8 a report says which app and system it is of, and why the session ended")
  func head() throws {
    let user = SampleJournal.user
    let identity = ProcessIdentity(opening: "opening-1", boot: "boot-1")
    func content(_ app: String, _ platform: Platform) -> SessionRecord.Content {
      .note(
        .opened(
          .init(
            process: 1, boot: "boot-1", uptime: 0, app: AppVersion(app), identity: identity,
            platform: platform)))
    }
    try SampleJournal.write(
      to: folder.file("a"),
      batches: [
        (0, [content("1.0", .iOS)]), (5, [.login(user, SampleJournal.token(1, at: 5))]),
        (10, [content("1.1", .macOS)]), (20, [.event(.logout(.init(reason: .user)))]),
      ])
    let report = try SupportReport(of: try SessionHistory(path: folder.file("a")))
    let lines = try lines(report)
    let header = try #require(lines.first)
    #expect(header["app"] as? String == "1.1" && header["platform"] as? String == "macOS")
    #expect(header["library"] as? String == LibraryVersion.current)
    #expect(header["redacted"] as? Bool == true && header["partial"] as? Bool == false)
    #expect(lines.map { $0["class"] as? String }.suffix(2) == ["explanation", "end"])
    let explanation = try #require(lines.dropLast().last?["explanation"] as? [String: Any])
    #expect(explanation["cause"] as? String == "user-logout")
    #expect(lines[1].description.contains("macOS") == false)
    let facts = try #require(lines[3]["facts"] as? [String: Any])
    #expect(facts["platform"] as? String == "macOS")
    #expect(!report.text.contains(user.description))
    let why = ToolRun.inProcess(["why", "--json", try imported(report)])
    #expect(why.code == 0 && why.output.contains("\"cause\":\"user-logout\""))
  }

  @Test("RPL-8 a report that is too large keeps the newest records, after a snapshot")
  func bounded() throws {
    try Journals.write(into: folder)
    let history = try SessionHistory(path: folder.file("a.journal"))
    let whole = try SupportReport(of: history)
    let last = try #require(history.events.last)
    var sizes: Set<Int> = []
    for maximum in stride(from: 6_000, to: whole.text.utf8.count + 500, by: 400) {
      let report = try SupportReport(of: history, maximumBytes: maximum)
      let lines = try lines(report)
      // One batch at least is kept, whatever the bound.
      #expect(report.text.utf8.count <= maximum || lines.count <= 6)
      sizes.insert(lines.count)
      let again = try SessionHistory(path: try imported(report))
      #expect(again.events.last?.sequence == last.sequence)
      #expect(again.isCompacted == (report.text != whole.text))
    }
    #expect(sizes.count > 2)
    #expect(try SupportReport(of: history, maximumBytes: whole.text.utf8.count) == whole)
  }

  @Test("RPL-9 a key gives journals the same pseudonyms; a short key is an error that hides it")
  func keys() throws {
    try Journals.write(into: folder)
    try SampleJournal.write(
      to: folder.file("b.journal"), batches: Array(SampleJournal.batches.prefix(2)))
    func user(_ name: String, _ key: String?) throws -> String {
      let report = try SupportReport(of: SessionHistory(path: folder.file(name)), key: key)
      let login = try lines(report).first { $0["name"] as? String == "login" }
      return try #require((login?["facts"] as? [String: Any])?["user"] as? String)
    }
    let key = "0123456789abcdef"
    #expect(try user("a.journal", key) == user("b.journal", key))
    #expect(try user("a.journal", nil) != user("a.journal", key))
    let history = try SessionHistory(path: folder.file("a.journal"))
    let error = #expect(throws: SupportReport.KeyTooShort.self) {
      try SupportReport(of: history, key: "secret-15-bytes")
    }
    #expect(error?.bytes == 15)
    #expect(error?.description.contains("secret") == false)
    #expect(error?.description.contains("16 or more") == true)
  }

  @Test(
    "RPL-8 RPL-6 a report of a damaged journal ends at the damage, and its explanation knows it")
  func damaged() throws {
    try Journals.write(into: folder)
    for name in ["damaged.journal", "torn.journal", "illegal.journal"] {
      let history = try SessionHistory(path: folder.file(name))
      let report = try SupportReport(of: history)
      let lines = try lines(report)
      let wanted = ToolRun.inProcess(["export", folder.file(name)]).output.split(separator: "\n")
      let found = report.text.split(separator: "\n")
      #expect(found.last == wanted.last, "\(name)")
      #expect(found.dropFirst().dropLast(2) == wanted.dropFirst().dropLast(), "\(name)")
      let redacted = history.redacted(by: Redaction(pseudonyms: Pseudonyms(of: history.origin)))
      let explanation = try #require(lines.dropLast().last?["explanation"] as? [String: Any])
      #expect(explanation["certainty"] as? String == Explanation(of: redacted).certainty.rawValue)
      #expect(explanation["user"] as? String == Explanation(of: history).user)
      _ = try imported(report)
    }
  }

  @Test("RPL-8 RPL-6 why shows a report's own explanation if the records lead to another")
  func ownExplanation() throws {
    let journals = Repository.root.appending(path: "Specs/Journals")
    var bytes = Array(try Data(contentsOf: journals.appending(path: "family-revoked.journal")))
    func why(_ name: String, _ options: String...) throws -> ToolRun {
      let path = try folder.write(bytes, to: name + ".journal")
      let report = try SupportReport(of: try SessionHistory(path: path))
      let file = try folder.write(Array(report.text.utf8), to: name + ".jsonl")
      return ToolRun.inProcess(["why", file] + options)
    }
    let own = "The app's own explanation, made from the whole journal: Signed out (possibly): "
    #expect(!(try why("whole")).output.contains("The app's own"))
    bytes[try Journals.frames(bytes)[5].middle] ^= 0x10
    let run = try why("damaged")
    #expect(run.code == 65)
    #expect(run.output.hasPrefix("Still signed in (possibly): "), "\(run.output)")
    let line = try #require(run.output.split(separator: "\n").first { $0.hasPrefix(own) })
    #expect(line.hasSuffix(", possible]"))
    #expect(try why("damaged", "--all").output.contains(own))
    let short = try why("damaged", "--oneline").output
    #expect(short.split(separator: "\n").count == 1)
    #expect(short.contains("[still-request-open, possible]"))
    #expect(short.contains("; the app's own answer: ["))
    let object = try #require(try why("damaged", "--json").objects().first)
    let reported = try #require(object["appExplanation"] as? [String: Any])
    #expect(reported["certainty"] as? String == "possible")
    #expect((reported["sequence"] as? Int ?? 0) > (object["sequence"] as? Int ?? 0))
    let rows = try ToolRun.inProcess(["ends", folder.file("damaged.jsonl")]).objects()
    #expect(rows.map { $0["certainty"] as? String } == ["possible"])
  }

  @Test("RPL-8 a report without an opening has the app and the platform of its header")
  func leftOutOpening() throws {
    let content = SessionRecord.Content.note(
      .opened(
        .init(
          process: 1, boot: "boot-1", uptime: 0, app: AppVersion("1.7"),
          identity: ProcessIdentity(opening: "opening-1", boot: "boot-1"), platform: .iOS)))
    let login = SessionRecord.Content.login(SampleJournal.user, SampleJournal.token(1, at: 5))
    let notes: [SampleJournal.Batch] = (0..<40).map { (Int64(100 + $0), [.note(.clockSkew(1))]) }
    try SampleJournal.write(
      to: folder.file("long.journal"),
      batches: [(0, [content]), (5, [login])] + notes + [
        (9_000, [.event(.logout(.init(reason: .user)))])
      ])
    let history = try SessionHistory(path: folder.file("long.journal"))
    let report = try SupportReport(of: history, maximumBytes: 7_000)
    #expect(!report.text.contains("\"name\":\"opened\""))
    func rows(_ text: String) throws -> (app: String?, platform: String?, why: String?) {
      let path = try folder.write(Array(text.utf8), to: "cut.jsonl")
      let row = try #require(try ToolRun.inProcess(["ends", path]).objects().first)
      let answer = try #require(try ToolRun.inProcess(["why", "--json", path]).objects().first)
      return (row["app"] as? String, row["platform"] as? String, answer["app"] as? String)
    }
    let found = try rows(report.text)
    #expect(found.app == "1.7" && found.platform == "iOS" && found.why == "1.7")
    let stats = ToolRun.inProcess(["stats", "--by", "version", "--json", folder.file("cut.jsonl")])
    #expect(stats.output.contains("\"key\":\"1.7\""))
    // After damage, the header may name a later opening.
    let damaged = report.text.replacing("\"ending\":\"clean\"", with: "\"ending\":\"damaged\"")
    let unknown = try rows(damaged)
    #expect(unknown.app == nil && unknown.platform == nil && unknown.why == nil)
  }

  @Test("RPL-8 an import accepts further keys of a header, and an explanation between batches only")
  func tolerance() throws {
    try Journals.write(into: folder)
    let report = try SupportReport(of: try SessionHistory(path: folder.file("a.journal")))
    var lines = report.text.split(separator: "\n").map(String.init)
    let explanation = lines.remove(at: lines.count - 2)
    func run(_ lines: [String]) throws -> ToolRun {
      let text = lines.map { $0 + "\n" }.joined()
      let file = try folder.write(Array(text.utf8), to: "changed.jsonl")
      return ToolRun.inProcess(["import", file, "--dry-run"])
    }
    #expect(try run(lines).code == 0)
    var newer = lines
    newer[0] = newer[0].replacingOccurrences(of: "\"v\":1", with: "\"v\":1,\"later\":{\"a\":[1]}")
    #expect(try run(newer).code == 0)
    #expect(try run([lines[0], explanation] + lines.dropFirst()).code == 0)
    let inside = try #require(lines.firstIndex { $0.contains("\"remainingInBatch\":1") })
    let broken = lines[...inside] + [explanation] + lines[(inside + 1)...]
    let refused = try run(Array(broken))
    #expect(refused.code == 65 && refused.errors.contains("an explanation"))
    #expect(try run([explanation] + lines).code == 65)
    #expect(try run(lines + [explanation]).code == 65)
  }
}

extension SessionEvent {
  fileprivate var isEnd: Bool { kind == .sessionExpired || kind == .logout }
}
