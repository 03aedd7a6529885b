/// What a log says of a record besides its payload.
public struct RecordHeader: Hashable, Sendable {
  /// The number of the record; for a snapshot, the number of the last record that it replaces.
  public let sequence: UInt64

  /// The kind of the payload, as the draft gave it.
  public let kind: UInt8

  /// The number of records of the same batch that follow this one; 0 for the last.
  public let remainingInBatch: UInt16

  /// Creates a header from its parts.
  @inline(__always)
  public init(sequence: UInt64, kind: UInt8, remainingInBatch: UInt16 = 0) {
    self.sequence = sequence
    self.kind = kind
    self.remainingInBatch = remainingInBatch
  }

  /// Whether the record replaces all records up to its sequence.
  public var isSnapshot: Bool { kind == RecordKind.snapshot }

  /// The kind of a snapshot: the first record of a compacted log.
  public static var snapshotKind: UInt8 { RecordKind.snapshot }
}

extension JournalFrame {
  /// What a log says of the record, without the place in a file.
  @inline(__always)
  public var record: RecordHeader {
    RecordHeader(sequence: sequence, kind: kind, remainingInBatch: remainingInBatch)
  }
}

extension JournalRecord {
  /// The record without its payload.
  public var header: RecordHeader {
    RecordHeader(sequence: sequence, kind: kind, remainingInBatch: remainingInBatch)
  }
}
