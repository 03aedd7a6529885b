import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
@_spi(Internals) import SessionTestKit
import Testing

@testable import ReplayCommands

/// Journals that lack one chosen record, and what `why` may still state.
@Suite("RPL-6 why states only what the remaining records prove")
struct WhyLostRecordsTests {
  private typealias Crafted = CraftedJournals

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  // MARK: Journals

  /// The recorded journal of a cause in which the record with this sequence cannot be read.
  private func recorded(_ cause: String, without sequence: UInt64) throws -> String {
    let file = Repository.root.appending(path: "Specs/Journals/\(cause).journal")
    return try damaged(Array(try Data(contentsOf: file)), sequence, "\(cause)@\(sequence).journal")
  }

  private func damaged(_ bytes: [UInt8], _ sequence: UInt64, _ name: String = "x.journal") throws
    -> String
  {
    var bytes = bytes
    var reader = try JournalReader(bytes: bytes)
    var middle: Int?
    try reader.visit { frame, _ in
      if frame.sequence == sequence { middle = Int(frame.offset) + (32 + frame.size) / 2 }
      return true
    }
    bytes[try #require(middle)] ^= 0x10
    return try folder.write(bytes, to: name)
  }

  private static func opened(_ opening: Identifier) -> SessionRecord.Content {
    let identity = ProcessIdentity(opening: opening, boot: "boot-1", namespace: "ns-1", start: 5)
    return .note(.opened(.init(process: 1, boot: "boot-1", uptime: 1_000, identity: identity)))
  }

  private static let closed = SessionRecord.Content.note(.closed)

  private static func expired(_ reason: ExpiryReason) -> SessionRecord.Content {
    .event(.sessionExpired(.init(reason: reason)))
  }

  private static func logout(_ reason: LogoutReason) -> SessionRecord.Content {
    .event(.logout(.init(reason: reason)))
  }

  // MARK: Answers

  private struct Answer {
    let cause: String
    let certainty: String
    let text: String
    let proven: [String]
    let ruledOut: [String]

    init(_ object: [String: Any]) throws {
      cause = try #require(object["cause"] as? String)
      certainty = try #require(object["certainty"] as? String)
      text = try #require(object["text"] as? String)
      (proven, ruledOut) = (try Self.words(object["proven"]), try Self.words(object["ruledOut"]))
    }

    private static func words(_ findings: Any?) throws -> [String] {
      try #require(findings as? [[String: Any]]).compactMap { $0["what"] as? String }
    }
  }

  private func answer(_ path: String, _ options: String...) throws -> Answer {
    let run = ToolRun.inProcess(["why", path, "--json"] + options)
    return try Answer(try #require(try run.objects().first, "\(run.errors)"))
  }

  // MARK: Reasons

  @Test(
    "RPL-6 a known reason is not called unknown if the login is lost",
    arguments: ["token-expired", "clock-forward", "expired-on-arrival"])
  func knownReasons(_ cause: String) throws {
    let path = try recorded(cause, without: 2)
    let found = try answer(path)
    #expect(found.cause == "token-expired" && found.certainty == "possible")
    #expect(!found.proven.contains("newReason"))
    #expect(!ToolRun.inProcess(["why", path]).output.contains("does not know"))
  }

  @Test("RPL-6 a policy's logout without its expiry is not a reason of a newer version")
  func policyAlone() throws {
    let path = try damaged(
      Crafted.file([
        Crafted.frame(Crafted.opened, 1), Crafted.frame(Crafted.login, 2),
        Crafted.frame(Self.closed, 3), Crafted.frame(Self.logout(.policy), 4),
      ]), 3)
    let found = try answer(path)
    #expect(found.cause == "unexplained" && found.certainty == "possible")
    #expect(found.proven == ["closedByPolicy"])
    let output = ToolRun.inProcess(["why", path]).output
    #expect(output.contains("no readable expiry says why"), "\(output)")
    #expect(!output.contains("does not know") && !output.contains("newer sessionreplay"))
  }

  @Test("RPL-6 a policy's logout after a gap makes an earlier expiry only a possible cause")
  func policyAfterGap() throws {
    let path = try damaged(
      Crafted.file([
        Crafted.frame(Crafted.opened, 1), Crafted.frame(Crafted.login, 2),
        Crafted.frame(Self.expired(.endedByServer), 3), Crafted.frame(Self.closed, 4),
        Crafted.frame(Self.logout(.policy), 5),
      ]), 4)
    let found = try answer(path)
    #expect(found.cause == "ended-by-server" && found.certainty == "possible")
  }

  @Test("RPL-6 after lost records, it is unknown whether the session expired before the logout")
  func logoutAfterLoss() throws {
    let found = try answer(try recorded("user-logout-after-expiry", without: 4))
    #expect(found.cause == "user-logout" && found.certainty == "possible")
    #expect(found.proven == ["appCalledLogout"])
  }

  @Test("RPL-6 a cause is at most possible if a record of the end's own batch is lost")
  func lossInBatch() throws {
    let unreadable = Crafted.Frame(
      kind: SessionNote.Kind.itemUnreadable.rawValue, payload: [1], sequence: 3, remaining: 2)
    let path = try folder.write(
      Crafted.file([
        Crafted.frame(Crafted.opened, 1), Crafted.frame(Crafted.login, 2), unreadable,
        Crafted.frame(Self.expired(.corruptStorage), 4, remaining: 1),
        Crafted.frame(Self.logout(.policy), 5),
      ]), to: "x.journal")
    let found = try answer(path)
    #expect(found.cause == "secrets-ahead" && found.certainty == "possible")
  }

  @Test("RPL-6 a note about the end of the current token proves an end that is lost")
  func lostEnd() throws {
    let path = try recorded("user-logout", without: 5)
    let found = try answer(path)
    #expect(found.cause == "unexplained" && found.certainty == "possible")
    #expect(found.proven == ["endLost"])
    let output = ToolRun.inProcess(["why", path]).output
    #expect(!output.contains("Nothing ended") && !output.contains("signed in since"), "\(output)")
  }

  @Test("RPL-6 a token that no record names is not called tok#0")
  func noToken() throws {
    let output = ToolRun.inProcess(["why", try recorded("secrets-ahead", without: 2)]).output
    #expect(output.contains("is newer than the session's token"), "\(output)")
    #expect(!output.contains("tok#0"))
  }

  // MARK: Storage

  @Test("RPL-6 storage is not ruled out if an opening of the journal is lost")
  func lostOpening() throws {
    let request = SessionRecord.Content.sent(
      1, by: 1, until: SampleJournal.start.advanced(by: 6_000), .manual)
    let end: [SessionRecord.Content] = [Crafted.login, request, Self.expired(.endedByServer)]
    func frames(_ contents: [SessionRecord.Content], from first: UInt64) -> [Crafted.Frame] {
      contents.enumerated().map { Crafted.frame($1, first + UInt64($0)) }
    }
    let two = Crafted.file(frames([Self.opened("a"), Self.opened("b")] + end, from: 1))
    for lost in [1, 2] as [UInt64] {
      let found = try answer(try damaged(two, lost))
      #expect(found.cause == "ended-by-server")
      #expect(!found.ruledOut.contains("nothingUnreadable"), "@\(lost) lost")
    }
    // The same applies after a compaction: the openings of other processes are gone.
    let snapshot = SessionCodec.encode(.snapshot(SessionFold()), at: SampleJournal.start).payload
    let compacted = Crafted.file(
      first: 8, snapshot: true,
      [Crafted.Frame(kind: SessionRecord.snapshotKind, payload: snapshot, sequence: 7)]
        + frames([Self.opened("a")] + end, from: 8))
    let found = try answer(try folder.write(compacted, to: "c.journal"))
    #expect(!found.ruledOut.contains("nothingUnreadable"))
    // One process alone, and no loss.
    let one = Crafted.file(frames([Self.opened("a")] + end, from: 1))
    let whole = try answer(try folder.write(one, to: "d.journal"))
    #expect(whole.ruledOut.contains("nothingUnreadable"))
  }

  // MARK: Reading on

  @Test("RPL-6 why continues after an event that the state does not allow")
  func impossibleEvent() throws {
    let again = SessionRecord.Content.login(SampleJournal.user, SampleJournal.token(1, at: 20))
    let path = try folder.write(
      Crafted.file([
        Crafted.frame(Crafted.opened, 1), Crafted.frame(Crafted.login, 2), Crafted.frame(again, 3),
        Crafted.frame(Self.expired(.endedByServer), 4), Crafted.frame(Self.logout(.policy), 5),
      ]), to: "x.journal")
    let found = try answer(path)
    #expect(found.cause == "ended-by-server")
    let run = ToolRun.inProcess(["why", path])
    #expect(run.code == 65)
    #expect(
      run.output.contains("-- the event @3 is not possible here, and is left out --"),
      "\(run.output)")
    #expect(run.errors.contains("impossible event"))
  }

  @Test("RPL-6 missing records without lost bytes are named by number, not by size")
  func missingRecords() throws {
    let path = try folder.write(
      Crafted.file([
        Crafted.frame(Crafted.opened, 1), Crafted.frame(Crafted.login, 2),
        Crafted.frame(Self.expired(.endedByServer), 7),
      ]), to: "x.journal")
    for arguments in [["why", path], ["timeline", path]] {
      let output = ToolRun.inProcess(arguments).output
      #expect(output.contains("-- records @3 to @6 are missing --"), "\(output)")
      #expect(!output.contains("0 bytes") && !output.contains("no bytes"))
    }
    #expect(ToolRun.inProcess(["why", path]).output.contains("what records @3 to @6 said"))
  }

  @Test("RPL-2 a change log with a damaged first record is recognized, and repair refuses it")
  func changeLog() throws {
    try Journals.write(into: folder)
    var bytes = try folder.bytes("changes.log")
    bytes[try Journals.frames(bytes)[0].middle] ^= 1
    let path = try folder.write(bytes, to: "x.log")
    for command in ["why", "diff", "export"] {
      let run = ToolRun.inProcess([command, path])
      #expect(run.code == 64, "\(command): \(run.output)")
      #expect(run.errors.contains("is a change log"), "\(command): \(run.errors)")
    }
    let run = ToolRun.inProcess(["repair", path, "-o", folder.file("out")])
    #expect(run.code == 65 && run.errors.contains("nothing good is left"), "\(run.output)")
    #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
  }

  // MARK: What to do next

  @Test("RPL-6 no next step repeats the command or names one that refuses the file")
  func nextSteps() throws {
    let compacted = try recorded("ended-before", without: 5)
    #expect(ToolRun.inProcess(["repair", compacted, "--dry-run"]).code == 65)
    for command in ["why", "timeline", "state", "diff", "stats", "verify", "export"] {
      // Without it, stats exits with 0 after a damaged file.
      let options = command == "stats" ? ["--strict"] : []
      let run = ToolRun.inProcess([command, compacted] + options)
      #expect(run.code == 65)
      #expect(!run.errors.contains("sessionreplay repair"), "\(command): \(run.errors)")
    }
    let damaged = try recorded("user-logout", without: 5)
    let behind = ToolRun.inProcess(["timeline", damaged]).errors
    #expect(!behind.contains("sessionreplay timeline"), "\(behind)")
    #expect(behind.contains("sessionreplay repair \(damaged) -o OUT"))
    #expect(behind.contains("What can be read after it was read too."))
    let state = ToolRun.inProcess(["state", damaged]).errors
    #expect(state.contains("sessionreplay timeline \(damaged), for what can be read after it"))
  }

  @Test("RPL-6 the expiry that is explained below is not counted among the other ends")
  func othersWithoutRoot() throws {
    let file = Repository.root.appending(path: "Specs/Journals/user-logout-after-expiry.journal")
    let output = ToolRun.inProcess(["why", file.path]).output
    #expect(output.contains("\n\nExpired at"))
    #expect(!output.contains("Others"), "\(output)")
  }
}
