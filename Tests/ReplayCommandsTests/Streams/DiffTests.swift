import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import Testing

@testable import ReplayCommands
@testable import SessionExplain

@Suite("RPL-1 diff")
struct DiffTests {
  private let folder: TemporaryFolder
  private var journal: String { folder.file("a.journal") }

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
  }

  private func diff(_ options: [String]) throws -> [String: Any] {
    let run = ToolRun.inProcess(["diff", journal, "--json"] + options)
    #expect(run.code == 0, "\(options): \(run.errors)")
    return try #require(try run.objects().first)
  }

  private func record(_ sequence: UInt64, _ content: SessionRecord.Content) -> SessionRecord {
    SessionRecord(sequence: sequence, time: SampleJournal.start, content: content)
  }

  /// Every value of `state --json` by its dotted name, as text; places and times are left out.
  private func state(_ at: Int) throws -> [String: String] {
    let run = ToolRun.inProcess(["state", journal, "--json", "--at", "@\(at)"])
    let object = try #require(try run.objects().first)
    var flat: [String: String] = [:]
    func add(_ name: String, _ value: Any) {
      if let object = value as? [String: Any] {
        for (key, value) in object { add(name.isEmpty ? key : "\(name).\(key)", value) }
      } else {
        flat[name] = "\(value)"
      }
    }
    add("", object)
    for name in ["v", "journal", "sequence", "eventSequence", "time"] { flat[name] = nil }
    return flat
  }

  @Test("STA-2 the differences applied to one state result in the other, for any two records")
  func applied() throws {
    let states = try (0...27).map(state)
    for from in [0, 2, 4, 6, 12, 13, 15, 16, 22, 27] {
      for to in 0...27 {
        let object = try diff(["--from", "@\(from)", "--to", "@\(to)"])
        let changes = try #require(object["changes"] as? [[String: Any]])
        var state = states[from]
        for change in changes {
          let name = try #require(change["field"] as? String)
          let (before, after) = (change["before"] ?? "", change["after"] ?? "")
          // The object has no fields for a part that is absent.
          if state[name] != nil { #expect(state[name] == "\(before)", "\(from) \(to) \(name)") }
          state[name] = "\(after)"
        }
        for (name, value) in states[to] where state[name] != nil {
          #expect(state[name] == value, "\(from) \(to) \(name)")
        }
        if from == to { #expect(changes.isEmpty) }
        let between = try #require(object["between"] as? [Int])
        let expected = from == to ? [] : Array((min(from, to) + 1)...max(from, to))
        #expect(between == expected)
        #expect(object["records"] as? Int == between.count)
      }
    }
  }

  @Test("STA-2 a request of a named opening differs from no request in its own fields")
  func opening() throws {
    let sent = SessionNote.RequestSent(
      kind: .refresh, generation: Generation(1), trigger: .manual, attempt: 1, process: 1,
      deadline: SampleJournal.start, identity: ProcessIdentity(opening: "opening-1"))
    let login = SessionEvent.login(
      .init(user: "u-1", method: .password, token: SampleJournal.token(1, at: 0)))
    var (none, open) = (StateSnapshot(), StateSnapshot())
    try none.apply(record(1, .event(login)))
    try open.apply(record(1, .event(login)))
    try open.apply(record(2, .note(.requestSent(sent))))
    func changes(_ from: StateSnapshot, _ to: StateSnapshot) -> [String: [StateDescription.Value]] {
      let fields = StateDifference(from: from, to: to, between: RecordsBetween()).fields
      return Dictionary(
        uniqueKeysWithValues: fields.filter(\.isChanged).map { ($0.name, [$0.before, $0.after]) })
    }
    let name = "intents.request.opening"
    #expect(changes(none, open)[name] == [.none, .text("opening-1")])
    #expect(changes(open, none)[name] == [.text("opening-1"), .none])
    #expect(changes(none, open)["intents.revocations"] == nil)
    let all = StateDifference(from: none, to: none, between: RecordsBetween()).fields
    #expect(!all.contains { $0.name == name }, "older journals do not have it")
  }

  @Test(
    "RPL-1 without options, diff shows the changes of the last event; with --to, of that record")
  func defaults() throws {
    let last = try diff([])
    #expect((last["to"] as? [String: Any])?["sequence"] as? Int == 22)
    #expect((last["from"] as? [String: Any])?["sequence"] as? Int == 21)
    #expect(last["between"] as? [Int] == [22])
    let one = try diff(["--to", "@15"])
    #expect((one["from"] as? [String: Any])?["state"] as? String == "authenticated")
    #expect((one["to"] as? [String: Any])?["state"] as? String == "expired")
    let rest = try diff(["--from", "@15"])
    #expect((rest["to"] as? [String: Any])?["sequence"] as? Int == 27)
    let all = try diff(["--to", "@15", "--all-fields"])
    #expect((all["changes"] as? [Any])?.count ?? 0 > (one["changes"] as? [Any])?.count ?? 0)
  }

  @Test("RPL-5 --exit-code tells whether anything differs; damage results in 65 first")
  func codes() throws {
    #expect(ToolRun.inProcess(["diff", journal, "--exit-code"]).code == 3)
    let same = ToolRun.inProcess(["diff", journal, "--exit-code", "--from", "@24", "--to", "@24"])
    #expect(same.code == 0)
    #expect(same.output.contains("Nothing of the state differs."))
    let damaged = ToolRun.inProcess(["diff", folder.file("damaged.journal"), "--exit-code"])
    #expect(damaged.code == 65)
    #expect(damaged.output.hasPrefix("@7 → @8"))
    #expect(ToolRun.inProcess(["diff", folder.file("damaged.journal"), "--to", "@5"]).code == 0)
    #expect(ToolRun.inProcess(["diff", folder.file("torn.journal")]).code == 2)
    for (options, name) in [
      (["--to", "@99"], "beyondTheEnd"), (["--from", "@-99"], "beyondTheStart"),
      ([folder.file("open.journal"), "--from", "@1"], "conflict"),
    ] {
      let run = ToolRun.inProcess(["diff", journal, "--json"] + options)
      #expect(run.code == 64)
      #expect(try run.error()["name"] as? String == name)
    }
    let compacted = folder.file("compacted.journal")
    #expect(ToolRun.inProcess(["diff", compacted]).code == 0)
    #expect(
      try ToolRun.inProcess(["diff", compacted, "--from", "@3", "--json"]).error()["name"]
        as? String == "compacted")
  }

  @Test("RPL-1 diff of two files shows the first record in which they differ")
  func files() throws {
    func compare(_ left: String, _ right: String, _ code: Int32 = 0) throws -> [String: Any] {
      let run = ToolRun.inProcess(["diff", folder.file(left), folder.file(right), "--json"])
      #expect(run.code == code, "\(left) \(right)")
      return try #require(try run.objects().first)
    }
    let same = try compare("a.journal", "open.journal")
    #expect(same["same"] as? Bool == true)
    #expect(same["common"] as? Int == 27)
    var other = SampleJournal.batches
    other[5] = (2_200, [.note(.closed)])
    try SampleJournal.write(to: folder.file("other.journal"), batches: other)
    let part = try compare("a.journal", "other.journal")
    let first = try #require(part["firstDifference"] as? [String: Any])
    #expect(part["common"] as? Int == 5)
    #expect(first["sequence"] as? Int == 6)
    #expect((first["left"] as? [String: Any])?["name"] as? String == "refreshFailed")
    #expect((first["right"] as? [String: Any])?["name"] as? String == "closed")
    try SampleJournal.write(
      to: folder.file("short.journal"), batches: Array(SampleJournal.batches.prefix(3)))
    let short = try compare("short.journal", "a.journal")
    #expect((short["firstDifference"] as? [String: Any])?["left"] is NSNull)
    // A compacted copy has the same records after its snapshot.
    let compacted = try compare("compacted.journal", "compacted.journal")
    #expect(compacted["same"] as? Bool == true)
    #expect(compacted["skipped"] as? Int ?? 0 > 0)
    let damaged = try compare("a.journal", "damaged.journal", 65)
    #expect(damaged["common"] as? Int == 9)
    let run = ToolRun.inProcess([
      "diff", "--exit-code", folder.file("a.journal"), folder.file("other.journal"),
    ])
    #expect(run.code == 3)
    #expect(run.output.contains("are the same up to @5 (5 records)."))
  }
}

