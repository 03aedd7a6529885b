/// An encoder of a whole journal file from the records of another log.
///
/// Sequences, kinds, payloads and batches stay as they are. Where the log skips a sequence, the file has
/// a watermark. Write the bytes in pieces: take ``bytes`` between batches, then ``removeBytes()``.
@_spi(Internals) public struct JournalFileEncoder {
  /// The bytes that were not removed yet, from the header on.
  public private(set) var bytes: [UInt8]

  private let header: JournalHeader
  private var frames: FrameWriter
  private var next: UInt64
  private var durable: UInt64 = 0
  private var isWithinBatch = false

  /// Begins a file with a new salt.
  ///
  /// - Parameters:
  ///   - identifier: the identifier of the journal.
  ///   - maximumRecordSize: the longest payload, in bytes.
  ///   - firstSequence: the sequence of the first record that is no snapshot.
  ///   - beginsWithSnapshot: whether a snapshot comes first, with the sequence before the first.
  public init(
    identifier: JournalIdentifier, maximumRecordSize: Int, firstSequence: UInt64,
    beginsWithSnapshot: Bool
  ) {
    let salt = UInt64.random(in: .min ... .max)
    let fresh = JournalHeader(
      identifier: identifier, salt: salt,
      maximumRecordSize: UInt32(clamping: maximumRecordSize), firstSequence: firstSequence)
    header = beginsWithSnapshot ? fresh.compacted(from: firstSequence, salt: salt) : fresh
    frames = FrameWriter(seed: header.seed, chain: header.checksum)
    next = firstSequence - (beginsWithSnapshot ? 1 : 0)
    bytes = header.encoded
  }

  /// Whether the next record begins a batch.
  public var isBetweenBatches: Bool { !isWithinBatch }

  /// Adds the next record.
  public mutating func append(_ record: JournalRecord) {
    addWatermarks(before: record.sequence)
    if record.isSnapshot {
      frames.append(snapshot: record.payload, sequence: record.sequence)
    } else {
      if !isWithinBatch { durable = record.sequence - 1 }
      isWithinBatch = record.remainingInBatch > 0
      frames.append(
        JournalDraft(kind: record.kind, payload: record.payload), sequence: record.sequence,
        durable: durable, remainingInBatch: record.remainingInBatch)
    }
    next = record.sequence + 1
    take()
  }

  /// Ends the file; a batch that a watermark ended in the log is ended by one here.
  public mutating func finish() {
    if isWithinBatch { addWatermarks(before: next + 1) }
    take()
  }

  /// Removes the bytes after they were written.
  public mutating func removeBytes() { bytes.removeAll(keepingCapacity: true) }

  private mutating func addWatermarks(before sequence: UInt64) {
    while next < sequence {
      frames.append(
        JournalDraft(kind: RecordKind.watermark, payload: []), sequence: next,
        durable: isWithinBatch ? durable : next - 1, remainingInBatch: 0)
      isWithinBatch = false
      next += 1
    }
  }

  private mutating func take() {
    bytes += frames.bytes
    frames.removeBytes()
  }
}
