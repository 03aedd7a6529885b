/// A compacted file that is ready to replace the journal: durable and verified.
struct CompactedFile: ~Copyable {
  /// The scanner of the new file, at its end.
  let scanner: FrameScanner

  let recordsRemoved: UInt64

  consuming func takeScanner() -> FrameScanner { scanner }
}

/// The creation and verification of a journal's compacted file (Specs/JournalFormat.md,
/// "Compaction").
///
/// The file is created next to the journal.
///
/// Runs under the journal's locks. The journal must be durable to its end. If anything fails, the
/// new file is removed.
struct CompactionCopy {
  let path: String
  let draft: DraftFile
  let old: any JournalFileHandle

  /// The end of the old file.
  let end: FramePosition

  /// The first sequence that is kept; the last record before it has the preceding sequence.
  let first: UInt64

  /// What was written, for comparison with what reads back.
  private struct Written {
    let header: JournalHeader
    let snapshot: [UInt8]

    /// The snapshot of all records of the journal.
    let total: [UInt8]
    let recordsRemoved: UInt64

    /// The offset in the old file of the first frame that is kept.
    let oldStart: UInt64
    let lastSequence: UInt64
    let size: UInt64
  }

  /// Creates the new file; nil if the summary makes no snapshot.
  func make(_ summary: some JournalSummary) throws(JournalError) -> CompactedFile? {
    let file: any JournalFileHandle
    do throws(SystemFault) {
      file = try draft.create()
    } catch {
      throw error.isDenied ? .readOnlyFolder(path: path) : error.error(at: path)
    }
    do throws(JournalError) {
      try refuseOtherOwner(of: file)
      if let written = try write(to: file, summary) {
        try draft.onDraft { () throws(SystemFault) in try file.synchronize() }
        return CompactedFile(
          scanner: try readBack(file, written, summary), recordsRemoved: written.recordsRemoved)
      }
    } catch {
      draft.discard(file)
      file.close()
      throw error
    }
    draft.discard(file)
    file.close()
    return nil
  }

  private func refuseOtherOwner(of file: any JournalFileHandle) throws(JournalError) {
    let isOurs = try onFile(path) { () throws(SystemFault) in
      try file.status().owner == old.status().owner
    }
    guard isOurs else { throw .compactionRefused(path: path, .otherOwner) }
  }

  private func write(to file: any JournalFileHandle, _ summary: some JournalSummary)
    throws(JournalError) -> Written?
  {
    var scanner = try FrameScanner(path: path, file: old)
    let header = scanner.header.compacted(from: first, salt: draft.fileSystem.newSalt())
    var output = DraftWriter(header: header, file: file)
    var total = summary
    var snapshot: [UInt8]?
    var isPossible = true
    var removed: UInt64 = 0
    var oldStart = end.offset
    try scanner.visit { frame, payload in
      if frame.sequence < first {
        if !frame.isWatermark, !frame.isSnapshot { removed += 1 }
      } else {
        if snapshot == nil {
          snapshot = total.snapshot()
          isPossible = output.begin(snapshot, sequence: first - 1)
          oldStart = frame.offset
        }
        guard isPossible, output.append(frame, payload) else { return false }
      }
      if !frame.isWatermark { total.take(frame.record, payload: payload) }
      return true
    }
    if isPossible, output.fault == nil {
      try scanner.requireWhole(upTo: end)
      if snapshot == nil {
        snapshot = total.snapshot()
        isPossible = output.begin(snapshot, sequence: first - 1)
      }
    }
    guard let snapshot else { return nil }
    guard isPossible else {
      throw .compactionRefused(
        path: path,
        .snapshotTooLarge(bytes: snapshot.count, maximum: Int(header.maximumRecordSize)))
    }
    try draft.onDraft { () throws(SystemFault) in try output.finish(after: end.sequence - 1) }
    guard let whole = total.snapshot() else { return nil }
    return Written(
      header: header, snapshot: snapshot, total: whole, recordsRemoved: removed,
      oldStart: oldStart, lastSequence: output.lastSequence, size: output.size)
  }

