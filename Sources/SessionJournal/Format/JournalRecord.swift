/// One record of a journal, with its bytes.
public struct JournalRecord: Equatable, Sendable {
  /// The number of the record; from 1, growing, without gaps in the file.
  ///
  /// The journal's own watermark frames take numbers too and are not shown as records, so the
  /// numbers that a caller sees grow but need not be consecutive. A snapshot bears the number of the
  /// last record that it stands for.
  public let sequence: UInt64

  /// Where its frame begins, in bytes from the beginning of the file.
  public let offset: UInt64

  /// What the payload is, as the draft said.
  public let kind: UInt8

  /// Bits kept for later formats; 0 in format 1.
  public let flags: UInt8

  /// How many records of the same batch follow this one; 0 for the last.
  public let remainingInBatch: UInt16

  /// The bytes, as the draft gave them.
  public let payload: [UInt8]

  /// Whether it stands for all records up to its sequence; only the first of a compacted file does.
  public var isSnapshot: Bool { kind == RecordKind.snapshot }

  /// Whether it is the same record, in whatever file it stands; a snapshot may stand for it.
  func isSame(as other: JournalRecord) -> Bool {
    guard sequence == other.sequence else { return false }
    return isSnapshot || other.isSnapshot
      || kind == other.kind && payload == other.payload
        && remainingInBatch == other.remainingInBatch
  }

  /// Makes a record of its parts.
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
