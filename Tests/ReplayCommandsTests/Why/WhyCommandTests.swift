import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
@_spi(Internals) import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// What an answer says beside its evidence: the case, other ends, one line.
@Suite("RPL-3 The command why")
struct WhyCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
  }

  private func object(_ arguments: String...) throws -> [String: Any] {
    try #require(try ToolRun.inProcess(["why", "--json"] + arguments).objects().first)
  }

  @Test("RPL-3 the kind of system is named with the version of the app in each form of an answer")
  func platform() throws {
    let opened = SessionNote.Opened(
      process: 7, boot: nil, uptime: 0, app: AppVersion("2.4.1"),
      identity: ProcessIdentity(opening: "opening-1"), platform: .iOS)
    let login = SessionEvent.Login(
      user: "u-1", method: .password, token: SampleJournal.token(1, at: 0))
    let path = folder.file("platform.journal")
    try SampleJournal.write(
      to: path,
      batches: [
        (0, [.note(.opened(opened)), .event(.login(login))]),
        (500, [.event(.sessionExpired(.init(reason: .refreshRejected)))]),
      ])
    #expect(try object(path)["platform"] as? String == "iOS")
    #expect(try object(folder.file("a.journal"))["platform"] is NSNull)
    let text = ToolRun.inProcess(["why", path]).output
    #expect(text.contains("\nApp 2.4.1 on iOS · user "), "\(text)")
    let record = SessionRecord(
      sequence: 1, time: SampleJournal.start, content: .note(.opened(opened)))
    #expect(WhyText.text(of: Fact(record, batch: 1)) == "by process 7, app 2.4.1, on iOS")
    let line = ToolRun.inProcess(["why", "--oneline", path]).output
    #expect(line.contains(" app 2.4.1 on iOS user "), "\(line)")
  }

  /// A journal with this number of sessions, each of which the app ends.
  private func ended(_ count: Int64) throws -> String {
    let batches = (0..<count).flatMap { number -> [SampleJournal.Batch] in
      let start = number * 1_000
      return [
        (start, [.login("u-1", SampleJournal.token(UInt64(number + 1), at: start))]),
        (start + 500, [.event(.logout(.init(reason: .user)))]),
      ]
    }
    try SampleJournal.write(to: folder.file("ends-\(count).journal"), batches: batches)
    return folder.file("ends-\(count).journal")
  }

  @Test(
    "RPL-3 an answer names the app's version, the journal, the time and a pseudonym of the user")
  func identity() throws {
    let path = folder.file("a.journal")
    let output = ToolRun.inProcess(["why", path]).output
    let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("App ") })
    let user = try #require(try object(path)["user"] as? String)
    #expect(line.hasPrefix("App 2.4.1+318 · user \(user) · journal "))
    #expect(line.hasSuffix(" · ended 2026-11-22 15:00:00Z"), "\(line)")
    #expect(!line.contains("0190b2a4"))
    #expect(try object(path)["app"] as? String == "2.4.1+318")
  }

  @Test("RPL-3 the user of a redacted copy keeps the pseudonym")
  func redacted() throws {
    let path = folder.file("a.journal")
    let user = try #require(try object(path)["user"] as? String)
    #expect(user.wholeMatch(of: /user-[0-9a-z]{10}/) != nil)
    let export = ToolRun.inProcess(["export", path]).output
    #expect(export.contains(user))
    let lines = try folder.write(Array(export.utf8), to: "a.jsonl")
    let copy = folder.file("copy.journal")
    #expect(ToolRun.inProcess(["import", lines, "-o", copy]).code == 0)
    #expect(try object(copy)["user"] as? String == user)
    #expect(try object(try ended(1))["user"] as? String != user)
  }

  @Test("RPL-6 after lost records neither the app nor the user is certain")
  func lost() throws {
    var bytes = try folder.bytes("a.journal")
    bytes[try Journals.frames(bytes)[2].middle] ^= 1
    let path = try folder.write(bytes, to: "lost.journal")
    let first = try object(path, "--at", "@15")
    #expect(first["app"] is NSNull && first["user"] is NSNull)
    // The next login names its user again.
    #expect(try object(path)["user"] is String)
  }

  @Test("RPL-3 a version belongs to the end after its opening, and to no earlier end")
  func version() throws {
    func opened(_ app: String, _ after: Int64) -> SampleJournal.Batch {
      (after, [.note(.opened(.init(process: 1, boot: "b", uptime: after, app: AppVersion(app))))])
    }
    let login = SessionRecord.Content.login("u", SampleJournal.token(1, at: 1))
    let end = SessionRecord.Content.event(.logout(.init(reason: .user)))
    try SampleJournal.write(
      to: folder.file("versions"),
      batches: [opened("1.0", 0), (1, [login]), opened("2.0", 2), (3, [end]), opened("3.0", 4)])
    #expect(try object(folder.file("versions"))["app"] as? String == "2.0")
  }

  @Test("RPL-3 an answer names at most five other ends, the newest first, and counts the rest")
  func others() throws {
    let path = try ended(9)
    let output = ToolRun.inProcess(["why", path, "--at", "@8"]).output
    let lines = output.split(separator: "\n").drop { !$0.hasPrefix("Others") }.map(String.init)
    #expect(lines.count == 6, "\(output)")
    #expect(lines[0].hasSuffix("@18  user-logout, proven"))
    #expect(lines[4].hasSuffix("@10  user-logout, proven"))
    #expect(lines[5].hasSuffix("and 3 more; --all explains each"))
    let json = try object(path, "--at", "@8")
    #expect(json["otherEnds"] as? Int == 3 && json["laterEnds"] as? Int == 5)
    let others = try #require(json["others"] as? [[String: Any]])
    #expect(others.compactMap { $0["sequence"] as? Int } == [18, 16, 14, 12, 10])
    #expect(others.first?["cause"] as? String == "user-logout")
    let last = try object(path)
    #expect(last["otherEnds"] as? Int == 8 && last["laterEnds"] == nil)
    #expect(try object(try ended(1))["others"] == nil)
    let sample = ToolRun.inProcess(["why", folder.file("a.journal")]).output
    #expect(
      sample.contains("\nOthers     2026-11-21 14:01:00Z  @15  refresh-token-expired, proven\n"))
  }

  @Test("RPL-3 a record that ended nothing, and a session at a time, name the ends of the journal")
  func othersOfRecords() throws {
    let record = try object(folder.file("a.journal"), "--at", "@6")
    #expect(record["class"] as? String == "event")
    #expect(record["otherEnds"] == nil && record["laterEnds"] as? Int == 2)
    let open = try object(folder.file("a.journal"), "--at", "@4")
    #expect(open["class"] as? String == "still" && open["laterEnds"] as? Int == 2)
  }

  @Test("RPL-6 damage after the answer changes neither the answer nor the exit code")
  func damageAfter() throws {
    var bytes = try folder.bytes("a.journal")
    let whole = ToolRun.inProcess(["why", folder.file("a.journal"), "--at", "@6"])
    bytes[try Journals.frames(bytes)[26].middle] ^= 1
    let path = try folder.write(bytes, to: "after.journal")
    let run = ToolRun.inProcess(["why", path, "--at", "@6"])
    #expect(run.code == 0 && whole.code == 0)
    #expect(run.output == whole.output)
  }

  @Test("RPL-3 --oneline writes one line for each answer")
  func oneLine() throws {
    let path = folder.file("a.journal")
    let run = ToolRun.inProcess(["why", path, "--oneline", "--all"])
    let lines = run.output.split(separator: "\n")
    #expect(run.code == 0 && lines.count == 2)
    let user = try #require(try object(path)["user"] as? String)
    #expect(
      lines[0]
        == "2026-11-21 14:01:00Z  signed out: the server says that the token that renews the session "
        + "has expired [refresh-token-expired, proven] app 2.4.1+318 user \(user), "
        + "a new sign-in followed")
    #expect(lines[1].hasPrefix("2026-11-22 15:00:00Z  signed out by the app: "), "\(lines[1])")
    let damaged = ToolRun.inProcess(["why", folder.file("damaged.journal"), "--oneline"])
    #expect(damaged.code == 65 && damaged.output.split(separator: "\n").count == 1)
    let still = ToolRun.inProcess(["why", path, "--at", "@4", "--oneline"])
    #expect(still.code == 3 && still.output.contains("  still signed in: "))
  }

  @Test("RPL-5 --oneline and --json exclude each other")
  func conflict() throws {
    let run = ToolRun.inProcess(["why", folder.file("a.journal"), "--oneline", "--json"])
    #expect(run.code == 64)
    #expect(try run.error()["name"] as? String == "conflict")
  }
}
