@_spi(Internals) internal import SessionCore

/// Lets records through a batch at a time, and only such as the session can have gone on by: what
/// `export` writes and `repair` keeps.
struct BatchGate {
  /// The fold of all batches that were let through.
  private(set) var fold: SessionFold
  /// How many records these are, a snapshot among them.
  private(set) var records: UInt64 = 0
  /// Behind a batch, and within one.
  private var working: SessionFold
  private var batch: [ExportItem] = []

  init(_ fold: SessionFold = SessionFold()) {
    self.fold = fold
    working = fold
  }

  /// Whether the next record begins a batch.
  var isBetweenBatches: Bool { batch.isEmpty }

  /// Takes the next record; the batch that it completes, or nothing.
  ///
  /// Throws where the record cannot be folded: none of its batch is let through then, nor anything
  /// that follows.
  mutating func take(_ item: ExportItem) throws(SessionFold.Failure) -> [ExportItem] {
    try working.apply(item.record)
    batch.append(item)
    batch[batch.count - 1].after = working
    return item.remainingInBatch == 0 ? settle() : []
  }

  /// Lets the open batch through if a watermark ended it: `next` is the sequence of the next record,
  /// `nil` after the last.
  ///
  /// Only whole batches are handed over by a reader, and a watermark is not.
  @discardableResult
  mutating func endBatch(before next: UInt64? = nil) -> [ExportItem] {
    guard let last = batch.last?.record.sequence, next != last + 1 else { return [] }
    return settle()
  }

  private mutating func settle() -> [ExportItem] {
    let whole = batch
    fold = working
    records += UInt64(whole.count)
    batch.removeAll(keepingCapacity: true)
    return whole
  }
}
