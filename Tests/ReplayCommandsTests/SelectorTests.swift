import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import Testing

@testable import ReplayCommands

@Suite("RPL-5 selectors")
struct SelectorTests {
  private let folder: TemporaryFolder
  private let file: JournalFile

  /// The last record is of the day after the first one.
  init() throws {
    folder = try TemporaryFolder()
    let note = SessionRecord.Content.note(.closed)
    let hours: Int64 = 3_600_000
    // 14:00 and 20:00 of 2026-11-21; 00:00, 09:00 and 23:59:59.999 of 2026-11-22.
    let times: [Int64] = [0, 6 * hours, 10 * hours, 19 * hours, 34 * hours - 1]
    let path = folder.file("a.journal")
    try SampleJournal.write(to: path, batches: times.map { ($0, [note]) })
    file = JournalFile(path: path, name: path)
  }

  private func sequence(
    _ text: String, _ side: SelectorResolver.Side, now: String = "2026-11-22T10:00:00Z"
  ) throws -> UInt64? {
    let selector = try #require(Selector(text), "\(text)")
    let time = try #require(Timestamp(now))
    return try SelectorResolver(file: file, zone: .utc, now: time).resolve([(selector, side)]).first
  }

  @Test("RPL-5 a day selects its first record for --since and its last for --until")
  func days() throws {
    for (text, first, last) in [
      ("today", 3, 5), ("yesterday", 1, 2), ("2026-11-21", 1, 2), ("2026-11-22", 3, 5),
      ("Today", 3, 5), ("2026-11-20", 1, 0), ("2026-11-23", 6, 5),
    ] as [(String, UInt64, UInt64)] {
      #expect(try sequence(text, .atOrAfter) == first, "\(text)")
      #expect(try sequence(text, .atOrBefore) == last, "\(text)")
    }
    #expect(try sequence("today", .atOrAfter, now: "2026-11-21T23:59:59.999Z") == 1)
    #expect(try sequence("yesterday", .atOrBefore, now: "2026-11-23T00:00:00Z") == 5)
  }

  @Test("RPL-5 times and numbers are read as people type them")
  func times() throws {
    for (text, first, last) in [
      ("2026-11-22 09:00", 4, 4), ("2026-11-22 9:00", 4, 4), ("2026-11-22T09:00:01", 5, 4),
      ("yesterday 20:00", 2, 2), ("today 23:59:59.999", 5, 5), ("09:00", 4, 4), ("9:00", 4, 4),
      ("20:00", 2 + 3, 4), ("2026-11-22T10:00:00+01:00", 4, 4), ("5", 5, 5), ("@5", 5, 5),
      ("@-1", 5, 5), ("-15h", 4, 3),
    ] as [(String, UInt64, UInt64)] {
      #expect(try sequence(text, .atOrAfter) == first, "\(text)")
      #expect(try sequence(text, .atOrBefore) == last, "\(text)")
    }
    for text in ["", "tomorrow", "2026-11-31", "2026-13-01", "24:00", "-3", "@", "10", "10:2"]
    where text != "10" { #expect(Selector(text) == nil, "\(text)") }
  }

  @Test("RPL-5 an error names the form that was probably meant")
  func nearest() {
    for (text, near) in [
      ("yesteday", "yesterday"), ("3h", "-3h"), ("3 hours ago", "-3h"), ("90 sec", "-90s"),
      ("-5", "@-5"), ("2026/11/22", "2026-11-22"), ("22.11.2026", "2026-11-22"),
      ("11/22/2026", "2026-11-22"), ("14.02", "14:02"), ("2:02 pm", "14:02"), ("12am", "00:00"),
      ("now", "@-1"),
    ] {
      #expect(Selector(text) == nil, "\(text)")
      #expect(Selector.nearest(to: text) == near, "\(text)")
    }
    #expect(Selector.nearest(to: "soon") == nil)
    let path = folder.file("a.journal")
    let run = ToolRun.inProcess(["state", path, "--at", "22.11.2026"])
    #expect(run.code == 64 && run.errors.hasSuffix("Try: --at 2026-11-22\n"), "\(run.errors)")
  }

  @Test("RPL-5 a time that a zone skips or shows twice selects one moment")
  func changesOfZone() throws {
    // Times of the local zone are read by the same rule as shown times are made.
    for text in ["2026-03-29T02:30:00Z", "2026-10-25T02:30:00Z", "2026-07-01T12:00:00Z"] {
      let shown = try #require(Timestamp(text))
      let moment = TimeZoneChoice.local.moment(shown)
      let again = moment.advanced(by: TimeZoneChoice.local.offset(at: moment))
      #expect(abs(again.milliseconds(since: shown)) <= 3_600_000)
      #expect(TimeZoneChoice.utc.moment(shown) == shown)
    }
  }

  @Test("RPL-3 a file in the place of the command is explained")
  func fileAlone() throws {
    try Journals.write(into: folder)
    let path = folder.file("a.journal")
    for options in [[], ["--json"], ["--all"]] {
      let run = ToolRun.inProcess([path] + options)
      #expect(run.output == ToolRun.inProcess(["why", path] + options).output)
      #expect(run.code == 0 && !run.output.isEmpty)
    }
    #expect(ToolRun.inProcess([folder.file("none.journal")]).code == 66)
    #expect(ToolRun.inProcess(["none.journal"]).code == 66)
    let run = ToolRun.inProcess(["timelin"])
    #expect(run.code == 64 && run.errors.hasSuffix("Try: sessionreplay timeline\n"))
    #expect(ToolRun.inProcess(["help", path]).code == 64)
  }
}

@Suite("The range of state --at, and the quoting of file names")
struct StateRangeTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

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
      #expect(run.errors == "Error: \(path) has no record \(selector); \(told).\nTry: \(next)\n")
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
      run.errors == "Error: No file was named: FILE is empty.\nTry: sessionreplay \(command) FILE\n"
    )
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
