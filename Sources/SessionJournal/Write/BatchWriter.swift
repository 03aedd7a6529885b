/// Batches that go into the file with one write.
struct BatchWriter {
  /// Where the first of them begins.
  let start: UInt64

  /// Behind the last of them.
  private(set) var place: FramePosition

  /// Where each of them ends, and how many zeros of padding it ends with.
  private(set) var ends: [(place: FramePosition, padding: UInt64)] = []

  private var frames: FrameWriter
  private let durable: UInt64

  /// A writer behind `place`, in a file of which everything up to `durable` is.
  init(behind place: FramePosition, seed: Checksum, durable: UInt64) {
    start = place.offset
    self.place = place
    frames = FrameWriter(seed: seed, chain: place.chain)
    self.durable = durable
  }

  /// Frames and padding of all batches so far.
  var bytes: [UInt8] { frames.bytes }

  /// Adds one batch; the records that it will be.
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

  /// How many of the batches are whole in a file of which everything up to `end` was written, and
  /// that holds zeros from there up to `size`.
  func whole(upTo end: UInt64, zerosUpTo size: UInt64) -> Int {
    ends.prefix { batch in
      let isPadded = batch.place.offset <= size && batch.place.offset - batch.padding <= end
      return batch.place.offset <= end || isPadded
    }.count
  }
}
