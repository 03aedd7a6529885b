/// An encoder of batches that go into the file with one write.
struct BatchWriter {
  /// The offset of the first batch.
  let start: UInt64

  /// The position after the last batch.
  private(set) var place: FramePosition

  /// The position after each batch, and the number of padding bytes at its end.
  private(set) var ends: [(place: FramePosition, padding: UInt64)] = []

  private var frames: FrameWriter
  private let durable: UInt64

  /// Creates a writer that continues at `place`; everything up to `durable` is durable.
  init(behind place: FramePosition, seed: Checksum, durable: UInt64) {
    start = place.offset
    self.place = place
    frames = FrameWriter(seed: seed, chain: place.chain)
    self.durable = durable
  }

  /// The frames and padding of all batches so far.
  var bytes: [UInt8] { frames.bytes }

  /// Adds one batch; returns its records.
  mutating func append(_ drafts: [JournalDraft]) -> [JournalRecord] {
    var records: [JournalRecord] = []
    records.reserveCapacity(drafts.count)
    frames.reserve(
      drafts.reduce(0) { $0 + JournalFrame.headerSize + JournalFrame.padded($1.payload.count) })
    for (number, draft) in drafts.enumerated() {
      let remaining = UInt16(drafts.count - 1 - number)
      place.previous = place.offset
      frames.append(
        draft, sequence: place.sequence, durable: durable, remainingInBatch: remaining)
      records.append(
        JournalRecord(
          sequence: place.sequence, offset: place.offset, kind: draft.kind,
          remainingInBatch: remaining, payload: draft.payload))
      place.offset = start + UInt64(frames.bytes.count)
      place.sequence += 1
      place.chain = frames.chain
    }
    let last = drafts.last?.payload.count ?? 0
    ends.append((place, UInt64(JournalFrame.padded(last) - last)))
    return records
  }

  /// Returns how many of the batches are whole after a partial write.
  ///
  /// Everything up to `end` was written. The file holds zeros from there up to `size`.
  func whole(upTo end: UInt64, zerosUpTo size: UInt64) -> Int {
    ends.prefix { batch in
      let isPadded = batch.place.offset <= size && batch.place.offset - batch.padding <= end
      return batch.place.offset <= end || isPadded
    }.count
  }
}
