import SessionJournal
import Testing

/// Summarizes records as their texts, one per line.
struct TextSummary: JournalSummary {
  var lines: [String] = []

  /// The maximum number of lines of a snapshot; nil: no maximum.
  var most: Int?

  /// Loses the first line of a snapshot that it reads: a fold with a bug.
  var forgets = false

  mutating func take(_ record: RecordHeader, payload: RawSpan) {
    let text = payload.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    guard record.isSnapshot else {
      lines.append(text)
      return
    }
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if forgets { lines.removeFirst() }
  }

  func snapshot() -> [UInt8]? {
    guard lines.count <= most ?? .max else { return nil }
    return Array(lines.joined(separator: "\n").utf8)
  }
}

/// Every record of the file at `path`, the snapshot first.
func records(at path: String) throws -> [JournalRecord] {
  var reader = try JournalReader(path: path)
  var records: [JournalRecord] = []
  while let record = try reader.next() { records.append(record) }
  #expect(try reader.ending() == .clean)
  return records
}