  /// Verifies the new file; maps its flaws to `copyDiffers`, since they say nothing of the journal.
  private func readBack(
    _ file: any JournalFileHandle, _ written: Written, _ summary: some JournalSummary
  ) throws(JournalError) -> FrameScanner {
    do throws(JournalError) {
      return try verified(file, written, summary)
    } catch {
      switch error {
      case .io, .compactionRefused: throw error
      default: throw .compactionRefused(path: path, .copyDiffers)
      }
    }
  }

  /// Reads the new file from its first byte and compares it with the old one.
  private func verified(
    _ file: any JournalFileHandle, _ written: Written, _ summary: some JournalSummary
  ) throws(JournalError) -> FrameScanner {
    var scanner = try FrameScanner(path: path, file: file)
    var comparison = FrameComparison(
      file: old, shift: written.oldStart,
      from: UInt64(JournalHeader.size + JournalFrame.headerSize)
        + UInt64(JournalFrame.padded(written.snapshot.count)))
    var again = summary
    var isEqual = scanner.header == written.header
    try scanner.visit { frame, payload in
      if frame.isSnapshot {
        isEqual =
          isEqual
          && payload.withUnsafeBytes { bytes in
            written.snapshot.withUnsafeBytes { bytes.isSame(as: $0) }
          }
      } else if frame.sequence < end.sequence {
        isEqual = isEqual && comparison.isEqual(frame, payload)
      }
      if !frame.isWatermark { again.take(frame.record, payload: payload) }
      return isEqual
    }
    if let fault = comparison.fault { throw fault.error(at: path) }
    guard isEqual, scanner.stop == nil, scanner.lastSequence == written.lastSequence,
      scanner.position.offset == written.size
    else { throw .compactionRefused(path: path, .copyDiffers) }
    guard again.snapshot() == written.total else {
      throw .compactionRefused(path: path, .summaryDiffers)
    }
    return scanner
  }
}

extension DraftFile {
  /// Runs calls on the new file; maps a full disk to an error of the journal, which is unchanged.
  func onDraft(_ calls: () throws(SystemFault) -> Void) throws(JournalError) {
    do throws(SystemFault) {
      try calls()
    } catch {
      let failure = error.error(at: path)
      if case .diskFull = failure { throw .diskFull(path: location.given) }
      throw failure
    }
  }
}

extension FrameScanner {
  /// Throws `damaged` if what was whole before is not whole now.
  func requireWhole(upTo end: FramePosition) throws(JournalError) {
    guard position.offset < end.offset else { return }
    throw .damaged(
      path: path,
      JournalDamage(
        offset: stop?.offset ?? position.offset, sequence: stop?.sequence ?? position.sequence,
        flaw: stop?.flaw ?? .historyChanged))
  }
}

/// A writer of a compacted file, from its first byte to its last, in bounded pieces.
private struct DraftWriter {
  /// The size of a piece, in bytes.
  private static let pieceSize = 256 * 1024

  private let file: any JournalFileHandle
  private let header: JournalHeader
  private var frames: FrameWriter
  private var lastIsWatermark = false

  /// The length of the file, including what is not yet written.
  private(set) var size: UInt64 = 0

  private(set) var lastSequence: UInt64 = 0

  /// Why a write failed; nothing more is written then.
  private(set) var fault: SystemFault?

  init(header: JournalHeader, file: any JournalFileHandle) {
    self.header = header
    self.file = file
    frames = FrameWriter(seed: header.seed, chain: header.checksum)
  }

  /// Begins with header and snapshot; false if there is no snapshot or it is too long.
  mutating func begin(_ snapshot: [UInt8]?, sequence: UInt64) -> Bool {
    guard let snapshot, snapshot.count <= Int(header.maximumRecordSize) else { return false }
    put(header.encoded)
    frames.append(snapshot: snapshot, sequence: sequence)
    lastSequence = sequence
    lastIsWatermark = false
    return true
  }

  /// Adds a frame of the old file; false if it could not be written.
  mutating func append(_ frame: JournalFrame, _ payload: RawSpan) -> Bool {
    frames.append(copyOf: frame, payload: payload)
    lastSequence = frame.sequence
    lastIsWatermark = frame.isWatermark
    return writeFrames(ifLongerThan: Self.pieceSize)
  }

