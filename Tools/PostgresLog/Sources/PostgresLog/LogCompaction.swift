internal import SessionJournal

/// One compaction, in a transaction that has locked the log.
struct LogCompaction {
  /// How many records are in memory at once.
  private static let pageSize = 1_000

  let log: PostgresLog
  let slot: ConnectionSlot
  let view: LogView
  let wanted: UInt64

  private var sql: LogSQL { log.database.sql }
  private var number: Int64 { log.identity.log }

  /// Replaces the records and commits; returns nil, and changes nothing, if there is nothing to do.
  func run(_ summary: some JournalSummary) throws(JournalError) -> (first: UInt64, removed: UInt64)?
  {
    let wanted = min(wanted, view.last + 1)
    guard wanted > view.first else { return nil }
    let end = try ask(sql.batchEnd(number, before: wanted))
    let last = end.unsigned(0, 0)
    // A snapshot alone is no record to summarize.
    guard end.count == 1, last >= view.first else { return nil }

    var total = summary
    var check = RecordCheck(of: log.name)
    let removed = try visit(&check, upTo: last, &total)
    let chain = check.chain
    guard let payload = total.snapshot() else { return nil }
    guard payload.count <= log.identity.recordSize else {
      throw .compactionRefused(
        path: log.name,
        .snapshotTooLarge(bytes: payload.count, maximum: log.identity.recordSize))
    }
    _ = try visit(&check, upTo: view.last, &total)
    // Damage must not become a snapshot, which nothing can tell from a good one.
    try check.requireEnd(of: view)

    let snapshot = JournalRecord(
      sequence: last, offset: 0, kind: RecordHeader.snapshotKind, payload: payload)
    var changed = view
    changed.first = last + 1
    _ = try ask(sql.remove(number, before: changed.first))
    _ = try ask(sql.insert(number, snapshot: snapshot, chain: chain))
    _ = try ask(sql.advance(log.identity, to: changed))
    var again = summary
    var repeated = RecordCheck(of: log.name)
    _ = try visit(&repeated, upTo: view.last, &again)
    try repeated.requireEnd(of: changed)
    guard again.snapshot() == total.snapshot() else {
      throw .compactionRefused(path: log.name, .summaryDiffers)
    }
    _ = try ask(LogSQL.commit)
    return (changed.first, removed)
  }

  /// Checks records and passes them to a summary; returns their number without a snapshot.
  private func visit(
    _ check: inout RecordCheck, upTo last: UInt64, _ summary: inout some JournalSummary
  ) throws(JournalError) -> UInt64 {
    var count: UInt64 = 0
    while check.last < last {
      let page = sql.page(number, after: check.last, through: last, limit: Self.pageSize)
      let records = try check.take(ask(page))
      guard !records.isEmpty else { break }
      for record in records {
        summary.take(record.header, payload: record.payload.span.bytes)
        if !record.isSnapshot { count += 1 }
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
