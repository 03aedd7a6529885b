import SessionJournal
import SessionTestKit

/// A summary that forgets nothing: its snapshot holds every record.
///
/// So a test can compare a compacted file with all that was ever submitted.
struct History: JournalSummary, Equatable {
  /// Every record, as if no file was ever compacted; offsets are 0.
  private(set) var records: [JournalRecord] = []

  mutating func take(_ record: RecordHeader, payload: RawSpan) {
    let bytes = payload.withUnsafeBytes { [UInt8]($0) }
    if record.isSnapshot {
      records = Self.decode(bytes)
    } else {
      records.append(
        Self.record(
          record.sequence, kind: record.kind, flags: 0, left: record.remainingInBatch,
          bytes))
    }
  }

  /// Takes the next records; a snapshot must continue this history.
  mutating func take(_ record: JournalRecord) throws {
    guard record.isSnapshot else {
      records.append(
        Self.record(
          record.sequence, kind: record.kind, flags: record.flags, left: record.remainingInBatch,
          record.payload))
      return
    }
    let past = Self.decode(record.payload)
    guard past.last?.sequence == record.sequence else {
      throw Falsified("a snapshot of seq \(record.sequence) ends at \(past.last?.sequence ?? 0)")
    }
    guard past.starts(with: records), past.count > records.count else {
      throw Falsified(
        "a snapshot up to seq \(record.sequence) after \(records.map(\.sequence)) were seen")
    }
    records = past
  }

  mutating func take(_ records: [JournalRecord]) throws {
    for record in records { try take(record) }
  }

  func snapshot() -> [UInt8]? {
    var bytes: [UInt8] = []
    for record in records {
      bytes += Self.bytes(of: record.sequence, 8) + [record.kind, record.flags]
      bytes += Self.bytes(of: UInt64(record.remainingInBatch), 2)
      bytes += Self.bytes(of: UInt64(record.payload.count), 4) + record.payload
    }
    return bytes
  }

  /// The records that a file contains, snapshots expanded.
  static func expanded(_ records: [JournalRecord]) throws -> [JournalRecord] {
    var history = History()
    try history.take(records)
    return history.records
  }

  private static func record(
    _ sequence: UInt64, kind: UInt8, flags: UInt8, left: UInt16, _ payload: [UInt8]
  ) -> JournalRecord {
    JournalRecord(
      sequence: sequence, offset: 0, kind: kind, flags: flags, remainingInBatch: left,
      payload: payload)
  }

  private static func bytes(of number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
  }

  private static func decode(_ bytes: [UInt8]) -> [JournalRecord] {
    var place = 0
    func number(_ count: Int) -> UInt64 {
      defer { place += count }
      return bytes[place..<(place + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    var records: [JournalRecord] = []
    while place < bytes.count {
      let sequence = number(8)
      let kind = UInt8(number(1))
      let flags = UInt8(number(1))
      let left = UInt16(number(2))
      let length = Int(number(4))
      records.append(
        record(
          sequence, kind: kind, flags: flags, left: left, Array(bytes[place..<(place + length)])))
      place += length
    }
    return records
  }
}
