import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import Testing

@testable import ReplayCommands

/// The names in `Specs/Frozen/names` that the JSON of commands has.
@Suite("Specs/Frozen/names: JSON")
struct FrozenJSONTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
  }

  /// Commands that read one journal, each with the arguments that give the most members.
  private static let reading = [
    ["timeline", "--delta"], ["state"], ["verify"], ["diff"], ["why"], ["why", "--all"], ["stats"],
    ["follow", "--timeout", "0ms"], ["export"], ["export", "--reveal"], ["ends"], ["refreshes"],
  ]

  @Test("RPL-5 the member names in the JSON of every command do not change")
  func members() throws {
    var members = MemberPaths()
    let recorded = try GoldenOutputTests.recorded()
    for command in GoldenOutputTests.commands where command.arguments.contains("--json") {
      let text = try #require(recorded[command.name])
      // A file without a command is explained.
      let name = command.arguments.first.flatMap { CommandList.order.contains($0) ? $0 : nil }
      try add(text, of: name ?? "why", to: &members)
    }
    for journal in try golden() + records() + snapshots() {
      for command in Self.reading { try run(command + [journal], to: &members) }
      let trace = ToolRun.inProcess(["export", "--format", "trace", "--reveal", journal])
      guard trace.code == 0 else { continue }
      try members.add(Data(trace.output.utf8), after: "trace ")
    }
    for command in try writing() + combined() { try run(command, to: &members) }
    try FrozenNames("json").compare(with: members.paths)
  }

  @Test("RPL-5 an empty or null member still counts as a name")
  func empty() throws {
    var members = MemberPaths()
    let json = #"{"a":{},"b":[],"c":null,"d":{"e":[{"f":1},{"g":{}}]}}"#
    try members.add(Data(json.utf8), after: "x ")
    #expect(members.paths == ["x a", "x b[]", "x c", "x d.e[].f", "x d.e[].g"])
  }

  private func run(_ command: [String], to members: inout MemberPaths) throws {
    // An export is JSON without an option.
    let run = ToolRun.inProcess(command[0] == "export" ? command : command + ["--json"])
    try add(run.output + run.errors, of: command[0], to: &members)
  }

  private func add(
    _ output: String, of command: String, to members: inout MemberPaths
  ) throws {
    for line in output.split(separator: "\n") where line.hasPrefix("{") {
      try members.add(Data(line.utf8), after: "\(command) ")
    }
  }

  /// The golden journals.
  private func golden() throws -> [String] {
    try ["Specs/Golden", "Specs/Golden/changes", "Specs/Frozen/format-1"].flatMap { folder in
      let root = Repository.root.appending(path: folder).path(percentEncoded: false)
      return try FileManager.default.contentsOfDirectory(atPath: root)
        .filter { $0.hasSuffix(".journal") }.sorted().map { "\(root)/\($0)" }
    }
  }

  /// The kinds and payloads of `Specs/Golden/events.txt`.
  private func samples() throws -> [JournalDraft] {
    try Repository.text("Specs/Golden/events.txt").split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map { line in
        let parts = line.components(separatedBy: " | ")
        let digits = Array(parts[1].utf8).compactMap {
          Character(Unicode.Scalar($0)).hexDigitValue
        }
        let payload = stride(from: 0, to: digits.count - 1, by: 2).map {
          UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
        return JournalDraft(kind: try #require(UInt8(parts[0], radix: 16)), payload: payload)
      }
  }

  /// A journal for each golden event and note.
  ///
  /// It ends with the event or note; the records before it allow it.
  private func records() throws -> [String] {
    let samples = try samples()
    func first(_ kind: SessionEvent.Kind) throws -> JournalDraft {
      try #require(samples.first { $0.kind == kind.rawValue })
    }
    let (login, refresh, expiry) = (
      try first(.login), try first(.refreshSucceeded), try first(.sessionExpired)
    )
    let pasts = [[login, refresh], [login], [], [login, expiry]]
    return try samples.filter { $0.kind != SessionRecord.snapshotKind }.enumerated().map {
      number, sample in
      let past = pasts.first { allows($0 + [sample]) } ?? []
      let path = folder.file("record-\(number).journal")
      try SampleJournal.write(to: path, drafts: (past + [sample]).map { [$0] })
      return path
    }
  }

  private func allows(_ drafts: [JournalDraft]) -> Bool {
    var fold = SessionFold()
    do {
      for (number, draft) in drafts.enumerated() {
        try fold.apply(
          try SessionCodec.decode(
            sequence: UInt64(number + 1), kind: draft.kind, payload: draft.payload))
      }
      return true
    } catch {
      return false
    }
  }

  /// A compacted journal for each golden snapshot.
  private func snapshots() throws -> [String] {
    let samples = try samples().filter { $0.kind == SessionRecord.snapshotKind }
    #expect(samples.count >= 5)
    return try samples.enumerated().map { number, sample in
      let frames = [
        CraftedJournals.Frame(kind: sample.kind, payload: sample.payload, sequence: 7),
        CraftedJournals.frame(CraftedJournals.opened, 8),
      ]
      let bytes = CraftedJournals.file(first: 8, snapshot: true, frames)
      return try folder.write(bytes, to: "snapshot-\(number).journal")
    }
  }

  /// Commands that make files, each with arguments that let it succeed.
  private func writing() throws -> [[String]] {
    let journal = folder.file("a.journal")
    let lines = folder.file("a.jsonl")
    let export = ToolRun.inProcess(["export", "--reveal", journal, "-o", lines])
    #expect(export.code == 0)
    let damaged = folder.file("damaged.journal")
    return [
      ["import", lines, "-o", folder.file("imported.journal")], ["import", "--dry-run", lines],
      ["report", journal, "-o", folder.file("a.html")],
      ["report", journal, damaged, folder.file("none"), "-o", folder.file("b.html")],
      ["repair", damaged, "-o", folder.file("repaired.journal")],
      ["repair", folder.file("illegal.journal"), "--in-place"],
    ]
  }

  /// Commands about more than one journal, about damage, and with marks beside the records.
  private func combined() throws -> [[String]] {
    let journal = folder.file("a.journal")
    let damaged = folder.file("damaged.journal")
    // Its session is open, and a group without an end has members of its own.
    let cut = folder.file("cut.journal")
    try SampleJournal.write(to: cut, batches: Array(SampleJournal.batches.prefix(2)))
    let groups = StatsGrouping.allCases.map {
      ["stats", journal, damaged, cut, folder.file("none"), "--by", $0.rawValue]
    }
    return groups + [
      ["timeline", journal, "--kind", "logout", "-C", "1"], ["timeline", damaged],
      ["diff", journal, folder.file("illegal.journal")],
      ["diff", journal, folder.file("torn.journal")],
      ["diff", journal, "--from", "@2", "--to", "@8", "--all-fields"],
      ["verify", try scattered()],
    ] + whatIf()
  }

  /// Commands that decide recorded journals again.
  private func whatIf() -> [[String]] {
    let folder = Repository.root.appending(path: "Specs/Journals").path(percentEncoded: false)
    return [
      ["whatif", "\(folder)/attempts-exhausted.journal", "--policy", "offlineFirst"],
      ["whatif", "\(folder)/still-signed-in.journal", "--policy", "attempts=1"],
      ["replay-corpus", folder, "--recorded-policy", "development,refused=clear"],
    ]
  }

  /// A journal with more readable parts after damage than `verify` lists.
  private func scattered() throws -> String {
    let path = folder.file("scattered.journal")
    let closed = SessionCodec.encode(.note(.closed), at: SampleJournal.start)
    let draft = JournalDraft(kind: closed.kind, payload: closed.payload)
    let count = 2 * JournalSurvey.listedRuns + 6
    let bytes = CraftedJournals.file(
      (1...count).map {
        CraftedJournals.Frame(kind: draft.kind, payload: draft.payload, sequence: UInt64($0))
      })
    var damaged = bytes
    for (number, frame) in try Journals.frames(bytes).enumerated() where number % 2 == 1 {
      damaged[frame.middle] ^= 0x10
    }
    _ = try folder.write(damaged, to: "scattered.journal")
    return path
  }
}
