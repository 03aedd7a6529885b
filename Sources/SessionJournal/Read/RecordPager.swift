/// A reader of older records, page by page.
struct RecordPager: ~Copyable, Sendable {
  private var scanner: FrameScanner

  /// The last sequence that was read; the next page continues there if it is the next one.
  private var cursor: UInt64?

  init(path: String, file: any JournalFileHandle) throws(JournalError) {
    scanner = try FrameScanner(path: path, file: file)
  }

  /// Returns up to `limit` records after `sequence`, up to and including `last`.
  mutating func records(
    after sequence: UInt64, through last: UInt64, limit: Int, index: SequenceIndex
  ) throws(JournalError) -> [JournalRecord] {
    guard limit > 0, sequence < last else { return [] }
    if cursor != sequence {
      let start = FramePosition(behind: scanner.header)
      let (next, overflow) = sequence.addingReportingOverflow(1)
      scanner.seek(to: overflow ? start : index.place(before: next) ?? start)
    }
    cursor = nil
    var records: [JournalRecord] = []
    var seen = sequence
    try scanner.visit { frame, payload in
      seen = max(seen, frame.sequence)
      guard frame.sequence > sequence else { return true }
      if !frame.isWatermark { records.append(JournalRecord(frame, payload: payload)) }
      return records.count < limit && frame.sequence < last
    }
    guard seen >= last || records.count == limit else {
      // The file was whole up to `last` when it was first read.
      throw .damaged(
        path: scanner.path,
        JournalDamage(
          offset: scanner.stop?.offset ?? scanner.position.offset, sequence: seen + 1,
          flaw: scanner.stop?.flaw ?? .historyChanged))
    }
    cursor = seen
    return records
  }
}
