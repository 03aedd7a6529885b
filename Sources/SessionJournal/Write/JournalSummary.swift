/// A fold of records into the bytes of a snapshot; a value type, empty before the first record.
///
/// Equal snapshots must mean equal states. A compaction keeps its new file only if the snapshot of
/// all its records equals that of the whole journal, byte for byte.
public protocol JournalSummary {
  /// Adds the next record; the snapshot of a compacted file comes first.
  ///
  /// The payload is valid during the call only.
  mutating func take(_ frame: JournalFrame, payload: RawSpan)

  /// Returns the snapshot of all records so far; nil if there is none, and then nothing is
  /// compacted.
  func snapshot() -> [UInt8]?
}

/// What a compaction did.
///
/// - Requirement: JRN-4
public struct JournalCompaction: Equatable, Sendable {
  /// The first sequence that was kept; the snapshot replaces everything before it.
  public let firstSequence: UInt64

  /// The number of records that the snapshot replaced, without an older snapshot.
  public let recordsRemoved: UInt64

  /// The length of header and whole batches before, in bytes.
  public let bytesBefore: UInt64

  /// The length of the file afterwards, in bytes.
  public let bytesAfter: UInt64

  /// The records that others appended since the last call, in order.
  public let foreign: [JournalRecord]

  /// The cut of a tail that a writer left when it died; usually nil.
  public let repair: JournalRepair?
}
