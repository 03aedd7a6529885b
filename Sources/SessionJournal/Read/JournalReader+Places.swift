/// A place between two records to which a reader of the same file can return.
package struct JournalPlaceMark: Equatable, Sendable {
  /// The position of the batch that holds the next record.
  let batch: FramePosition

  /// The offset of the next record, or of a watermark before it, in bytes from the file's
  /// beginning.
  package let offset: UInt64
}

extension JournalReader {
  /// The place after the records that were passed on so far.
  package var mark: JournalPlaceMark {
    JournalPlaceMark(
      batch: scanner.resumption, offset: max(scanner.deliveredEnd, resumption))
  }

  /// Continues at a place that a reader of the same file returned.
  ///
  /// `visit` passes on what follows the place, verified as always. The batch at the place is read
  /// from its beginning. `totals` also counts the records that are read again.
  package mutating func seek(to mark: JournalPlaceMark) {
    scanner.seek(to: mark.batch)
    resumption = mark.offset
  }
}
