@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// A record and its place in the file.
struct JournalEntry {
  let record: SessionRecord
  let offset: UInt64
  /// How many records of its batch follow it.
  let remainingInBatch: UInt16
  /// The size of its payload, in bytes.
  var size: UInt32 = 0

  var place: JournalPlace { JournalPlace(sequence: record.sequence, offset: offset) }
}

extension EvidenceFold {
  /// Folds the record of an entry.
  mutating func take(_ entry: JournalEntry, _ body: (Evidence) -> Void) throws(SessionFold.Failure)
  {
    try take(entry.record, endsBatch: entry.remainingInBatch == 0, body)
  }
}
