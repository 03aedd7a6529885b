@_spi(Internals) internal import SessionCore

/// Accepts records in complete batches, and only records that are allowed after those before them.
///
/// `export` writes and `repair` keeps the accepted records.
struct BatchGate {
  /// The fold of all accepted batches.
  private(set) var fold: SessionFold
  /// The number of accepted records, a snapshot included.
  private(set) var records: UInt64 = 0
  /// The fold of all records that were taken, those of the open batch included.
  private var working: SessionFold
  private var batch: [ExportItem] = []

  init(_ fold: SessionFold = SessionFold()) {
    self.fold = fold
    working = fold
  }

  /// Whether the next record begins a batch.
  var isBetweenBatches: Bool { batch.isEmpty }

  /// Takes the next record; returns the batch that it completes, or nothing.
  ///
  /// Throws if the record cannot be folded. None of its batch is accepted then, and nothing that
  /// follows.
  mutating func take(_ item: ExportItem) throws(SessionFold.Failure) -> [ExportItem] {
    try working.apply(item.record)
    batch.append(item)
    batch[batch.count - 1].after = working
    return item.remainingInBatch == 0 ? settle() : []
  }

  /// Accepts the open batch if a watermark ended it.
  ///
  /// `next` is the sequence of the next record; `nil` after the last. A reader passes on complete
  /// batches only, and it does not pass on watermarks. A missing sequence therefore shows that a
  /// watermark ended the batch.
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
