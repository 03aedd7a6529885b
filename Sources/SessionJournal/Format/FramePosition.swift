/// A place between two batches, with what is needed to read on from there.
package struct FramePosition: Equatable, Sendable {
  /// Where the next frame begins.
  package var offset: UInt64

  /// The sequence that it must have.
  package var sequence: UInt64

  /// The checksum of the header before it, which it must name.
  package var chain: UInt32

  /// Where the frame before it begins; 0 if the header of the file is before it.
  package var previous: UInt64

  /// Behind the header of a file.
  package init(behind header: JournalHeader) {
    offset = UInt64(JournalHeader.size)
    // A snapshot takes no sequence and bears the one before.
    sequence = header.firstSequence - (header.beginsWithSnapshot ? 1 : 0)
    chain = header.checksum
    previous = 0
  }

  @inline(__always)
  mutating func advance(over frame: JournalFrame) {
    previous = offset
    offset += UInt64(frame.size)
    sequence += 1
    chain = frame.checksum
  }

  /// Why `frame` cannot stand here; `expected` is what it must leave in the batch, nil if it begins
  /// one.
  @inline(__always)
  func flaw(of frame: JournalFrame, batchStart: UInt64, expected: UInt16?) -> JournalFlaw? {
    if frame.sequence != sequence { return .sequenceBroken }
    if frame.previousChecksum != chain { return .chainBroken }
    if let expected, frame.remainingInBatch != expected { return .batchBroken }
    if offset + UInt64(frame.size) - batchStart > UInt64(BatchLimits.bytes) { return .batchBroken }
    return nil
  }
}

/// How large a batch may be, so that a reader can hold one.
package enum BatchLimits {
  /// Frames and padding together, in bytes.
  package static let bytes = 16 * 1024 * 1024

  /// As many as the two bytes of a frame can count.
  package static let records = 65_536
}
