internal import SessionCore

/// A record and where it stands in the file.
struct JournalEntry {
  let record: SessionRecord
  let offset: UInt64
  /// How many records of its batch follow it.
  let remainingInBatch: UInt16
  /// The bytes of its payload.
  var size: UInt32 = 0

  var place: JournalPlace { JournalPlace(sequence: record.sequence, offset: offset) }
}
