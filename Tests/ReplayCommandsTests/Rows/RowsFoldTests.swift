import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionExplain
import Testing

@testable import ReplayCommands

@Suite("RPL-7 rows of histories")
struct RowsFoldTests {
  private func rows<Fold: RowsFold>(_: Fold.Type, _ records: [SessionRecord]) throws -> [Fold.Row] {
    var (fold, rows) = (Fold(), [Fold.Row]())
    for record in records { try fold.take(record, endsBatch: true) { rows.append($0) } }
    fold.finish(damagedAt: nil) { rows.append($0) }
    return rows
  }

  /// The row without what the explanation says.
  private func plain(_ row: SessionRow) -> SessionRow {
    var plain = row
    let empty = SessionRow()
    (plain.cause, plain.certainty, plain.state) = (empty.cause, empty.certainty, empty.state)
    (plain.reason, plain.failure) = (nil, nil)
    return plain
  }

  @Test("RPL-7 the row of each session equals one that is computed from the whole history")
  func sessions() throws {
    var (ended, open, late) = (0, 0, 0)
    for seed in 0..<300 as Range<UInt64> {
      let records = try DrawnSession.ofRequests(seed: seed, records: 10 + Int(seed % 60))
      let found = try rows(SessionRows.self, records)
      let expected = try RowsOracle(records).rows
      #expect(found.map(plain) == expected, "\(seed)")
      ended += found.count { $0.sequence != nil }
      open += found.count { $0.sequence == nil }
      late += found.count { $0.lostRequests > 0 }
      // An open session has no end, and an ended one has a reason.
      #expect(found.allSatisfy { ($0.sequence == nil) == ($0.state == .authenticated) }, "\(seed)")
      #expect(found.allSatisfy { ($0.sequence == nil) == ($0.reason == nil) }, "\(seed)")
    }
    #expect(ended > 300 && open > 100 && late > 100, "\(ended) \(open) \(late)")
  }

  @Test("RPL-7 the row of each refresh equals one that is computed from the whole history")
  func refreshes() throws {
    var outcomes: [RefreshRow.Outcome: Int] = [:]
    for seed in 0..<300 as Range<UInt64> {
      let records = try DrawnSession.ofRequests(seed: seed, records: 10 + Int(seed % 60))
      let found = try rows(RefreshRows.self, records)
      #expect(found == (try RowsOracle(records).refreshes), "\(seed)")
      for row in found { outcomes[row.outcome, default: 0] += 1 }
    }
    #expect(RefreshRow.Outcome.allCases.allSatisfy { outcomes[$0, default: 0] > 20 }, "\(outcomes)")
  }

  @Test("RPL-7 the ends of rows are the ends that stats counts")
  func agreement() throws {
    for seed in 0..<60 as Range<UInt64> {
      let records = try DrawnSession.ofFigures(seed: seed, records: 80)
      let found = try rows(SessionRows.self, records)
      var stats = StatsFold(by: nil)
      try stats.count(records)
      stats.finish()
      let total = stats.groups.total
      #expect(UInt64(found.count { $0.sequence != nil }) == total.ended, "\(seed)")
      #expect(UInt64(found.count { $0.sequence == nil }) == total.open, "\(seed)")
    }
  }

  @Test("RPL-7 the cause and certainty of a row are those of the whole explanation")
  func judgement() throws {
    let source = RowSource(JournalNames(), isRedacted: false, file: "a", isDamaged: false)
    for seed in 0..<200 as Range<UInt64> {
      let records = try DrawnSession.ofRequests(seed: seed, records: 10 + Int(seed % 60))
      let found = try rows(SessionRows.self, records).filter { $0.sequence != nil }
      let whole = try rows(EndAnswers.self, records).filter(\.isEnd).map {
        $0.explanation(in: source)
      }
      #expect(found.map(\.cause) == whole.map(\.cause), "\(seed)")
      #expect(found.map(\.certainty) == whole.map(\.certainty), "\(seed)")
      #expect(found.map(\.reason) == whole.map(\.reason), "\(seed)")
      #expect(found.map(\.state) == whole.map(\.after), "\(seed)")
      #expect(found.map(\.sequence) == whole.map(\.sequence), "\(seed)")
    }
  }

  @Test("RPL-7 a session whose end is lost has no row, or that of an open one without its login")
  func lostEnd() throws {
    func login(_ user: Identifier, _ generation: UInt64, at sequence: UInt64) -> SessionRecord {
      let event = SessionEvent.Login(
        user: user, method: .password, token: SampleJournal.token(generation, at: 0))
      return SessionRecord(
        sequence: sequence, time: SampleJournal.start, content: .event(.login(event)))
    }
    func rows(_ records: [SessionRecord]) throws -> [SessionRow] {
      var (fold, found) = (SessionRows(), [SessionRow]())
      for (index, record) in records.enumerated() {
        try fold.take(record, endsBatch: true) { found.append($0) }
        guard index == 0 else { continue }
        fold.interrupt(EvidenceGap(after: 1, offset: 100, bytes: 50, sequences: 2...2)) {
          found.append($0)
        }
      }
      fold.finish(damagedAt: nil) { found.append($0) }
      return found
    }
    let open = try rows([login("u-1", 1, at: 1)])
    #expect(open.count == 1)
    #expect(open[0].state == .authenticated && open[0].sequence == nil && open[0].ended == nil)
    #expect(open[0].device.user == nil && open[0].login == nil && open[0].method == nil)
    #expect(open[0].began == nil && open[0].moment == nil)
    let later = try rows([login("u-1", 1, at: 1), login("u-2", 2, at: 3)])
    #expect(later.map(\.device.user) == ["u-2"])
    #expect(later.map(\.login) == [3])
  }

