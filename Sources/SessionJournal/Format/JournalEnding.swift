/// The state of a file's end, after its whole and valid prefix of batches.
///
/// A pure function of the file's bytes. The same bytes always have the same `ending()`, `totals`,
/// `room` and `survey()`.
public enum JournalEnding: Equatable, Sendable {
  /// The file ends with its last batch, or only zeros (preallocated room) follow.
  case clean

  /// Bytes of a commit that was never acknowledged follow.
  case torn(JournalTail)

  /// Bytes of a last commit follow, and nothing proves whether it was acknowledged.
  case undetermined(JournalTail)

  /// Acknowledged data is missing or changed.
  case damaged(JournalDamage)
}

/// The bytes after the whole prefix of a journal.
public struct JournalTail: Equatable, Sendable {
  /// The end of the whole prefix, in bytes from the beginning of the file.
  public let offset: UInt64

  /// The first sequence that is not in the whole prefix.
  public let sequence: UInt64

  /// The number of bytes after the prefix, trailing zeros included.
  public let bytes: UInt64

  /// Why the frame at the offset, or a later one of its batch, does not count.
  public let flaw: JournalFlaw

  /// The number of bytes before the trailing zeros; at least 1.
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

/// The place where acknowledged data is missing or changed.
public struct JournalDamage: Equatable, Sendable {
  /// The beginning of the damaged frame, in bytes from the beginning of the file.
  public let offset: UInt64

  /// The sequence that the frame should have.
  public let sequence: UInt64

  /// What is wrong with the frame.
  public let flaw: JournalFlaw

  /// Creates a description of a damaged place.
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
  /// The checksum of the frame's header does not match.
  case headerChecksum = "headerChecksum"
  /// The checksum of the header matches, but its values are impossible.
  case impossibleHeader = "impossibleHeader"
  /// The frame has another sequence than the expected one.
  case sequenceBroken = "sequenceBroken"
  /// The frame does not continue the one before it.
  case chainBroken = "chainBroken"
  /// The frame does not continue the batch before it.
  case batchBroken = "batchBroken"
  /// The file ends inside the payload.
  case shortPayload = "shortPayload"
  /// The checksum of the payload does not match.
  case payloadChecksum = "payloadChecksum"
  /// The file ends between two records of a batch.
  case shortBatch = "shortBatch"
  /// Zeros follow the first frames of a batch, and nothing else up to the end of the file.
  case onlyZeros = "onlyZeros"
  /// The file is shorter than what was read before, or differs from it.
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
  /// The number of the caller's records, including the snapshot of a compacted file.
  public internal(set) var records: UInt64 = 0

  /// The number of watermark frames, which the journal wrote for itself.
  public internal(set) var watermarks: UInt64 = 0

  /// The number of records whose kind may be skipped by a reader that does not know it (bit 7).
  public internal(set) var skippable: UInt64 = 0

  /// The number of bytes of header and whole batches, without the room after them.
  public internal(set) var bytes: UInt64 = 0

  /// The last sequence read; if there is none, one below the first of the file.
  public internal(set) var lastSequence: UInt64 = 0
}
