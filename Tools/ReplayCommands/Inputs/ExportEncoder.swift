@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// Converts the steps of an export into the bytes of a journal.
struct ExportEncoder {
  private let salt: UInt64
  private(set) var header: JournalHeader?
  /// The header line, held until the next line shows whether a snapshot follows.
  private var announced: ExportHeader?
  private var frames = FrameWriter(seed: Checksum(), chain: 0)
  /// The last sequence of the batches before the present one.
  private var durable: UInt64 = 0
  private var isWithinBatch = false
  /// The number of the bytes that are complete: the header, and frames of whole batches.
  private(set) var size = 0

  /// The bytes that are complete.
  var bytes: ArraySlice<UInt8> { frames.bytes[..<size] }

  /// The checksum of the last frame, with which the next one continues.
  var chain: UInt32 { frames.chain }

  init(salt: UInt64) {
    self.salt = salt
  }

  mutating func take(_ step: ImportReader.Step, hasSnapshot: Bool) {
    if let announced {
      begin(announced, hasSnapshot: hasSnapshot)
      self.announced = nil
    }
    switch step {
    case .header(let found): announced = found
    case .record(let record): append(record)
    case .watermark(let sequence):
      frames.append(
        JournalDraft(kind: RecordKind.watermark, payload: []), sequence: sequence,
        durable: isWithinBatch ? durable : sequence - 1, remainingInBatch: 0)
      isWithinBatch = false
    case .explanation, .end: break
    }
    if !isWithinBatch { size = frames.bytes.count }
  }

  /// Ends the journal after the last whole batch; an export without any record has a header only.
  mutating func finish() {
    guard let announced else { return }
    begin(announced, hasSnapshot: false)
    self.announced = nil
  }

  /// Discards the bytes after they were written.
  mutating func removeBytes() {
    frames.removeBytes(size)
    size = 0
  }

  private mutating func begin(_ found: ExportHeader, hasSnapshot: Bool) {
    let id = Identifier(found.journal).uuid ?? (0, 0)
    var header = JournalHeader(
      identifier: JournalIdentifier(high: id.high, low: id.low), salt: salt,
      maximumRecordSize: found.maximumRecordSize, firstSequence: found.firstSequence)
    if hasSnapshot { header = header.compacted(from: found.firstSequence, salt: salt) }
    self.header = header
    frames = FrameWriter(after: header)
    size = frames.bytes.count
  }

  private mutating func append(_ record: ImportRecord) {
    if record.kind == SessionRecord.snapshotKind {
      return frames.append(snapshot: record.payload, sequence: record.sequence)
    }
    if !isWithinBatch { durable = record.sequence - 1 }
    isWithinBatch = record.remainingInBatch > 0
    frames.append(
      JournalDraft(kind: record.kind, payload: record.payload), sequence: record.sequence,
      durable: durable, remainingInBatch: record.remainingInBatch)
  }
}
