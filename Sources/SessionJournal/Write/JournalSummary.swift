/// Folds records to the bytes of a snapshot; a value, empty at the beginning of a journal.
///
/// Equal snapshots must mean equal states: compaction takes its own file for good only if the
/// snapshot of all that is in it is that of the whole journal, byte for byte.
public protocol JournalSummary {
  /// Takes the next record; the snapshot that a compacted file begins with comes first.
  ///
  /// The payload is valid during the call only.
  mutating func take(_ frame: JournalFrame, payload: RawSpan)

  /// The snapshot of all that was taken; nil where it cannot be made (then nothing is compacted).
  func snapshot() -> [UInt8]?
}

/// What a compaction did.
///
/// - Requirement: JRN-4
public struct JournalCompaction: Equatable, Sendable {
  /// The first sequence that was kept; the snapshot stands for all before.
  public let firstSequence: UInt64

  /// How many records the snapshot took the place of, an older snapshot not counted.
  public let recordsRemoved: UInt64

  /// The length of header and whole batches before, in bytes.
  public let bytesBefore: UInt64

  /// The length of the file after, in bytes.
  public let bytesAfter: UInt64

  /// What others had appended since the last call, in order.
  public let foreign: [JournalRecord]

  /// The tail that a writer who died had left, and that was cut; nil mostly.
  public let repair: JournalRepair?
}

/// Why a compaction was not done although it could have been.
public enum CompactionRefusal: Equatable, Sendable {
  /// The snapshot is longer than the longest record of the journal; both in bytes.
  case snapshotTooLarge(bytes: Int, maximum: Int)

  /// The journal belongs to another user, who could not open a file of this one.
  case otherOwner

  /// The new file did not read back as it was written.
  case copyDiffers

  /// Snapshot and records of the new file give another snapshot than all records of the old one.
  case summaryDiffers
}
