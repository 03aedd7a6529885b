internal import SessionJournal

/// One compaction, in a transaction that has locked the log.
struct LogCompaction {
  /// How many records are in memory at once.
  private static let pageSize = 1_000

  let log: PostgresLog
  let slot: ConnectionSlot
  let view: LogView
  let wanted: UInt64
  let recordSize: Int

  private var sql: LogSQL { log.database.sql }

  /// Replaces the records and commits; returns nil, and changes nothing, if there is nothing to do.
  func run(_ summary: some JournalSummary) throws(JournalError) -> (first: UInt64, removed: UInt64)?
  {
    let wanted = min(wanted, view.last + 1)
    guard wanted > view.first else { return nil }
    let end = try ask(sql.batchEnd(log.log, before: wanted))
    let (last, chain) = (end.unsigned(0, 0), Chain(end.unsigned(0, 1)))
    // A snapshot alone is no record to summarize.
    guard end.count == 1, last >= view.first else { return nil }

    var total = summary
    let removed = try visit(upTo: last, &total)
    guard let snapshot = total.snapshot() else { return nil }
    guard snapshot.count <= recordSize else {
      throw .compactionRefused(
        path: log.name, .snapshotTooLarge(bytes: snapshot.count, maximum: recordSize))
    }
    _ = try visit(after: last, upTo: view.last, &total)

    let record = JournalRecord(
      sequence: last, offset: 0, kind: RecordHeader.snapshotKind, payload: snapshot)
    _ = try ask(sql.remove(log.log, before: last + 1))
    _ = try ask(sql.insert(log.log, Batch([record], chains: [chain.value])))
    _ = try ask(sql.begin(log.log, at: last + 1))
    var again = summary
    _ = try visit(upTo: view.last, &again)
    guard again.snapshot() == total.snapshot() else {
      throw .compactionRefused(path: log.name, .summaryDiffers)
    }
    _ = try ask(LogSQL.commit)
    return (last + 1, removed)
  }

  /// Passes the records to a summary; returns their number without a snapshot.
  private func visit(
    after start: UInt64 = 0, upTo last: UInt64, _ summary: inout some JournalSummary
  ) throws(JournalError) -> UInt64 {
    var (place, count) = (start, UInt64(0))
    while place < last {
      let rows = try ask(sql.page(log.log, after: place, through: last, limit: Self.pageSize))
      guard rows.count > 0 else { break }
      for row in 0..<rows.count {
        let record = rows.record(row)
        summary.take(record.header, payload: record.payload.span.bytes)
        if !record.isSnapshot { count += 1 }
        place = record.sequence
      }
    }
    return count
  }

  private func ask(_ statement: Statement) throws(JournalError) -> Rows {
    do throws(ServerProblem) {
      return try log.database.goOn([statement], on: slot)[0]
    } catch {
      throw log.error(for: error)
    }
  }
}
