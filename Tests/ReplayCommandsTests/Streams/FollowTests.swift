import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import Testing

/// `follow` in a process of its own, while this process writes.
@Suite("RPL-1 follow")
struct FollowTests {
  private let folder: TemporaryFolder
  private var journal: String { folder.file("a.journal") }

  init() throws {
    folder = try TemporaryFolder()
    try SampleJournal.write(to: folder.file("a.journal"))
  }

  /// Appends one batch; the sequence of its last record.
  private func append(_ drafts: [JournalDraft], to journal: Journal) throws -> Int {
    Int(try #require(try journal.append(drafts).appended.last?.sequence))
  }

  private func draft(_ content: SessionRecord.Content = .note(.closed)) -> JournalDraft {
    let (kind, payload) = SessionCodec.encode(content, at: SampleJournal.start)
    return JournalDraft(kind: kind, payload: payload)
  }

  @Test(
    "RPL-1 follow first shows the last ten records, the requested number, or those after a place")
  func beginning() throws {
    func shown(_ options: String...) throws -> [Int] {
      let run = ToolRun.inProcess(
        ["follow", journal, "--json", "--timeout", "0ms"] + options)
      #expect(run.code == 0, "\(options): \(run.errors)")
      return try run.objects().compactMap { $0["sequence"] as? Int }
    }
    #expect(try shown() == Array(18...27))
    #expect(try shown("-n", "3") == [25, 26, 27])
    #expect(try shown("-n0") == [])
    #expect(try shown("--since", "@20") == Array(20...27))
    #expect(try shown("--kind", "login") == [2, 16])
    #expect(try shown("--reason", "user", "-n", "5") == [22])
    #expect(try shown("--since", "@1", "--until-kind", "refreshFailed") == Array(1...6))
    // The record that ends it is shown even if it is not selected.
    #expect(try shown("--since", "@10", "--kind", "event", "--until-kind", "unknown").last == 26)
    let text = ToolRun.inProcess(["follow", journal, "-n2", "--delta", "--timeout", "0s"])
    #expect(text.output.split(separator: "\n").count == 2)
    #expect(text.output.contains("     +100 ms  "))
  }

  @Test("RPL-5 follow reports why it cannot start or did not finish")
  func refusals() throws {
    let late = ToolRun.inProcess(
      ["follow", journal, "-n0", "--until-kind", "logout", "--timeout", "0ms", "--json"])
    #expect(late.code == 3)
    #expect(try late.error()["name"] as? String == "timedOut")
    for (options, name) in [
      (["--timeout", "soon"], "badDuration"), (["--until-kind", "logot"], "badKind"),
      (["-n", "20001"], "badValue"),
    ] {
      let run = ToolRun.inProcess(["follow", journal, "--json"] + options)
      #expect(run.code == 64)
      #expect(try run.error()["name"] as? String == name)
    }
    #expect(
      ToolRun.inProcess(["follow", journal, "--until-kind", "logot"]).errors
        .hasSuffix("Try: --until-kind logout\n"))
    #expect(ToolRun.inProcess(["follow", "-"]).code == 64)
    let none = ToolRun.inProcess(["follow", folder.file("none"), "--timeout", "0ms"])
    #expect(none.code == 66 && none.errors.contains("waiting for it"), "\(none.errors)")
    let noFolder = ToolRun.inProcess(["follow", folder.file("none/a.journal"), "--json"])
    #expect(noFolder.code == 66)
    #expect(try noFolder.error()["name"] as? String == "missing")
    try Journals.write(into: folder)
    let damaged = ToolRun.inProcess(["follow", folder.file("damaged.journal"), "-n", "3"])
    #expect(damaged.code == 65)
    #expect(damaged.output.split(separator: "\n").count == 3)
    #expect(ToolRun.inProcess(["follow", folder.file("undecodable.journal")]).code == 65)
  }

  @Test(
    "JRN-1 RPL-1 every record of another process is shown once and in order, and the chosen kind ends it"
  )
  func live() throws {
    let tool = try LiveTool([
      "follow", journal, "--json", "-n", "1", "--until-kind", "login",
    ])
    #expect(try tool.sequence() == 27)
    let writer = try Journal.open(at: journal)
    var written: [Int] = []
    // First one by one, each seen before the next is written; then many at once.
    for _ in 0..<20 {
      let sequence = try append([draft()], to: writer)
      #expect(try tool.sequence() == sequence)
    }
    for _ in 0..<200 {
      let last = try append([draft(), draft(), draft(), draft(), draft()], to: writer)
      written += (last - 4)...last
    }
    let login = try #require(SampleJournal.batches[1].contents.first)
    written.append(try append([draft(login)], to: writer))
    var found: [Int] = []
    while let sequence = try tool.sequence() { found.append(sequence) }
    #expect(found == written)
    #expect(tool.code() == 0)
    try writer.close()
  }

