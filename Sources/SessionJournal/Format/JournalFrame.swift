/// The header of one record in the file: 32 bytes before its payload
/// (Specs/JournalFormat.md, "Frame").
public struct JournalFrame: Equatable, Sendable {
  /// The number of the record; for a snapshot, the number of the last record that it replaces.
  public let sequence: UInt64

  /// The beginning of the frame, in bytes from the beginning of the file.
  public let offset: UInt64

  /// The length of the payload in bytes, without padding.
  public let payloadLength: UInt32

  /// The kind of the payload.
  public let kind: UInt8

  /// Bits reserved for later formats; 0 in format 1.
  public let flags: UInt8

  /// The number of records of the same batch that follow this one.
  public let remainingInBatch: UInt16

  /// The last sequence that was known to be durable when this frame was written.
  ///
  /// Nil if the frame does not record it.
  public var durableSequence: UInt64? {
    durableDelta == .max || UInt64(durableDelta) > sequence
      ? nil : sequence - UInt64(durableDelta)
  }

  /// How far before `sequence` the last durable one is; the greatest number if it is not recorded.
  package let durableDelta: UInt32
  package let checksum: UInt32
  package let previousChecksum: UInt32
  package let payloadChecksum: UInt32

  package static let headerSize = 32

  /// The highest sequence that a frame may have.
  ///
  /// No writer reaches it: even from the highest first sequence it would take 2^62 frames, more
  /// than a file can hold.
  package static let lastSequence: UInt64 = (1 << 63) - 1

  /// Returns the length of a payload in the file, rounded up so that every frame is 8-aligned.
  @inline(__always)
  package static func padded(_ length: Int) -> Int { (length + 7) & ~7 }

  @inline(__always)
  package var size: Int { Self.headerSize + Self.padded(Int(payloadLength)) }

  /// Whether it is the same record, in any file; a snapshot may replace it.
  func isSame(as other: JournalFrame) -> Bool {
    guard sequence == other.sequence else { return false }
    return isSnapshot || other.isSnapshot
      || kind == other.kind && payloadLength == other.payloadLength
        && payloadChecksum == other.payloadChecksum && remainingInBatch == other.remainingInBatch
  }

  /// Whether the journal wrote the frame for itself.
  package var isWatermark: Bool { kind == RecordKind.watermark }

  /// Whether it replaces all records up to its sequence; only a compacted file begins with one.
  public var isSnapshot: Bool { kind == RecordKind.snapshot }
}

extension JournalFrame {
  /// Decodes the 32 bytes at `start` of a file with that header and seed.
  ///
  /// Fails with a flaw if they cannot be a frame at `offset`.
  @inline(__always)
  static func read(
    _ start: UnsafeRawPointer, offset: UInt64, seed: Checksum, header: JournalHeader
  ) -> Result<JournalFrame, JournalFlaw> {
    var checksum = seed
    checksum.extend(over: start + 4, count: headerSize - 4)
    guard start.loadLittle(0, as: UInt32.self) == checksum.value else {
      return .failure(.headerChecksum)
    }
    let frame = JournalFrame(start, offset: offset)
    let delta = frame.durableDelta
    // A delta of 0 would say that a frame was durable before it was written. The greatest number
    // says nothing, also for a delta that does not fit: as a number it would claim too much.
    let isFirstSnapshot = header.isSnapshotPlace(offset)
    let isPossible =
      frame.kind != RecordKind.invalid && frame.isSnapshot == isFirstSnapshot
      && frame.payloadLength <= header.maximumRecordSize && frame.sequence <= lastSequence
      && delta != 0
      && (delta == .max || UInt64(delta) <= frame.sequence)
      && (!frame.isWatermark || (frame.payloadLength == 0 && frame.remainingInBatch == 0))
      && (!isFirstSnapshot || (delta == .max && frame.remainingInBatch == 0))
    return isPossible ? .success(frame) : .failure(.impossibleHeader)
  }

  /// Whether the checksum of the payload after the header at `start` matches.
  ///
  /// All bytes of the frame must be in memory.
  @inline(__always)
  func isIntact(_ start: UnsafeRawPointer) -> Bool {
    // The checksum covers the padding too. Otherwise seven bytes of a record could rot unseen, and
    // "every flipped bit is noticed" would need a rule of its own. One checksum for a batch was
    // rejected: a flipped bit would hide the place of the damage. So were checksums of 64 bits, for
    // which not every processor has an instruction. In a false frame, chain, salt and sequence
    // would also have to agree by chance.
    var checksum = Checksum()
    checksum.extend(over: start + Self.headerSize, count: size - Self.headerSize)
    return checksum.value == payloadChecksum
  }

  /// Decodes a frame that was already found whole and valid.
  @inline(__always)
  init(verified start: UnsafeRawPointer, offset: UInt64) {
    self.init(start, offset: offset)
  }

  @inline(__always)
  private init(_ start: UnsafeRawPointer, offset: UInt64) {
    self.offset = offset
    sequence = start.loadLittle(8)
    payloadLength = start.loadLittle(4)
    kind = start.loadLittle(28)
    flags = start.loadLittle(29)
    remainingInBatch = start.loadLittle(30)
    durableDelta = start.loadLittle(16)
    checksum = start.loadLittle(0)
    previousChecksum = start.loadLittle(20)
    payloadChecksum = start.loadLittle(24)
  }
}

