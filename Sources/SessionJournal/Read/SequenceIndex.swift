/// The places of some batches, to find any sequence after a short read.
///
/// Holds at most 1,024 places. When it is full, every second place is dropped and the distance
/// doubles. So its memory does not grow with the file.
package struct SequenceIndex: Sendable {
  package static let capacity = 1024

  package init() {}

  private var places: [FramePosition] = []
  private var stride: UInt64 = 64 * 1024
  private var nextOffset: UInt64 = 0

  @inline(__always)
  package mutating func note(_ position: FramePosition) {
    if position.offset >= nextOffset { add(position) }
  }

  /// Returns the last known place of a batch that begins with `sequence` or an earlier one.
  package func place(before sequence: UInt64) -> FramePosition? {
    var low = 0
    var high = places.count
    while low < high {
      let middle = (low + high) / 2
      if places[middle].sequence <= sequence {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low == 0 ? nil : places[low - 1]
  }

  package var count: Int { places.count }

  @inline(never)
  private mutating func add(_ position: FramePosition) {
    if places.count == Self.capacity {
      places = places.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
      stride *= 2
    }
    places.append(position)
    nextOffset = position.offset + stride
  }
}

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
      let start = FramePosition(after: scanner.header)
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
    if seen >= last { scanner.rest() }
    return records
  }
}