  /// Writes the rest, with a watermark at the end that proves everything before it.
  ///
  /// Adds no watermark if the file already ends with one.
  mutating func finish(after last: UInt64) throws(SystemFault) {
    if !lastIsWatermark {
      frames.append(
        JournalDraft(kind: RecordKind.watermark, payload: []), sequence: last + 1, durable: last,
        remainingInBatch: 0)
      lastSequence = last + 1
    }
    _ = writeFrames(ifLongerThan: 0)
    if let fault { throw fault }
  }

  private mutating func writeFrames(ifLongerThan limit: Int) -> Bool {
    if frames.bytes.count > limit {
      put(frames.bytes)
      frames.removeBytes()
    }
    return fault == nil
  }

  private mutating func put(_ bytes: [UInt8]) {
    guard fault == nil else { return }
    do throws(SystemFault) {
      var done = 0
      while done < bytes.count {
        let piece = bytes[done..<min(bytes.count, done + Self.pieceSize)]
        try file.writeAll(piece.count == bytes.count ? bytes : Array(piece), at: size)
        done += piece.count
        size += UInt64(piece.count)
      }
    } catch {
      fault = error
    }
  }
}

/// The comparison of a compacted file's frames with those of the old file.
private struct FrameComparison: ~Copyable {
  private let file: any JournalFileHandle
  private let oldStart: UInt64
  private let newStart: UInt64
  private var window = ReadWindow()

  /// Why the old file could not be read; nil if it could.
  private(set) var fault: SystemFault?

  /// Creates a comparison: the frame at `newStart` is a copy of the one at `oldStart` of `file`.
  init(file: any JournalFileHandle, shift oldStart: UInt64, from newStart: UInt64) {
    self.file = file
    self.oldStart = oldStart
    self.newStart = newStart
  }

  /// Whether a frame equals that of the old file, except for salt and chain.
  mutating func isEqual(_ frame: JournalFrame, _ payload: RawSpan) -> Bool {
    let offset = frame.offset - newStart + oldStart
    do throws(SystemFault) {
      if window.available(at: offset) < frame.size {
        guard try window.fill(frame.size, at: offset, keeping: offset, of: file) >= frame.size
        else { return false }
      }
    } catch {
      fault = error
      return false
    }
    let place = Int(offset - window.origin)
    return window.storage.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return false }
      let old = JournalFrame(verified: base + place, offset: frame.offset)
      guard old.isCopied(by: frame) else { return false }
      let start = place + JournalFrame.headerSize
      let oldPayload = UnsafeRawBufferPointer(
        rebasing: bytes[start..<(start + Int(old.payloadLength))])
      return payload.withUnsafeBytes { $0.isSame(as: oldPayload) }
    }
  }
}

extension JournalFrame {
  fileprivate func isCopied(by other: JournalFrame) -> Bool {
    sequence == other.sequence && payloadLength == other.payloadLength && kind == other.kind
      && flags == other.flags && remainingInBatch == other.remainingInBatch
      && durableDelta == other.durableDelta && payloadChecksum == other.payloadChecksum
  }
}

/// A fold of records into the bytes of a snapshot; a value type, empty before the first record.
///
/// Equal snapshots must mean equal states. A compaction keeps its new file only if the snapshot of
/// all its records equals that of the whole journal, byte for byte.
public protocol JournalSummary {
  /// Adds the next record; the snapshot of a compacted log comes first.
  ///
  /// The payload is valid during the call only.
  mutating func take(_ record: RecordHeader, payload: RawSpan)

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

  /// The length of header and whole batches before, in bytes; 0 if the log is no file.
  public let bytesBefore: UInt64

  /// The length of the file afterwards, in bytes; 0 if the log is no file.
  public let bytesAfter: UInt64

  /// The records that others appended since the last call, in order.
  public let foreign: [JournalRecord]

  /// The cut of a tail that a writer left when it died; usually nil.
  public let repair: JournalRepair?

  /// Creates a compaction from its parts.
  public init(
    firstSequence: UInt64, recordsRemoved: UInt64, bytesBefore: UInt64 = 0, bytesAfter: UInt64 = 0,
    foreign: [JournalRecord], repair: JournalRepair? = nil
  ) {
    self.firstSequence = firstSequence
    self.recordsRemoved = recordsRemoved
    self.bytesBefore = bytesBefore
    self.bytesAfter = bytesAfter
    self.foreign = foreign
    self.repair = repair
  }
}