  @Test("RPL-7 an event that the state does not allow is refused and changes no row")
  func illegal() throws {
    let records = SampleJournal.records
    var (fold, found) = (SessionRows(), [SessionRow]())
    let logout = SessionRecord(
      sequence: 999, time: SampleJournal.start, content: .event(.logout(.init(reason: .user))))
    for (index, record) in records.enumerated() {
      if index == 0 {
        #expect(throws: SessionFold.Failure.self) {
          try fold.take(logout, endsBatch: true) { found.append($0) }
        }
      }
      try fold.take(record, endsBatch: true) { found.append($0) }
    }
    fold.finish(damagedAt: nil) { found.append($0) }
    #expect(found == (try rows(SessionRows.self, records)))
  }
}

@Suite("RPL-7 the span of time of rows")
struct RowWindowTests {
  private static let now = Timestamp("2026-11-26T10:30:00.000Z") ?? Timestamp(milliseconds: 0)

  private func window(_ words: [String]) throws -> RowWindow {
    try RowWindow(
      try Arguments(words + ["a.journal"], syntax: EndsCommand.syntax), .utc, now: Self.now)
  }

  /// Whether a row at this time is written with these options.
  private func includes(_ words: [String], _ time: String) throws -> Bool {
    let moment: Timestamp = try #require(Timestamp(time))
    return try window(words).includes(moment)
  }

  @Test("each form of a time is a bound that belongs to the span")
  func forms() throws {
    for (text, first) in [
      ("today", "2026-11-26T00:00:00.000Z"), ("yesterday", "2026-11-25T00:00:00.000Z"),
      ("2026-11-22", "2026-11-22T00:00:00.000Z"), ("10:27", "2026-11-26T10:27:00.000Z"),
      // A time of day that is still to come is that of the day before.
      ("10:31", "2026-11-25T10:31:00.000Z"), ("-3h", "2026-11-26T07:30:00.000Z"),
      ("2026-11-22 9:05", "2026-11-22T09:05:00.000Z"),
      ("2026-11-22T09:05:00+01:00", "2026-11-22T08:05:00.000Z"),
    ] {
      let time = try #require(Timestamp(first))
      let window = try window(["--since", text])
      #expect(window.includes(time), "\(text)")
      #expect(!window.includes(time.advanced(by: -1)), "\(text)")
    }
    #expect(try includes(["--until", "2026-11-22"], "2026-11-22T23:59:59.999Z"))
    #expect(try !includes(["--until", "2026-11-22"], "2026-11-23T00:00:00.000Z"))
    #expect(try includes(["--until", "-3h"], "2026-11-26T07:30:00.000Z"))
    #expect(try !includes(["--until", "-3h"], "2026-11-26T07:30:00.001Z"))
  }

  @Test("a row without a time is written only if there is no bound")
  func unknownTime() throws {
    #expect(try window([]).includes(nil))
    #expect(try !window(["--since", "today"]).includes(nil))
    #expect(try !window(["--until", "today"]).includes(nil))
  }

  @Test("RPL-5 a sequence, no time at all, and an end before the beginning are refused")
  func refusals() throws {
    for (words, name) in [
      (["--since", "5"], ToolError.Name.badValue), (["--until", "@-1"], .badValue),
      (["--since", "soon"], .badSelector),
      (["--since", "today", "--until", "yesterday"], .conflict),
    ] {
      let error = #expect(throws: ToolError.self) { try window(words) }
      #expect(error?.name == name, "\(words)")
      #expect(error?.code == .usage)
      #expect(error?.next?.isEmpty == false)
    }
  }
}

@Suite("Specs/ReplayRows.md")
struct RowsPageTests {
  /// The first cells of the tables under a heading.
  private func tables(under heading: String) throws -> [[String]] {
    let lines = try Repository.text("Specs/ReplayRows.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "## \(heading)"))
    let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
    return section.split { !$0.hasPrefix("|") }.map { table in
      table.dropFirst(2).compactMap {
        $0.split(separator: "|").first?.trimmingCharacters(in: .whitespaces)
      }
    }
  }

  @Test("RPL-7 the page and the code have the same columns in the same order")
  func columns() throws {
    #expect(try tables(under: "ends") == [SessionRow.columns.map(\.name)])
    let refreshes = try tables(under: "refreshes")
    #expect(
      refreshes == [RefreshRow.columns.map(\.name), RefreshRow.Outcome.allCases.map(\.rawValue)])
  }

  @Test("RPL-7 each row has every column in order", arguments: ["ends", "refreshes"])
  func keys(_ command: String) throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let run = ToolRun.inProcess([command, folder.path])
    let columns = command == "ends" ? SessionRow.columns : RefreshRow.columns
    let lines = run.output.split(separator: "\n")
    #expect(lines.count > 5)
    for line in lines {
      let keys = line.matches(of: /[{,]"([A-Za-z0-9]+)":/).map { String($0.output.1) }
      #expect(keys == columns.map(\.name))
    }
    let rows = try run.objects()
    #expect(rows.count == lines.count)
    for row in rows {
      for column in columns where !column.isOptional {
        #expect(!(row[column.name] is NSNull), "\(column.name)")
      }
    }
  }
}
