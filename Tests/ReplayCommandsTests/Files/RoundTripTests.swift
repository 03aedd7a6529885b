import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

@Suite("Export and import")
struct RoundTripTests {
  /// Exports and imports `name`; the lines and the new journal's name.
  private func exchange(
    _ name: String, in folder: TemporaryFolder, _ options: [String]
  ) throws -> (lines: String, journal: String) {
    let lines = name + ".jsonl"
    let exported = ToolRun.inProcess(
      ["export", folder.file(name), "-o", folder.file(lines), "--force"] + options)
    guard exported.code == 0 else { throw Falsified("export: \(exported.errors)") }
    let imported = ToolRun.inProcess(
      ["import", folder.file(lines), "-o", folder.file(name + ".again"), "--force"])
    guard imported.code == 0 else { throw Falsified("import: \(imported.errors)") }
    return (
      String(decoding: try folder.bytes(lines), as: UTF8.self), name + ".again"
    )
  }

  private func roundTrip(_ name: String, in folder: TemporaryFolder) throws {
    let (lines, again) = try exchange(name, in: folder, ["--reveal"])
    let (old, new) = (
      try SeenJournal(try folder.bytes(name)), try SeenJournal(try folder.bytes(again))
    )
    guard old == new else { throw Falsified("\(name): another journal came back") }
    let (second, _) = try exchange(again, in: folder, ["--reveal"])
    guard lines == second else { throw Falsified("\(name): the second export is another") }
  }

  private func redactedTrip(_ name: String, in folder: TemporaryFolder) throws {
    let (lines, again) = try exchange(name, in: folder, [])
    let reader = try JournalReader(bytes: try folder.bytes(name))
    let redaction = Redaction(pseudonyms: Pseudonyms(reader.header))
    let old = try SeenJournal(try folder.bytes(name))
    let new = try SeenJournal(try folder.bytes(again))
    let wanted = try old.decoded().map(redaction.record)
    guard try new.decoded() == wanted else {
      throw Falsified("\(name): the import is not what the redaction makes of each record")
    }
    guard new.identifier.description == redaction.journal(old.identifier.description).description
    else { throw Falsified("\(name): another identifier") }
    guard new.records.map(\.remainingInBatch) == old.records.map(\.remainingInBatch),
      new.totals.watermarks == old.totals.watermarks, new.isClean
    else { throw Falsified("\(name): other batches or watermarks") }
    let leaks = try Leak.search(lines, source: folder.file(name))
    guard leaks.isEmpty else { throw Falsified("\(name): \(leaks.prefix(3)) can be read") }
  }

  @Test("RPL-4 an exported session is imported again record by record and byte by byte")
  func drawnRoundTrips() throws {
    let folder = try TemporaryFolder()
    expect(
      Property(
        "an import of an export is the journal", cases: 24,
        requiredLabels: ["compacted", "newer fields", "unknown kind", "several in a batch"]
      ).check { choices in
        let history = History.legal(upTo: 24)(choices)
        choices.step(history.description)
        let drawn = try DrawnJournal(choices, history, compactedIn: folder)
        _ = try folder.write(drawn.bytes, to: "drawn.journal")
        let seen = try SeenJournal(drawn.bytes)
        if seen.firstSequence > 1 { choices.label("compacted") }
        if try seen.decoded().contains(where: \.hasUnknownFields) { choices.label("newer fields") }
        if seen.records.contains(where: { $0.kind >= 0xC0 }) { choices.label("unknown kind") }
        if seen.records.contains(where: { $0.remainingInBatch > 0 }) {
          choices.label("several in a batch")
        }
        try roundTrip("drawn.journal", in: folder)
      })
  }

  @Test("RPL-4 STO-3 an export that hides names contains none of them and keeps everything else")
  func drawnRedactions() throws {
    let folder = try TemporaryFolder()
    expect(
      Property("a redacted export has no name in it", cases: 6).check { choices in
        let history = History.legal(upTo: 24)(choices)
        choices.step(history.description)
        let drawn = try DrawnJournal(choices, history, compactedIn: folder)
        _ = try folder.write(drawn.bytes, to: "drawn.journal")
        try redactedTrip("drawn.journal", in: folder)
      })
  }

