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
  package init(behind header: JournalHeader) {
    offset = UInt64(JournalHeader.size)
    // A snapshot takes no sequence of its own: it has the one before the first.
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
