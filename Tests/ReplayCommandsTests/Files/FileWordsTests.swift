import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionExplain
import SessionJournal
import Testing

@testable import ReplayCommands

/// The texts of `export`, `import` and `repair`.
@Suite("Texts of the commands that make files")
struct FileWordsTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
  }

  private func lines(_ options: [String] = ["--reveal"]) -> [String] {
    ToolRun.inProcess(["export", folder.file("a.journal")] + options).output
      .split(separator: "\n").map(String.init)
  }

  private func imported(_ text: String, _ options: [String] = []) throws -> ToolRun {
    ToolRun.inProcess(
      ["import", "--dry-run", try folder.write(Array(text.utf8), to: "x.jsonl")] + options)
  }

  @Test("RPL-5 names in sentences are quoted so that a shell reads them back")
  func names() throws {
    for name in [
      "a b", "a'b", "a\nb", "$HOME", "a;b", "~x", "a*", "a\\b", "a\"b", "a\tb'c\\d", "#a", "ñ", "!",
      "a&b", "-rf", "a.journal", "(x)", "a`b`", "{a,b}", "\u{202E}x", "\u{1}0",
    ] {
      let quoted = name.quotedWhereNeeded
      #expect(!quoted.contains { $0.isNewline })
      let run = try ToolRun.run("/bin/bash", ["-c", "printf %s \(quoted)"])
      let wanted = name.hasPrefix("-") ? "./" + name : name
      let isSame = Array(run.output.utf8) == Array(wanted.utf8)
      #expect(isSame, "\(quoted): \(run.output)")
    }
    #expect("a.b/c_d-1+2:3@4%5,6=7".quotedWhereNeeded == "a.b/c_d-1+2:3@4%5,6=7")
    #expect("-".quotedWhereNeeded == "-")
  }

  @Test("RPL-5 a line feed in a name does not break a report, and JSON keeps the name")
  func lineFeeds() throws {
    let path = try folder.write(try folder.bytes("damaged.journal"), to: "a\nb c.journal")
    let run = ToolRun.inProcess(["repair", path, "--dry-run"])
    #expect(run.output.split(separator: "\n").count == 6)
    #expect(run.output.contains("Next: sessionreplay repair $'"))
    let json = ToolRun.inProcess(["repair", path, "--dry-run", "--json"])
    #expect(try json.objects().first?["input"] as? String == path)
    let good = try folder.write(
      Array((lines().joined(separator: "\n") + "\n").utf8), to: "a\nb c.jsonl")
    let read = ToolRun.inProcess(["import", good, "--dry-run", "--json"])
    #expect(try read.objects().first?["input"] as? String == good)
    let bad = try ToolRun.shell("echo '{' | \"$0\" import - --dry-run")
    #expect(bad.code == 65 && !bad.errors.contains("standard input\n"))
  }

  @Test("RPL-5 a word of several megabytes is refused at once with a short error")
  func longWords() throws {
    let word = String(repeating: "x", count: 1_000_000)
    #expect(Suggestion.nearest(to: word, in: ["verify"]) == nil)
    for arguments in [
      [word], ["verify", "--" + word, "a"], ["export", "a", "--format", word],
      ["verify", word], ["timeline", "a", "--kind", word],
      ["timeline", "a", "--since", word], ["import", "a", "b" + word],
      ["export", folder.file("a.journal"), "-o", folder.file(word)],
    ] {
      let run = ToolRun.inProcess(arguments)
      #expect(run.code != 0)
      #expect(run.errors.utf8.count < 2_000, "\(arguments.map { $0.prefix(20) })")
    }
    var edited = lines()
    edited[2] = edited[2].replacing("\"password\"", with: "\"\(word)\"")
    edited[1] = edited[1].replacing("\"process\":4242", with: "\"process\":4242")
    let run = try imported(edited.joined(separator: "\n") + "\n")
    #expect(run.code == 65 && run.errors.utf8.count < 2_000)
    #expect(run.errors.contains("…"))
  }

  @Test("STO-3 a key that could be guessed is refused")
  func shortKey() throws {
    for key in ["", "k", "fifteen bytes !"] {
      let file = try folder.write(Array("\(key)\n\n".utf8), to: "key")
      let page = ToolRun.inProcess([
        "report", folder.file("a.journal"), "-o", "-", "--key-file", file,
      ])
      #expect(page.code == 64 && page.output.isEmpty)
      let run = ToolRun.inProcess(["export", folder.file("a.journal"), "--key-file", file])
      #expect(run.code == 64 && run.errors.contains("16 or more"), "\(run.errors)")
      #expect(run.output.isEmpty)
    }
  }

  @Test("RPL-4 an export that ends with damage is imported with a note about the damage")
  func ending() throws {
    for (name, isNoted) in [("damaged", true), ("torn", true), ("a", false)] {
      let text = ToolRun.inProcess(["export", folder.file(name + ".journal")]).output
      let run = try imported(text)
      #expect(run.code == 0)
      #expect(run.errors.contains("Note: the export ends") == isNoted, "\(name)")
      let json = try imported(text, ["--json"])
      #expect(json.errors.isEmpty)
      #expect(try json.objects().first?["ending"] as? String == (isNoted ? name : "clean"))
    }
  }

  @Test("RPL-4 empty lines may follow the last line, and the error names byte order marks")
  func edges() throws {
    let text = lines().joined(separator: "\n") + "\n"
    #expect(try imported(text + "\n\r\n \n").code == 0)
    #expect(try imported(text + "\n{}\n").errors.contains("behind the line of the end"))
    #expect(try imported("\u{FEFF}" + text).errors.contains("byte order mark"))
    #expect(try imported("\n" + text).code == 65)
  }

  @Test("RPL-4 permissions that a journal would change are refused")
  func permissions() throws {
    var edited = lines()
    let range = try #require(edited[2].range(of: "\"permissions\":["))
    let end = try #require(edited[2][range.upperBound...].firstIndex(of: "]"))
    let before = edited[2]
    for (list, isGood) in [
      ("\"a\",\"b\"", true), ("\"b\",\"a\"", false), ("\"a\",\"a\"", false), ("", true),
    ] {
      edited[2] =
        String(before[..<range.upperBound]) + list + String(before[end...])
      // Later lines may be illegal after the edit. The test does not look at them.
      var reader = ImportReader()
      var problem: ImportProblem?
      do throws(ImportProblem) {
        for line in edited[...2] { _ = try reader.take(Array(line.utf8)[...]) }
      } catch {
        problem = error
      }
      #expect((problem == nil) == isGood, "\(list)")
      #expect(isGood || problem?.name == .badLine)
    }
  }

  @Test("RPL-4 a compacted journal whose snapshot cannot be read is exported as partial")
  func lostSnapshot() throws {
    var bytes = try folder.bytes("compacted.journal")
    bytes[100] ^= 1
    let path = try folder.write(bytes, to: "lost.journal")
    let run = ToolRun.inProcess(["export", path])
    #expect(run.code == 65)
    let objects = try run.objects()
    #expect(objects.first?["partial"] as? Bool == true)
    #expect(objects.last?["ending"] as? String == "damaged")
    #expect(try imported(run.output, ["--json"]).error()["name"] as? String == "partial")
  }

  @Test("RPL-2 repair counts only the dropped records that can be read")
  func behind() throws {
    let closed = SessionCodec.encode(.note(.closed), at: SampleJournal.start)
    let draft = JournalDraft(kind: closed.kind, payload: closed.payload)
    let logout = SessionCodec.encode(
      .event(.logout(.init(reason: .user))), at: SampleJournal.start)
    let illegal = JournalDraft(kind: logout.kind, payload: logout.payload)
    let unreadable = JournalDraft(kind: closed.kind, payload: [])
    let path = folder.file("batch.journal")
    // Good records surround the bad one: in its own batch and in the next.
    try SampleJournal.write(
      to: path, drafts: [[draft], [draft, illegal, draft], [draft]])
    func lost(_ path: String) throws -> [String: Any] {
      let run = ToolRun.inProcess(["repair", path, "--dry-run", "--json"])
      return try #require(try run.objects().first?["lost"] as? [String: Any], "\(run.errors)")
    }
    #expect(try lost(path)["readableRecords"] as? Int == 4)
    #expect(
      ToolRun.inProcess(["repair", path, "--dry-run"]).output.contains(
        "4 records can still be read (seq 2 to 5)"))
    let second = folder.file("second.journal")
    try SampleJournal.write(to: second, drafts: [[draft], [draft, unreadable, draft]])
    #expect(try lost(second)["readableRecords"] as? Int == 2)
    // Two records of a batch that is cut are whole.
    let third = folder.file("third.journal")
    try SampleJournal.write(to: third, drafts: [[draft], [draft, draft, draft]])
    let bytes = try folder.bytes("third.journal")
    let frames = try Journals.frames(bytes)
    let cut = try folder.write(Array(bytes[..<(frames[3].end - 8)]), to: "cut.journal")
    #expect(try lost(cut)["readableRecords"] as? Int == 0)
    #expect(try lost(cut)["looseFrames"] as? Int == 2)
    #expect(
      ToolRun.inProcess(["repair", cut, "--dry-run"]).output.contains(
        "2 whole frames more are of no whole batch"))
    // A sequence of the journal's own frames is not counted as a record.
    let damaged = ToolRun.inProcess(["repair", folder.file("damaged.journal"), "--dry-run"])
    #expect(damaged.output.contains("17 records can still be read (within seq 11 to 28)"))
  }
}