@Suite("RPL-2 verify with several files and with files that are being written")
struct VerifyFilesTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
  }

  private func files(_ names: [String]) -> [String] { names.map { folder.file($0) } }

  @Test("RPL-5 with several files the exit code is the worst one")
  func worst() throws {
    let cases: [(names: [String], code: Int32)] = [
      (["a.journal", "room.journal"], 0), (["a.journal", "torn.journal"], 2),
      (["undetermined.journal", "a.journal", "damaged.journal"], 65),
      (["illegal.journal", "none", "torn.journal"], 66),
    ]
    for (names, code) in cases {
      let run = ToolRun.inProcess(["verify"] + files(names))
      #expect(run.code == code, "\(names)")
      let bad = names.filter { !["none", "a.journal", "room.journal"].contains($0) }
      #expect(run.output.components(separatedBy: " is ").count - 1 >= bad.count)
      let last = try #require(run.output.split(separator: "\n").last)
      let good = names.count - bad.count - (names.contains("none") ? 1 : 0)
      #expect(last.hasPrefix("\(names.count) journals: \(good) good"))
      let json = ToolRun.inProcess(["verify", "--json"] + files(names))
      #expect(json.code == code)
      #expect(
        try json.objects().compactMap { $0["file"] as? String }
          == files(names.filter { $0 != "none" }))
      let quiet = ToolRun.inProcess(["verify", "--quiet"] + files(names))
      #expect(quiet.code == code)
      #expect(quiet.output.isEmpty)
      // A file that could not be read is named.
      #expect(quiet.errors.isEmpty == !names.contains("none"), "\(quiet.errors)")
    }
    let alone = ToolRun.inProcess(["verify", "--quiet", folder.file("damaged.journal")])
    #expect(alone.code == 65)
    #expect(alone.errors.isEmpty)
  }

  @Test("RPL-2 a folder means the journals in it")
  func folders() throws {
    let run = ToolRun.inProcess(["verify", "--json", folder.path])
    #expect(run.code == 65)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
      $0.hasSuffix(".journal")
    }.sorted()
    #expect(try run.objects().compactMap { $0["file"] as? String } == files(names))
    let empty = try TemporaryFolder()
    let none = ToolRun.inProcess(["verify", empty.path])
    #expect(none.code == 66)
    #expect(none.errors.contains("holds no journal"))
  }

  @Test("JRN-1 RPL-2 verify ignores bytes appended later, and an unfinished commit is not a fault")
  func frozen() throws {
    let whole = try folder.bytes("open.journal")
    let frames = try Journals.frames(whole)
    let ends = [64] + frames.filter(\.isLastOfBatch).map(\.end)
    let path = folder.file("growing.journal")
    // Frozen anywhere, then grown to its end: clean, and read to the last batch that was whole.
    for length in stride(from: 64, through: whole.count, by: 7) {
      _ = try folder.write(Array(whole[..<length]), to: "growing.journal")
      var reader = try JournalReader(path: path, isFrozen: true)
      let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      try handle.seekToEnd()
      try handle.write(contentsOf: whole[length...])
      try handle.close()
      let ending = try reader.frozenEnding()
      let grows = try reader.isGrowing(after: ending)
      #expect(ending == .clean, "\(length)")
      #expect(reader.totals.bytes == UInt64(ends.last { $0 <= length } ?? 0), "\(length)")
      #expect(reader.frozenEnd == UInt64(length))
      #expect(grows == (length < whole.count), "\(length)")
    }
    // Frozen in the middle of a commit, and no writer continues: torn.
    let torn = try folder.write(Array(whole.dropLast(3)), to: "growing.journal")
    var reader = try JournalReader(path: torn, isFrozen: true)
    let ending = try reader.frozenEnding()
    if case .torn = ending {} else { Issue.record("\(ending)") }
    let grows = try reader.isGrowing(after: ending)
    #expect(!grows)
  }

  @Test("JRN-1 verify recognizes a writer that fills its reserved room")
  func room() throws {
    let whole = try folder.bytes("open.journal")
    let frames = try Journals.frames(whole)
    let cut = try #require(frames.dropLast(3).last { $0.isLastOfBatch }).end
    let zeros = [UInt8](repeating: 0, count: whole.count - cut)
    let path = try folder.write(Array(whole[..<cut]) + zeros, to: "room2.journal")
    var reader = try JournalReader(path: path, isFrozen: true)
    let ending = try reader.frozenEnding()
    #expect(ending == .clean)
    let before = try reader.isGrowing(after: ending)
    #expect(!before)
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.seek(toOffset: UInt64(cut))
    try handle.write(contentsOf: whole[cut...])
    try handle.close()
    let after = try reader.isGrowing(after: ending)
    #expect(after)
  }
}
