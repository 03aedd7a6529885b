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
      let records = try RowsHistory(seed: seed, records: 10 + Int(seed % 60)).records
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
      let records = try RowsHistory(seed: seed, records: 10 + Int(seed % 60)).records
      let found = try rows(RefreshRows.self, records)
      #expect(found == (try RowsOracle(records).refreshes), "\(seed)")
      for row in found { outcomes[row.outcome, default: 0] += 1 }
    }
    #expect(RefreshRow.Outcome.allCases.allSatisfy { outcomes[$0, default: 0] > 20 }, "\(outcomes)")
  }

  @Test("RPL-7 the ends of rows are the ends that stats counts")
  func agreement() throws {
    for seed in 0..<60 as Range<UInt64> {
      let records = try StatsHistory(seed: seed, records: 80).records
      let found = try rows(SessionRows.self, records)
      var stats = StatsFold(by: nil)
      for record in records { try stats.take(record) }
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
      let records = try RowsHistory(seed: seed, records: 10 + Int(seed % 60)).records
      let found = try rows(SessionRows.self, records).filter { $0.sequence != nil }
      let whole = try rows(EndAnswers.self, records).filter(\.isEnd)
        .map { $0.explanation(in: source) }
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
    #expect(open[0].user == nil && open[0].login == nil && open[0].method == nil)
    #expect(open[0].began == nil && open[0].moment == nil)
    let later = try rows([login("u-1", 1, at: 1), login("u-2", 2, at: 3)])
    #expect(later.map(\.user) == ["u-2"])
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
