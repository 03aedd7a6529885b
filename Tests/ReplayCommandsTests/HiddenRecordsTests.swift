import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
@_spi(Internals) import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// No command claims that records are absent that may follow the good prefix.
@Suite("Records that may follow the good prefix of a journal")
struct HiddenRecordsTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
    // The acknowledged logout is damaged, so the readable journal ends with a user signed in.
    try SampleJournal.write(
      to: folder.file("logout.journal"),
      batches: [
        (0, [.note(.opened(.init(process: 7, boot: nil, uptime: 0)))]),
        (10, [.login(SampleJournal.user, SampleJournal.token(1, at: 10))]),
        (500, [.event(.logout(.init(reason: .user)))]),
      ], closing: false)
    var bytes = try folder.bytes("logout.journal")
    bytes[bytes.count - 10] ^= 1
    _ = try folder.write(bytes, to: "logout.journal")
  }

  @Test("RPL-6 RPL-4 no answer denies a logout that cannot be read")
  func logout() throws {
    let path = folder.file("logout.journal")
    let page = ToolRun.inProcess(["report", "-o", "-", path]).output
    let why = try #require(try ToolRun.inProcess(["why", "--json", path]).objects().first)
    #expect(why["certainty"] as? String == "possible")
    #expect(page.contains("(possible)"))
    #expect(!page.contains("no end of a session is journaled"))
  }

  @Test("RPL-4 STO-3 a report names no folder, whatever is wrong with a file")
  func folders() throws {
    let home = folder.file("jane.doe@example")
    try FileManager.default.createDirectory(
      atPath: home + "/folder.journal", withIntermediateDirectories: true)
    for name in ["a", "torn", "damaged", "undetermined", "illegal", "unknown", "undecodable"] {
      _ = try folder.write(
        try folder.bytes("\(name).journal"), to: "jane.doe@example/\(name) of it.journal")
    }
    _ = try folder.write([], to: "jane.doe@example/empty.journal")
    _ = try folder.write(Array("no journal".utf8), to: "jane.doe@example/text.journal")
    let files = [home, home + "/none.journal"]
    let run = ToolRun.inProcess(["report", "-o", "-"] + files)
    #expect(run.code == 66)
    #expect(run.output.contains("id=\"problems\""))
    #expect(run.output.contains("damaged of it.journal"))
    #expect(!run.output.contains("jane.doe"))
    // The caller of the command receives the places of the files.
    let page = folder.file("page.html")
    let told = ToolRun.inProcess(["report", "-o", page, "--json"] + files)
    #expect(try told.objects().first?["problems"] != nil)
  }
}

/// `Specs/Golden/changes.txt`: a line for each record of the sample, as the tool shows it.
///
/// `Specs/change_payload.py` reads the same payloads by the page alone.
@Suite("Specs/Golden/changes.txt")
struct ChangePayloadTests {
  @Test("JRN-5 SYN-2 each payload of a change log is shown as the second reader reads it")
  func lines() throws {
    let folder = try TemporaryFolder()
    try Journals.writeChanges(into: folder)
    try Journals.writeChangesOfSignIns(into: folder)
    var text =
      "# kind | payload | readable form; written by Tests/ReplayCommandsTests, UPDATE_GOLDEN=1\n"
    for name in [
      "changes.log", "changes-compacted.log", "changes-left.log", "changes-left-compacted.log",
    ] {
      let path = folder.file(name)
      let run = ToolRun.inProcess(["timeline", path, "--json"])
      var shown = run.output.split(separator: "\n").map { line in
        "{" + (line.range(of: "\"name\"").map { line[$0.lowerBound...] } ?? "")
      }[...]
      var reader = try JournalReader(path: path)
      while let raw = try reader.next() {
        guard raw.kind != 0xFF else { continue }
        let next = shown.popFirst()
        let line = try #require(next)
        let hex = raw.payload.map { String(format: "%02x", $0) }.joined()
        text += "\(String(format: "%02X", raw.kind)) | \(hex) | \(line)\n"
      }
      #expect(shown.isEmpty)
    }
    let path = "Specs/Golden/changes.txt"
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      try text.write(to: Repository.root.appending(path: path), atomically: true, encoding: .utf8)
    }
    let isSame = try Repository.text(path) == text
    #expect(isSame, "UPDATE_GOLDEN=1 swift test --filter ChangePayload writes it anew")
  }

  @Test("JRN-5 the second reader, written only from the specification, reads the same payloads")
  func secondReader() throws {
    let reader = try ChildProcess.python(
      [ChildProcess.specs + "/change_payload.py"], errors: .collected)
    #expect(reader.code == 0, "\(reader.text)")
  }
}