/// An encoder of consecutive frames, each chained to its predecessor.
package struct FrameWriter {
  package private(set) var bytes: [UInt8] = []
  package private(set) var chain: UInt32
  private let seed: Checksum

  package init(seed: Checksum, chain: UInt32) {
    self.seed = seed
    self.chain = chain
  }

  /// Creates the encoder of a whole file, which begins with the header.
  package init(after header: JournalHeader) {
    // The first frame chains to the header, so no frames can be put under another header.
    self.init(seed: header.seed, chain: header.checksum)
    bytes = header.encoded
  }

  /// Adds a frame; `durable` is the last sequence known to be durable, below `sequence`.
  package mutating func append(
    _ draft: JournalDraft, sequence: UInt64, durable: UInt64, remainingInBatch: UInt16
  ) {
    draft.payload.withUnsafeBytes { payload in
      append(
        payload, sequence: sequence, durableDelta: UInt32(clamping: sequence - durable),
        kind: draft.kind, flags: 0, remainingInBatch: remainingInBatch)
    }
  }

  /// Adds a copy of another file's frame, with the salt and chain of this file.
  package mutating func append(copyOf frame: JournalFrame, payload: RawSpan) {
    payload.withUnsafeBytes { payload in
      append(
        payload, sequence: frame.sequence, durableDelta: frame.durableDelta, kind: frame.kind,
        flags: frame.flags, remainingInBatch: frame.remainingInBatch)
    }
  }

  /// Adds the snapshot that a compacted file begins with.
  package mutating func append(snapshot: [UInt8], sequence: UInt64) {
    snapshot.withUnsafeBytes { payload in
      append(
        payload, sequence: sequence, durableDelta: .max, kind: RecordKind.snapshot, flags: 0,
        remainingInBatch: 0)
    }
  }

  /// Discards the bytes after they were written; the next frame still continues the last.
  package mutating func removeBytes() {
    bytes.removeAll(keepingCapacity: true)
  }

  /// Discards the first bytes after they were written.
  package mutating func removeBytes(_ count: Int) {
    bytes.removeSubrange(..<count)
  }

  private mutating func append(
    _ payload: UnsafeRawBufferPointer, sequence: UInt64, durableDelta: UInt32, kind: UInt8,
    flags: UInt8, remainingInBatch: UInt16
  ) {
    let padding = JournalFrame.padded(payload.count) - payload.count
    // The header, then the zeros of a padding.
    withUnsafeTemporaryAllocation(byteCount: JournalFrame.headerSize + 8, alignment: 8) { scratch in
      scratch.initializeMemory(as: UInt64.self, repeating: 0)
      let header = UnsafeMutableRawBufferPointer(rebasing: scratch[..<JournalFrame.headerSize])
      let zeros = UnsafeRawBufferPointer(
        rebasing: scratch[JournalFrame.headerSize..<JournalFrame.headerSize + padding])
      var payloadChecksum = Checksum()
      payloadChecksum.extend(over: payload)
      payloadChecksum.extend(over: zeros)
      header.storeLittle(UInt32(truncatingIfNeeded: payload.count), at: 4)
      header.storeLittle(sequence, at: 8)
      header.storeLittle(durableDelta, at: 16)
      header.storeLittle(chain, at: 20)
      header.storeLittle(payloadChecksum.value, at: 24)
      header.storeLittle(kind, at: 28)
      header.storeLittle(flags, at: 29)
      header.storeLittle(remainingInBatch, at: 30)
      var checksum = seed
      checksum.extend(over: UnsafeRawBufferPointer(rebasing: header[4...]))
      chain = checksum.value
      header.storeLittle(chain, at: 0)
      bytes.append(raw: UnsafeRawBufferPointer(header))
      bytes.append(raw: payload)
      bytes.append(raw: zeros)
    }
  }

  /// Reserves memory for `count` more bytes, so that appending a batch does not move them.
  package mutating func reserve(_ count: Int) {
    guard bytes.capacity < bytes.count + count else { return }
    bytes.reserveCapacity(max(bytes.count + count, 2 * bytes.count))
  }
}

/// A place between two batches, with the values that the next frame must match.
package struct FramePosition: Equatable, Sendable {
  /// The offset of the next frame.
  package var offset: UInt64

  /// The sequence that the next frame must have.
  package var sequence: UInt64

  /// The checksum of the preceding header, which the next frame must name.
  package var chain: UInt32

  /// The offset of the preceding frame; 0 if there is none.
  package var previous: UInt64

  /// Creates the position of the first frame, right after the header.
  package init(after header: JournalHeader) {
    offset = UInt64(JournalHeader.size)
    // A snapshot takes no sequence of its own: it has the one before the first.
    sequence = header.firstSequence - (header.beginsWithSnapshot ? 1 : 0)
    chain = header.checksum
    previous = 0
  }

  /// Creates the position after a frame of the file with this header.
  init(after frame: JournalFrame, in header: JournalHeader) {
    self.init(after: header)
    offset = frame.offset
    sequence = frame.sequence
    advance(over: frame)
  }

  @inline(__always)
  mutating func advance(over frame: JournalFrame) {
    previous = offset
    offset += UInt64(frame.size)
    sequence += 1
    chain = frame.checksum
  }

  /// Returns why `frame` cannot be at this position; nil if it can.
  ///
  /// `expected` is its required `remainingInBatch`; nil if it begins a batch.
  @inline(__always)
  func flaw(of frame: JournalFrame, batchStart: UInt64, expected: UInt16?) -> JournalFlaw? {
    if frame.sequence != sequence { return .sequenceBroken }
    if frame.previousChecksum != chain { return .chainBroken }
    if let expected, frame.remainingInBatch != expected { return .batchBroken }
    if offset + UInt64(frame.size) - batchStart > UInt64(BatchLimits.bytes) { return .batchBroken }
    return nil
  }
}

/// The largest size of a batch, so that a reader can hold one in memory.
package enum BatchLimits {
  /// The most bytes of a batch, frames and padding together.
  package static let bytes = 16 * 1024 * 1024

  /// The most records of a batch: what the two bytes in a frame can count.
  package static let records = 65_536
}
