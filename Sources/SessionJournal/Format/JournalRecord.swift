/// One record of a journal, with its bytes.
public struct JournalRecord: Equatable, Sendable {
  /// The number of the record: from 1, growing.
  ///
  /// Watermark frames of the journal take numbers too, but are not shown as records. So the numbers
  /// that a caller sees need not be consecutive. A snapshot has the number of the last record that
  /// it replaces.
  public let sequence: UInt64

  /// The beginning of its frame, in bytes from the beginning of the file.
  public let offset: UInt64

  /// The kind of the payload, as the draft gave it.
  public let kind: UInt8

  /// Bits reserved for later formats; 0 in format 1.
  public let flags: UInt8

  /// The number of records of the same batch that follow this one; 0 for the last.
  public let remainingInBatch: UInt16

  /// The bytes of the record, as the draft gave them.
  public let payload: [UInt8]

  /// Whether it replaces all records up to its sequence; only a compacted file begins with one.
  public var isSnapshot: Bool { kind == RecordKind.snapshot }

  /// Whether it is the same record, in any file; a snapshot may replace it.
  func isSame(as other: JournalRecord) -> Bool {
    guard sequence == other.sequence else { return false }
    return isSnapshot || other.isSnapshot
      || kind == other.kind && payload == other.payload
        && remainingInBatch == other.remainingInBatch
  }

  /// Creates a record from its parts.
  public init(
    sequence: UInt64, offset: UInt64, kind: UInt8, flags: UInt8 = 0, remainingInBatch: UInt16 = 0,
    payload: [UInt8]
  ) {
    self.sequence = sequence
    self.offset = offset
    self.kind = kind
    self.flags = flags
    self.remainingInBatch = remainingInBatch
    self.payload = payload
  }
}
