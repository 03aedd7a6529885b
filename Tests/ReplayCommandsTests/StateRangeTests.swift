import ChildProcesses
@_spi(Internals) import SessionCore
import SessionJournal
import Testing

@Suite("The range of state --at, and the quoting of file names")
struct StateRangeTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func at(_ selector: String, _ path: String) -> ToolRun {
    ToolRun.inProcess(["state", path, "--at", selector])
  }

  @Test("RPL-1 state refuses a record outside the journal and reports the bounds")
  func beyond() throws {
    // A closed journal ends with a watermark. It has a sequence but is not a record.
    let path = folder.file("a.journal")
    try SampleJournal.write(to: path)
    for (selector, told, next) in [
      ("@28", "the last record is @27", "--at @-1"), ("@99", "the last record is @27", "--at @-1"),
      ("@-28", "it has 27 records", "--at @-27"), ("@-99", "it has 27 records", "--at @-27"),
    ] {
      let run = at(selector, path)
      #expect(run.code == 64, "\(selector)")
      #expect(run.output.isEmpty)
      #expect(
        run.errors == "Error: \(path) has no record \(selector); \(told).\nTry: \(next)\n")
    }
    for selector in ["@0", "@1", "@-27"] { #expect(at(selector, path).code == 0) }
  }

  @Test("RPL-1 RPL-3 before the first record state and why know nothing, and name the first record")
  func early() throws {
    let path = folder.file("a.journal")
    try SampleJournal.write(to: path)
    for command in ["state", "why"] {
      for selector in ["1999-12-31", "-900d", "1999-12-31 10:00", "1999-12-31T10:00:00Z"] {
        let run = ToolRun.inProcess([command, path, "--at", selector])
        #expect(run.code == 64, "\(command) \(selector)")
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("the first one is of 2026-"), "\(run.errors)")
        #expect(run.errors.hasSuffix("Try: --at @1\n"))
      }
    }
  }

  @Test("RPL-1 a number in a gap between records selects the record before the gap")
  func gap() throws {
    let path = folder.file("gap.journal")
    let note = SessionRecord.Content.note(.closed)
    try SampleJournal.write(to: path, batches: [(0, [note])])
    let journal = try Journal.open(at: path)
    let (kind, payload) = SessionCodec.encode(note, at: SampleJournal.start)
    let appended = try journal.append([JournalDraft(kind: kind, payload: payload)]).appended
    let sequence = try #require(appended.last?.sequence)
    try journal.close()
    #expect(sequence > 2, "no watermark came between")
    #expect(at("@2", path).code == 0)
    #expect(at("@\(sequence)", path).code == 0)
    #expect(at("@\(sequence + 1)", path).errors.contains("the last record is @\(sequence)."))
  }

  @Test("RPL-1 state refuses every record number of a journal without records")
  func noRecords() throws {
    let path = folder.file("none.journal")
    try SampleJournal.write(to: path, batches: [])
    #expect(at("@0", path).code == 0)
    for selector in ["@1", "@-1"] {
      let run = at(selector, path)
      #expect(run.code == 64)
      #expect(run.errors.contains("has no record \(selector); it has no records.\nTry: --at @0\n"))
    }
  }

  @Test("RPL-1 the error about a record names the damage first if the rest is damaged")
  func damaged() throws {
    try Journals.write(into: folder)
    let run = at("@-99", folder.file("damaged.journal"))
    #expect(run.code == 65)
    #expect(run.errors.contains("is damaged at byte"))
    #expect(run.errors.contains("9 good records can be read, and @-99 is none of them."))
  }

  @Test("RPL-5 an empty name is refused", arguments: ["timeline", "state", "verify"])
  func emptyName(command: String) {
    let run = ToolRun.inProcess([command, ""])
    #expect(run.code == 64)
    #expect(
      run.errors
        == "Error: No file was named: FILE is empty.\nTry: sessionreplay \(command) FILE\n")
  }

  @Test("RPL-5 errors quote a name with spaces or quotes for a shell")
  func quoted() throws {
    for (name, shown) in [
      ("a b.journal", "/a b.journal'"), ("it's.journal", #"/it'\''s.journal'"#),
    ] {
      let path = folder.file(name)
      let missing = ToolRun.inProcess(["verify", path])
      #expect(missing.code == 66)
      #expect(missing.errors.hasPrefix("Error: There is no file at '/"))
      #expect(missing.errors.contains(shown))
      try SampleJournal.write(to: path)
      #expect(ToolRun.inProcess(["verify", path]).output.contains("\(shown) is good\n"))
    }
    let plain = folder.file("plain.journal")
    #expect(ToolRun.inProcess(["verify", plain]).errors.contains(" at \(plain).\n"))
  }
}
