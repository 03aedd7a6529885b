/// A writer of a compacted file, from its first byte to its last, in bounded pieces.
struct DraftWriter {
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
  mutating func finish(behind last: UInt64) throws(SystemFault) {
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
