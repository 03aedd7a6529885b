/// The header of one record in the file: 32 bytes before its payload
/// (Specs/JournalFormat.md, "Frame").
public struct JournalFrame: Equatable, Sendable {
  /// The number of the record.
  public let sequence: UInt64

  /// Where the frame begins, in bytes from the beginning of the file.
  public let offset: UInt64

  /// The length of the payload in bytes, padding not counted.
  public let payloadLength: UInt32

  /// What the payload is.
  public let kind: UInt8

  /// Bits kept for later formats; 0 in format 1.
  public let flags: UInt8

  /// How many records of the same batch follow this one.
  public let remainingInBatch: UInt16

  /// The sequence up to which the file was known to be durable when this frame was written; nil if
  /// the frame does not say.
  public let durableSequence: UInt64?

  package let checksum: UInt32
  package let previousChecksum: UInt32
  package let payloadChecksum: UInt32

  package static let headerSize = 32

  /// The length of a payload in the file, rounded up so that every frame begins 8-aligned.
  @inline(__always)
  package static func padded(_ length: Int) -> Int { (length + 7) & ~7 }

  @inline(__always)
  package var size: Int { Self.headerSize + Self.padded(Int(payloadLength)) }

  /// Whether the journal wrote it for itself.
  package var isWatermark: Bool { kind == RecordKind.watermark }
}

extension JournalFrame {
  /// Reads the 32 bytes at `start`; a flaw if they cannot be a frame of the journal with that seed.
  @inline(__always)
  static func read(
    _ start: UnsafeRawPointer, offset: UInt64, seed: Checksum, maximumRecordSize: UInt32
  ) -> Result<JournalFrame, JournalFlaw> {
    var checksum = seed
    checksum.extend(over: start + 4, count: headerSize - 4)
    guard start.loadLittle(0, as: UInt32.self) == checksum.value else {
      return .failure(.headerChecksum)
    }
    let frame = JournalFrame(start, offset: offset)
    let delta: UInt32 = start.loadLittle(16)
    let isPossible =
      frame.kind != RecordKind.invalid && frame.kind != RecordKind.snapshot
      && frame.payloadLength <= maximumRecordSize && delta != 0
      && (delta == .max || UInt64(delta) <= frame.sequence)
      && (!frame.isWatermark || (frame.payloadLength == 0 && frame.remainingInBatch == 0))
    return isPossible ? .success(frame) : .failure(.impossibleHeader)
  }

  /// Reads a frame again that was found whole and valid.
  @inline(__always)
  init(verified start: UnsafeRawPointer, offset: UInt64) {
    self.init(start, offset: offset)
  }

  @inline(__always)
  private init(_ start: UnsafeRawPointer, offset: UInt64) {
    let delta: UInt32 = start.loadLittle(16)
    self.offset = offset
    sequence = start.loadLittle(8)
    payloadLength = start.loadLittle(4)
    kind = start.loadLittle(28)
    flags = start.loadLittle(29)
    remainingInBatch = start.loadLittle(30)
    durableSequence =
      delta == .max || UInt64(delta) > sequence ? nil : sequence - UInt64(delta)
    checksum = start.loadLittle(0)
    previousChecksum = start.loadLittle(20)
    payloadChecksum = start.loadLittle(24)
  }
}

/// Writes frames one behind the other, each chained to the one before.
package struct FrameWriter {
  package private(set) var bytes: [UInt8] = []
  package private(set) var chain: UInt32
  private let seed: Checksum

  package init(seed: Checksum, chain: UInt32) {
    self.seed = seed
    self.chain = chain
  }

  /// Adds one frame; `durable` is the last sequence known to be durable, below `sequence`.
  package mutating func append(
    _ draft: JournalDraft, sequence: UInt64, durable: UInt64, remainingInBatch: UInt16
  ) {
    let start = bytes.count
    let padding = JournalFrame.padded(draft.payload.count) - draft.payload.count
    let delta = UInt32(clamping: sequence - durable)
    bytes.appendLittle(UInt32(0))
    bytes.appendLittle(UInt32(truncatingIfNeeded: draft.payload.count))
    bytes.appendLittle(sequence)
    bytes.appendLittle(delta)
    bytes.appendLittle(chain)
    bytes.appendLittle(UInt32(0))
    bytes.append(draft.kind)
    bytes.append(0)
    bytes.appendLittle(remainingInBatch)
    bytes.append(contentsOf: draft.payload)
    bytes.append(contentsOf: repeatElement(0, count: padding))

    let payload = bytes.withUnsafeBytes { raw in
      var checksum = Checksum()
      checksum.extend(over: UnsafeRawBufferPointer(rebasing: raw[(start + 32)...]))
      return checksum.value
    }
    bytes.storeLittle(payload, at: start + 24)
    chain = bytes.withUnsafeBytes { raw in
      var checksum = seed
      checksum.extend(over: UnsafeRawBufferPointer(rebasing: raw[(start + 4)..<(start + 32)]))
      return checksum.value
    }
    bytes.storeLittle(chain, at: start)
  }
}
