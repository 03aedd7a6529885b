import SessionJournal
import SessionTestKit

/// A journal cut into its frames, for tests that lose, damage and reorder them, and the expected
/// reading, computed only from the frames (Specs/JournalFormat.md, "Verdicts").
struct FramedJournal {
  /// The content of a frame.
  struct Frame: Equatable {
    /// Its place in the journal that was written, from 0.
    let number: Int
    let sequence: UInt64
    /// The last sequence that was acknowledged when the frame was written; nil if it names none.
    let watermark: UInt64?
    let left: UInt64
    let isSnapshot: Bool
    /// Its record; nil for a watermark frame.
    let record: JournalRecord?
  }

  /// Bytes of the file: a frame or other bytes.
  struct Piece {
    private(set) var bytes: [UInt8]
    /// The frame, if its first 32 bytes are unchanged.
    private(set) var frame: Frame?
    /// Whether all its bytes are unchanged.
    private(set) var isWhole = false

    init(_ bytes: [UInt8], _ frame: Frame? = nil) {
      self.bytes = bytes
      self.frame = frame
      isWhole = frame != nil
    }

    /// Changes bytes; a piece whose header changes is no longer a frame.
    mutating func change(_ places: Range<Int>, _ body: (UInt8) -> UInt8) {
      let before = bytes
      for place in places { bytes[place] = body(bytes[place]) }
      guard bytes != before else { return }
      isWhole = false
      if bytes.prefix(32) != before.prefix(32) { frame = nil }
    }
  }

  /// The result that a reader must report.
  struct Reading: Equatable {
    let records: [JournalRecord]
    let word: String
    let offset: UInt64
    let sequence: UInt64
  }

  let header: [UInt8]
  var pieces: [Piece]
  private let firstSequence: UInt64
  private let beginsWithSnapshot: Bool

  /// Cuts a whole journal, including its room.
  init(_ bytes: [UInt8]) throws {
    var reader = try JournalReader(bytes: bytes)
    var records: [UInt64: JournalRecord] = [:]
    while let record = try reader.next() { records[record.offset] = record }
    guard try reader.ending() == .clean else { throw Falsified("what was written is not whole") }
    header = Array(bytes.prefix(JournalHeader.size))
    beginsWithSnapshot = reader.header.beginsWithSnapshot
    firstSequence = reader.header.firstSequence - (beginsWithSnapshot ? 1 : 0)
    pieces = []
    var start = JournalHeader.size
    while start < Int(reader.totals.bytes) {
      let end = start + 32 + (Int(bytes.little(start + 4, 4)) + 7) / 8 * 8
      let (sequence, delta) = (bytes.little(start + 8, 8), bytes.little(start + 16, 4))
      let frame = Frame(
        number: pieces.count, sequence: sequence,
        watermark: delta == 0xFFFF_FFFF ? nil : sequence - delta,
        left: bytes.little(start + 30, 2), isSnapshot: bytes[start + 28] == 0x7F,
        record: records[UInt64(start)])
      pieces.append(Piece(Array(bytes[start..<end]), frame))
      start = end
    }
    if start < bytes.count { pieces.append(Piece(Array(bytes[start...]))) }
  }

  var bytes: [UInt8] { header + pieces.flatMap(\.bytes) }

  /// The ranges of pieces that are frames, one by one; or batches.
  func units(batches: Bool) -> [Range<Int>] {
    var units: [Range<Int>] = []
    var start = 0
    for (place, piece) in pieces.enumerated() {
      guard let frame = piece.frame, !batches || frame.left == 0 else { continue }
      units.append(start..<(place + 1))
      start = place + 1
    }
    return units
  }

  /// The whole prefix and the verdict.
  ///
  /// No two frames of a journal have the same place. So a frame that follows another by sequence
  /// and chain is the next by number.
  func reading() -> Reading {
    var (whole, batch): ([Frame], [Frame]) = ([], [])
    var offset = UInt64(header.count)
    var prefixEnd = offset
    var rest = pieces[...]
    while let piece = rest.first, piece.isWhole, let frame = piece.frame,
      frame.number == whole.count + batch.count
    {
      rest.removeFirst()
      offset += UInt64(piece.bytes.count)
      batch.append(frame)
      guard frame.left == 0 else { continue }
      whole += batch
      batch = []
      prefixEnd = offset
    }
    let records = whole.compactMap(\.record)
    let expected = firstSequence + UInt64(whole.count + batch.count)
    let damage = Reading(records: records, word: "damaged", offset: offset, sequence: expected)
    let next = firstSequence + UInt64(whole.count)
    func answer(_ word: String) -> Reading {
      Reading(records: records, word: word, offset: prefixEnd, sequence: next)
    }
    // The file had its name only after its snapshot was durable.
    if beginsWithSnapshot, whole.isEmpty { return damage }
    let isEmpty = rest.allSatisfy { $0.bytes.allSatisfy { $0 == 0 } }
    if isEmpty { return answer(batch.isEmpty ? "clean" : "torn") }
    let isProven = rest.contains { piece in
      guard let frame = piece.frame, !frame.isSnapshot, let mark = frame.watermark else {
        return false
      }
      return frame.sequence > expected && mark >= expected
    }
    return isProven ? damage : answer("undetermined")
  }
}

extension FramedJournal.Reading {
  /// The library's reading of the same bytes.
  init(_ bytes: [UInt8]) throws {
    var reader = try JournalReader(bytes: bytes)
    var records: [JournalRecord] = []
    while let record = try reader.next() { records.append(record) }
    self.records = records
    switch try reader.ending() {
    case .clean:
      (word, offset, sequence) = ("clean", reader.totals.bytes, reader.totals.lastSequence + 1)
    case .torn(let tail): (word, offset, sequence) = ("torn", tail.offset, tail.sequence)
    case .undetermined(let tail):
      (word, offset, sequence) = ("undetermined", tail.offset, tail.sequence)
    case .damaged(let damage):
      (word, offset, sequence) = ("damaged", damage.offset, damage.sequence)
    }
  }
}

extension [UInt8] {
  /// An unsigned number of this many bytes, the lowest first.
  func little(_ place: Int, _ count: Int) -> UInt64 {
    self[place..<(place + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
