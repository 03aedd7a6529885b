internal import SessionJournal

/// Decodes the records of a log in order, and checks that each continues the one before it.
///
/// Every reader of records uses it: the opening, a commit, a page and a compaction.
struct RecordCheck {
  /// The sequence of the last record that was checked; 0 if there is none.
  private(set) var last: UInt64 = 0

  /// The chain of that record.
  private(set) var chain = Chain.empty

  /// The name of the log, for errors.
  let name: String

  /// Begins before the first record.
  init(of name: String) { self.name = name }

  /// Begins after the last record of a view.
  init(of name: String, after view: LogView) {
    (self.name, last, chain) = (name, view.last, view.chain)
  }

  /// Decodes the rows of the records that follow.
  ///
  /// Throws `damaged`: `payloadChecksum` for a snapshot, `chainBroken` for another record.
  mutating func take(_ rows: Rows, from first: Int = 0) throws(JournalError) -> [JournalRecord] {
    var records: [JournalRecord] = []
    records.reserveCapacity(rows.count)
    for row in first..<max(first, rows.count) {
      let record = rows.record(row)
      let stored = rows.chain(row)
      if record.isSnapshot {
        // It begins a chain, and has a checksum of its own.
        chain = stored
        guard stored.checksum(of: record) == rows.unsigned(row, 5) else {
          throw damaged(record.sequence, .payloadChecksum)
        }
      } else {
        chain.add(record)
      }
      guard chain == stored, record.sequence > last else {
        throw damaged(record.sequence, .chainBroken)
      }
      last = record.sequence
      records.append(record)
    }
    return records
  }

  /// Continues after a record that was checked before: only its place and chain are taken.
  mutating func begin(after row: Int, of rows: Rows) {
    (last, chain) = (rows.record(row).sequence, rows.chain(row))
  }

  /// Throws `damaged` unless all records of a view were taken.
  func requireEnd(of view: LogView) throws(JournalError) {
    guard last == view.last, chain == view.chain else {
      throw damaged(last &+ 1, .sequenceBroken)
    }
  }

  func damaged(_ sequence: UInt64, _ flaw: JournalFlaw) -> JournalError {
    .damaged(path: name, JournalDamage(offset: 0, sequence: sequence, flaw: flaw))
  }
}

extension Rows {
  /// Decodes the record of one row without a check; the columns are those of `LogSQL.records`.
  fileprivate func record(_ row: Int) -> JournalRecord {
    JournalRecord(
      sequence: unsigned(row, 0), offset: 0, kind: UInt8(truncatingIfNeeded: integer(row, 1)),
      remainingInBatch: UInt16(truncatingIfNeeded: integer(row, 2)), payload: value(row, 3) ?? [])
  }

  fileprivate func chain(_ row: Int) -> Chain { Chain(unsigned(row, 4)) }
}