  @Test("RPL-1 a file that is not there yet is waited for, and all of its records are new")
  func waiting() throws {
    let path = folder.file("late.journal")
    let tool = try LiveTool(["follow", path, "--until-kind", "login", "--timeout", "60s"])
    // Nothing shows from outside that it waits: the file is made after some time.
    Thread.sleep(forTimeInterval: 0.3)
    try SampleJournal.write(to: folder.file("making"))
    try FileManager.default.moveItem(atPath: folder.file("making"), toPath: path)
    #expect(try tool.line()?.contains("(opened)") == true)
    #expect(try tool.line()?.contains("login") == true)
    #expect(try tool.line() == nil)
    #expect(tool.code() == 0)
    let note = try tool.complaints()
    #expect(note == "Note: there is no file at \(path) yet; waiting for it.\n")
    let late = ToolRun.inProcess([
      "follow", folder.file("never"), "--until-kind", "login", "--timeout", "60ms", "--json",
    ])
    #expect(late.code == 3)
    #expect(try late.error()["name"] as? String == "timedOut")
  }

  @Test("RPL-1 the first bytes of an empty file are waited for")
  func waitingForBytes() throws {
    let path = try folder.write([], to: "empty.journal")
    let tool = try LiveTool(["follow", path, "--until-kind", "login", "--timeout", "60s"])
    Thread.sleep(forTimeInterval: 0.3)
    try SampleJournal.write(to: folder.file("making"))
    #expect(rename(folder.file("making"), path) == 0)
    #expect(try tool.line()?.contains("(opened)") == true)
    #expect(try tool.line()?.contains("login") == true)
    #expect(tool.code() == 0)
    #expect(
      try tool.complaints() == "Note: \(path) is empty; waiting for its first bytes.\n")
  }

  @Test("RPL-11 a signal ends the wait for a file")
  func waitingEnds() throws {
    let tool = try LiveTool(["follow", folder.file("never")])
    Thread.sleep(forTimeInterval: 0.3)
    tool.signal(SIGTERM)
    #expect(tool.code() == 143)
  }

  @Test("JRN-4 after a compaction no record is missing and none is shown twice")
  func compaction() throws {
    let path = folder.file("b.journal")
    try Journals.writeCompacted(to: path, keepingFrom: 3)
    let tool = try LiveTool(["follow", path, "--json", "-n", "1"])
    let start = try #require(try tool.sequence())
    let writer = try Journal.open(at: path)
    var expected: [Int] = []
    for round in 0..<4 {
      expected.append(try append([draft()], to: writer))
      _ = try writer.compact(keepingFrom: UInt64(start + round), summary: SnapshotSummary())
      expected.append(try append([draft()], to: writer))
      for sequence in expected.suffix(2) { #expect(try tool.sequence() == sequence) }
    }
    tool.signal(SIGTERM)
    #expect(tool.code() == 143)
    try writer.close()
  }

  @Test("JRN-2 follow continues if a writer is killed during a commit")
  func killedWriter() throws {
    let whole = try folder.bytes("a.journal")
    let frames = try Journals.frames(whole)
    let ends = frames.filter(\.isLastOfBatch).map(\.end)
    let path = try folder.write(Array(whole[..<ends[3]]), to: "killed.journal")
    let tool = try LiveTool(["follow", path, "--json", "-n", "1"])
    #expect(try tool.sequence() == 4)
    // Another process writes two commits and half of a third, and is killed.
    let script = """
      import os, sys
      whole = open(sys.argv[1], 'rb').read()
      with open(sys.argv[2], 'ab', buffering=0) as file:
          for start, end in ((\(ends[3]), \(ends[4])), (\(ends[4]), \(ends[5] + 20))):
              file.write(whole[start:end])
      os.kill(os.getpid(), 9)
      """
    let killed = try ToolRun.shell(
      "shift 0; python3 -c \"$3\" \"$1\" \"$2\"; echo $?", [journal, path, script])
    #expect(killed.output == "137\n")
    #expect(try tool.sequence() == 5)
    #expect(try tool.sequence() == 6)
    // The next process that opens the journal removes the half commit and continues.
    let writer = try Journal.open(at: path)
    let next = try append([draft()], to: writer)
    #expect(try tool.sequence() == next)
    try writer.close()
    tool.signal(SIGINT)
    #expect(tool.code() == 130)
    #expect(try tool.complaints().isEmpty)
  }

  @Test("JRN-2 a file that is cut, replaced or removed ends follow with an error about it")
  func otherFiles() throws {
    let whole = try folder.bytes("a.journal")
    let frames = try Journals.frames(whole)
    let end = try #require(frames.dropLast(5).last { $0.isLastOfBatch }).end
    for (change, code, words) in [
      ("truncate -s \(end) \"$1\"", 65, "damaged"),
      ("mv \"$2\" \"$1\"", 65, "Another journal"),
      ("rm \"$1\"", 66, "There is no file"),
    ] {
      let path = try folder.write(whole, to: "other.journal")
      let stranger = folder.file("stranger.journal")
      let journal = try Journal.open(at: stranger)
      try journal.close()
      let tool = try LiveTool(["follow", path, "-n", "1"])
      #expect(try tool.line() != nil)
      _ = try ToolRun.shell(change, [path, stranger])
      #expect(try tool.line() == nil)
      #expect(tool.code() == Int32(code), "\(change)")
      #expect(try tool.complaints().contains(words), "\(change)")
    }
  }

  @Test("RPL-5 a closed output ends follow even if nothing is written any more")
  func closedPipe() throws {
    let run = try ToolRun.shell(
      "{ \"$0\" follow \"$1\"; echo \"code $?\" >&2; } | head -n 3", [journal])
    #expect(run.errors == "code 0\n")
    #expect(run.output.split(separator: "\n").count == 3)
  }
}
