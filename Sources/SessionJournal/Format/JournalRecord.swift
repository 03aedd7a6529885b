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

/// A record that has not been written yet: the input of an append.
public struct JournalDraft: Equatable, Sendable {
  /// The kind of the payload, chosen by the caller.
  ///
  /// - 1 to 0x7E: every reader must know the kind.
  /// - 0x80 to 0xFE: a reader that does not know the kind may skip the record.
  /// - 0, 0x7F and 0xFF are reserved. An append refuses them with `JournalError.reservedKind`.
  public var kind: UInt8

  /// The bytes to store; possibly empty, at most the journal's maximum record size.
  public var payload: [UInt8]

  /// Creates a draft from a kind and its bytes.
  public init(kind: UInt8, payload: [UInt8]) {
    self.kind = kind
    self.payload = payload
  }
}

/// The kinds that are reserved for the journal itself.
package enum RecordKind {
  /// Never written: a frame of zeros must not pass for a record.
  package static let invalid: UInt8 = 0

  /// The first record of a compacted file, which takes no sequence number of its own.
  package static let snapshot: UInt8 = 0x7F

  /// An empty record that says up to which sequence the file is known to be durable.
  package static let watermark: UInt8 = 0xFF

  package static func isReserved(_ kind: UInt8) -> Bool {
    kind == invalid || kind == snapshot || kind == watermark
  }
}
