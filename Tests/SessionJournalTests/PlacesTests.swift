import ChildProcesses
import SessionJournal
import Testing

@Suite("Places to which a reader returns")
struct PlacesTests {
  private let scratch: TemporaryFolder

  init() throws { scratch = try TemporaryFolder() }

  /// Batches of several sizes, watermarks between some, and a snapshot first if `isCompacted`.
  private func write(isCompacted: Bool) throws -> [JournalRecord] {
    for (round, size) in [1, 5, 1, 1, 300, 2, 1].enumerated() {
      let journal = try Journal.open(at: scratch.journal, options: .fixed)
      _ = try journal.append((0..<size).map { draft("record \(round) \($0)") })
      if isCompacted, round == 3 {
        _ = try #require(try journal.compact(keepingFrom: 4, summary: TextSummary()))
      }
      // A watermark follows every second batch.
      if round % 2 == 0 { try journal.close() }
    }
    var reader = try JournalReader(path: scratch.journal)
    return try Self.rest(&reader)
  }

  /// The records that the reader returns from its place.
  private static func rest(_ reader: inout JournalReader, atMost limit: Int = .max) throws
    -> [JournalRecord]
  {
    var records: [JournalRecord] = []
    while records.count < limit, let record = try reader.next() { records.append(record) }
    return records
  }

  @Test(
    "JRN-1 from the place after any record, reading continues with the next record",
    arguments: [false, true])
  func comesBack(isCompacted: Bool) throws {
    let all = try write(isCompacted: isCompacted)
    #expect(all.count > 300)
    var scout = try JournalReader(path: scratch.journal)
    var places = [scout.mark]
    while try scout.next() != nil { places.append(scout.mark) }
    try #require(places.count == all.count + 1)
    var reader = try JournalReader(path: scratch.journal)
    // Back, forth, and two times to the same.
    for index in (0...all.count).reversed() + [0, all.count, 7, 7, 150, 149] {
      reader.seek(to: places[index])
      #expect(reader.mark == places[index])
      let found = try Self.rest(&reader, atMost: 3)
      let isSame = found == Array(all[index...].prefix(3))
      #expect(isSame, "\(index)")
    }
    reader.seek(to: places[3])
    let isWhole = try Self.rest(&reader) == Array(all[3...])
    #expect(isWhole)
    #expect(try reader.ending() == .clean)
  }

  @Test("records that are read again are verified again")
  func verifiesAgain() throws {
    _ = try write(isCompacted: false)
    var reader = try JournalReader(path: scratch.journal)
    let beginning = reader.mark
    _ = try Self.rest(&reader)
    var bytes = try contents(of: scratch.journal)
    bytes[70] ^= 1
    _ = try scratch.write(bytes)
    var again = try JournalReader(path: scratch.journal)
    again.seek(to: beginning)
    #expect(try again.next() == nil)
    guard case .damaged = try again.ending() else {
      return #expect(Bool(false), "damage was not seen")
    }
  }

  @Test("a reader at the end continues with appended records")
  func atTheEnd() throws {
    let all = try write(isCompacted: false)
    var reader = try JournalReader(path: scratch.journal)
    _ = try Self.rest(&reader)
    let end = reader.mark
    let journal = try Journal.open(at: scratch.journal, options: .fixed)
    _ = try journal.append([draft("new")])
    reader.seek(to: end)
    #expect(try Self.rest(&reader).map(\.text) == ["new"])
    try journal.close()
    var other = try JournalReader(path: scratch.journal)
    other.seek(to: end)
    #expect(try Self.rest(&other).map(\.text) == ["new"])
    #expect(all.last?.text != "new")
  }
}
