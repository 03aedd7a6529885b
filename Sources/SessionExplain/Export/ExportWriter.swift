@_spi(Internals) import SessionCore

/// The journal that an export is made of.
package struct ExportOrigin: Equatable, Sendable {
  /// The identifier of the journal.
  let journal: String
  let format: UInt16
  /// The maximum size of a payload, in bytes.
  let maximumRecordSize: UInt32
  /// The sequence of the first record that is not a snapshot.
  let firstSequence: UInt64
  let beginsWithSnapshot: Bool
  /// Whether its records have pseudonyms already, because it was made of a redacted export.
  let isRedacted: Bool

  package init(
    journal: String, format: UInt16, maximumRecordSize: UInt32, firstSequence: UInt64,
    beginsWithSnapshot: Bool, isRedacted: Bool = false
  ) {
    self.journal = journal
    self.format = format
    self.maximumRecordSize = maximumRecordSize
    self.firstSequence = firstSequence
    self.beginsWithSnapshot = beginsWithSnapshot
    self.isRedacted = isRedacted
  }
}

/// The writer of an export's lines, from whole batches of good records in order.
///
/// It adds the lines of the journal's own frames, which readers of a journal do not pass on. The
/// function that takes a line returns whether it accepts more.
package struct ExportWriter: Sendable {
  private let lines: ExportLines
  private let origin: ExportOrigin
  private var records: UInt64 = 0
  /// The next sequence to write; 0 if it is unknown.
  ///
  /// Between two records, the journal's own frames have sequences too.
  private var due: UInt64

  package init(redaction: Redaction?, of origin: ExportOrigin) {
    lines = ExportLines(redaction: redaction)
    self.origin = origin
    due = origin.beginsWithSnapshot ? origin.firstSequence - 1 : origin.firstSequence
  }

  /// Writes the header, and the snapshot that replaces records that are left out.
  package mutating func begin(
    _ snapshot: ExportItem?, isPartial: Bool, about source: SessionDevice? = nil,
    _ write: (String) -> Bool
  ) {
    let first = snapshot.map { $0.record.sequence + 1 } ?? origin.firstSequence
    _ = write(
      lines.header(
        ExportHeader(
          journal: lines.redaction?.journal(origin.journal).description ?? origin.journal,
          format: origin.format, maximumRecordSize: origin.maximumRecordSize, firstSequence: first,
          isRedacted: origin.isRedacted || lines.redaction != nil, isPartial: isPartial,
          source: source)))
    if let snapshot {
      due = snapshot.record.sequence
      take([snapshot], write)
    } else if isPartial {
      due = 0
    }
  }

  /// Writes the records of a whole batch.
  package mutating func take(_ batch: [ExportItem], _ write: (String) -> Bool) {
    for item in batch {
      // If records are left out without a snapshot, the next sequence is unknown.
      if due > 0 { writeWatermarks(upTo: item.record.sequence, write) }
      _ = write(lines.record(item))
      records += 1
      due = item.record.sequence + 1
    }
    // Batches are complete: if frames remain after the last record, the last of them is a
    // watermark.
    if let last = batch.last, last.remainingInBatch > 0 { writeWatermarks(upTo: due + 1, write) }
  }

  /// Writes the last line.
  ///
  /// `lastSequence` is the last sequence of the journal, its own frames included; `nil` if it is
  /// unknown. `explanation` is written before the last line.
  package mutating func end(
    _ ending: ExportEnding, lastSequence: UInt64?, explanation: Explanation? = nil,
    _ write: (String) -> Bool
  ) {
    if let lastSequence, due > 0 { writeWatermarks(upTo: lastSequence + 1, write) }
    if let explanation { _ = write(lines.explanation(explanation)) }
    _ = write(lines.end(records: records, lastSequence: due == 0 ? 0 : due - 1, ending))
  }

  private mutating func writeWatermarks(upTo end: UInt64, _ write: (String) -> Bool) {
    while due < end, write(lines.watermark(due)) { due += 1 }
  }
}
