/// A place between two records to which a reader of the same file can come back.
package struct JournalPlaceMark: Equatable, Sendable {
  /// Where the batch of the next record begins.
  let batch: FramePosition

  /// Where the next record begins, or a frame of the journal itself before it, in bytes from the
  /// beginning of the file.
  package let offset: UInt64
}

extension JournalReader {
  /// The place behind what was handed over so far.
  package var mark: JournalPlaceMark {
    JournalPlaceMark(
      batch: scanner.resumption, offset: max(scanner.deliveredEnd, resumption))
  }

  /// Goes on from a place that a reader of the same file told.
  ///
  /// `visit` hands over what stands behind it, verified as ever; its batch is read from its beginning.
  /// Totals go on counting whatever is handed over or passed over.
  package mutating func seek(to mark: JournalPlaceMark) {
    scanner.seek(to: mark.batch)
    resumption = mark.offset
  }
}
