/// What stands in a file behind its whole and valid prefix of batches.
///
/// A pure function of the file's bytes: `JournalReader(bytes:)` and its `ending()`, `totals`, `room` and
/// `survey()` say the same of the same bytes, wherever they stand and however often they are asked.
public enum JournalEnding: Equatable, Sendable {
  /// Nothing: the file ends with its last batch, or only zeros follow, as room for more.
  case clean

  /// Bytes of a commit that was never acknowledged.
  case torn(JournalTail)

  /// Bytes of a last commit of which nothing says whether it was acknowledged.
  case undetermined(JournalTail)

  /// Data that had been acknowledged does not read back.
  case damaged(JournalDamage)
}

/// The bytes behind the whole prefix of a journal.
public struct JournalTail: Equatable, Sendable {
  /// Where the whole prefix ends, in bytes from the beginning of the file.
  public let offset: UInt64

  /// The first sequence that is not in the whole prefix.
  public let sequence: UInt64

  /// How many bytes stand behind the prefix, trailing zeros included.
  public let bytes: UInt64

  /// Why the frame at the offset, or a later one of its batch, does not count.
  public let flaw: JournalFlaw

  /// How many of the bytes come before the zeros at the end; at least 1.
  package let significantBytes: UInt64

  package init(
    offset: UInt64, sequence: UInt64, bytes: UInt64, flaw: JournalFlaw, significantBytes: UInt64
  ) {
    self.offset = offset
    self.sequence = sequence
    self.bytes = bytes
    self.flaw = flaw
    self.significantBytes = significantBytes
  }
}

/// The place where acknowledged data does not read back.
public struct JournalDamage: Equatable, Sendable {
  /// Where the damaged frame begins, in bytes from the beginning of the file.
  public let offset: UInt64

  /// The sequence that should stand there.
  public let sequence: UInt64

  /// What is wrong with it.
  public let flaw: JournalFlaw

  /// Makes a description of a damaged place.
  public init(offset: UInt64, sequence: UInt64, flaw: JournalFlaw) {
    self.offset = offset
    self.sequence = sequence
    self.flaw = flaw
  }
}

/// Why a frame does not count as whole and valid; the raw value is its name in reports.
public enum JournalFlaw: String, Error, Equatable, Sendable, CaseIterable {
  /// Fewer than 32 bytes are left.
  case shortHeader = "shortHeader"
  /// The checksum of the frame's header does not hold.
  case headerChecksum = "headerChecksum"
  /// The header's checksum holds, its values cannot be.
  case impossibleHeader = "impossibleHeader"
  /// Another sequence stands where this one should.
  case sequenceBroken = "sequenceBroken"
  /// The frame does not continue the one before it.
  case chainBroken = "chainBroken"
  /// The frame does not continue the batch before it.
  case batchBroken = "batchBroken"
  /// The file ends inside the payload.
  case shortPayload = "shortPayload"
  /// The checksum of the payload does not hold.
  case payloadChecksum = "payloadChecksum"
  /// The file ends between two records of a batch.
  case shortBatch = "shortBatch"
  /// Zeros follow the first frames of a batch, and nothing else up to the end of the file.
  case onlyZeros = "onlyZeros"
  /// The file is shorter than, or differs from, what was read of it before.
  case historyChanged = "historyChanged"

  /// Whether the file simply ends inside a frame or a batch.
  package var isEndOfFile: Bool {
    switch self {
    case .shortHeader, .shortPayload, .shortBatch: true
    case .headerChecksum, .impossibleHeader, .sequenceBroken, .chainBroken, .batchBroken,
      .payloadChecksum, .onlyZeros, .historyChanged:
      false
    }
  }
}

/// How much a reader has read.
public struct JournalTotals: Equatable, Sendable {
  /// Records of the caller, the snapshot of a compacted file among them.
  public internal(set) var records: UInt64 = 0

  /// Watermark frames, which the journal wrote for itself.
  public internal(set) var watermarks: UInt64 = 0

  /// Records whose kind says that a reader which does not know it may pass it by (bit 7).
  public internal(set) var skippable: UInt64 = 0

  /// Bytes of header and whole batches; room behind them is not counted.
  public internal(set) var bytes: UInt64 = 0

  /// The last sequence read; one below the first of the file if there is none.
  public internal(set) var lastSequence: UInt64 = 0
}