  @Test("RPL-4 the golden files are imported again, with and without names")
  func files() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let frozen = "Specs/Frozen/format-1/"
    for name in ["session", "session-compacted", "session-room"] {
      let url = Repository.root.appending(path: frozen + name + ".journal")
      _ = try folder.write(Array(try Data(contentsOf: url)), to: name + ".journal")
    }
    for name in [
      "a", "open", "room", "compacted", "session", "session-compacted", "session-room",
    ] {
      try roundTrip(name + ".journal", in: folder)
      try redactedTrip(name + ".journal", in: folder)
    }
  }

  @Test("RPL-4 payloads that this version encodes differently are imported unchanged")
  func otherSpellings() throws {
    let folder = try TemporaryFolder()
    let login = SessionEvent.login(
      .init(
        user: "u", method: .password, token: SampleJournal.token(1, at: 0),
        context: .init(role: .init(id: "r", name: ""), permissions: ["a", "b"])))
    var (kind, payload) = SessionCodec.encode(.event(login), at: SampleJournal.start)
    // The permissions are in another order; each ends with its one letter.
    payload[payload.count - 1] = UInt8(ascii: "a")
    payload[payload.count - 6] = UInt8(ascii: "b")
    try SampleJournal.write(
      to: folder.file("spelled.journal"), drafts: [[JournalDraft(kind: kind, payload: payload)]])
    try roundTrip("spelled.journal", in: folder)
    kind = SessionNote.Kind.requestEnded.rawValue
    let failure = RequestFailure(
      kind: .server, status: 500, serverCode: "ABC", retryAfter: .milliseconds(5))
    payload =
      SessionCodec.encode(
        .note(.requestEnded(.init(request: 1, failure: failure))), at: SampleJournal.start
      ).payload
    // A code must not contain a space. A wait below 0 is read as 0.
    payload[payload.count - 10] = 0x20
    payload[payload.count - 1] = 0x80
    try SampleJournal.write(
      to: folder.file("failed.journal"), drafts: [[JournalDraft(kind: kind, payload: payload)]])
    try roundTrip("failed.journal", in: folder)
    let text = ToolRun.inProcess(["export", "--reveal", folder.file("failed.journal")]).output
    #expect(text.contains("\"payload\":\""))
    let redacted = ToolRun.inProcess(["export", folder.file("failed.journal")]).output
    #expect(!redacted.contains("\"payload\""))
  }

  @Test("RPL-4 a part of a journal is exported with a summary of the records before it")
  func parts() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    try Journals.writeCompacted(to: folder.file("b.journal"), keepingFrom: 0 + 2)
    for since in ["@5", "@13", "@16", "@-1", "2026-11-21T14:00:12.050Z", "2030-01-01T00:00:00Z"] {
      let (lines, again) = try exchange(
        "compacted.journal", in: folder, ["--reveal", "--since", since])
      let whole = ToolRun.inProcess(["state", "--json", folder.file("compacted.journal")])
      let part = ToolRun.inProcess(["state", "--json", folder.file(again)])
      #expect(whole.output == part.output, "\(since)")
      #expect(lines.hasSuffix("\"ending\":\"clean\"}\n"))
    }
    let (lines, again) = try exchange("a.journal", in: folder, ["--reveal", "--until", "@14"])
    // The batch of @14 continues with @15.
    #expect(lines.contains("\"lastSequence\":15,\"ending\":\"until\""))
    let (old, new) = (
      try SeenJournal(try folder.bytes("a.journal")), try SeenJournal(try folder.bytes(again))
    )
    let isPrefix = Array(old.records.prefix(15)) == new.records
    #expect(isPrefix)
    // No snapshot can be made after a record of a newer version.
    let partial = ToolRun.inProcess(["export", folder.file("a.journal"), "--since", "@-1"])
    #expect(partial.code == 0)
    #expect(partial.output.contains("\"partial\":true"))
    _ = try folder.write(Array(partial.output.utf8), to: "partial.jsonl")
    let refused = ToolRun.inProcess(
      ["import", "--json", "--dry-run", folder.file("partial.jsonl")])
    #expect(refused.code == 65)
    #expect(try refused.error()["name"] as? String == "partial")
  }

  @Test("RPL-4 the good batches of a damaged journal are exported and imported again")
  func notGood() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    for (name, code, ending) in [
      ("torn", 2, "torn"), ("undetermined", 2, "undetermined"), ("damaged", 65, "damaged"),
      ("undecodable", 65, "undecodable"), ("illegal", 65, "illegal"),
      ("unknown", 65, "unknownKind"),
    ] {
      let lines = folder.file(name + ".jsonl")
      let run = ToolRun.inProcess(
        ["export", folder.file(name + ".journal"), "--reveal", "-o", lines])
      #expect(run.code == code, "\(name)")
      let text = String(decoding: try folder.bytes(name + ".jsonl"), as: UTF8.self)
      #expect(text.hasSuffix("\"ending\":\"\(ending)\"}\n"), "\(name)")
      let back = ToolRun.inProcess(["import", lines, "-o", folder.file(name + ".back")])
      #expect(back.code == 0, "\(name): \(back.errors)")
      let (old, new) = (
        try SeenJournal(try folder.bytes(name + ".journal")),
        try SeenJournal(try folder.bytes(name + ".back"))
      )
      #expect(new.isClean)
      let isPrefix = old.records.starts(with: new.records)
      #expect(isPrefix, "\(name)")
      #expect(ToolRun.inProcess(["verify", folder.file(name + ".back")]).code == 0)
    }
  }
}
