internal import SessionCore

/// A record and where it stands in the file.
struct JournalEntry {
  let record: SessionRecord
  let offset: UInt64
  /// How many records of its batch follow it.
  let remainingInBatch: UInt16

  var place: JournalPlace { JournalPlace(sequence: record.sequence, offset: offset) }
}
