import ChildProcesses
import Synchronization
import Testing

@testable import SessionJournal

@Suite("Stretches of a journal")
struct JournalStretchesTests {
  private let scratch: TemporaryFolder

  init() throws { scratch = try TemporaryFolder() }

  /// Batches of several sizes, watermarks between some, and one record that is longer than a stretch.
  private func write(isCompacted: Bool) throws {
    for (round, size) in [1, 5, 1, 1, 300, 2, 1, 40].enumerated() {
      let journal = try Journal.open(at: scratch.journal, options: .fixed)
      _ = try journal.append(
        (0..<size).map { draft("record \(round) \($0)" + (round == 3 ? long : "")) })
      if isCompacted, round == 2 {
        _ = try #require(try journal.compact(keepingFrom: 4, summary: TextSummary()))
      }
      // A watermark follows every second batch.
      if round % 2 == 0 { try journal.close() }
    }
  }

  private var long: String { String(repeating: "a", count: 4_000) }

  /// The records of a stretch, and the places at which it begins and ends.
  private struct Stretch {
    var sequences: [UInt64] = []
    var first: JournalPlaceMark
    var last: JournalPlaceMark
  }

  /// The stretch from the place for `start` to that for `end`; `nil` if no batch is found.
  private func stretch(_ stretches: JournalStretches, from start: UInt64, to end: UInt64) throws
    -> Stretch?
  {
    var reader = stretches.reader()
    return try stretch(of: &reader, from: start, to: end)
  }

  /// The same by this reader.
  private func stretch(of reader: inout JournalReader, from start: UInt64, to end: UInt64) throws
    -> Stretch?
  {
    guard try reader.seek(toStretchAt: start) else { return nil }
    var stretch = Stretch(first: reader.mark, last: reader.mark)
    _ = try reader.visit(to: end) { frame, _ in
      stretch.sequences.append(frame.sequence)
      return true
    }
    stretch.last = reader.mark
    return stretch
  }

  private func size() throws -> UInt64 { UInt64(try contents(of: scratch.journal).count) }

  @Test(
    "JRN-1 stretches of any length have each record once, and each continues the one before it",
    arguments: [false, true])
  func divides(isCompacted: Bool) throws {
    try write(isCompacted: isCompacted)
    var reader = try JournalReader(path: scratch.journal)
    var all: [UInt64] = []
    let stretches = JournalStretches(of: reader)
    while let record = try reader.next() { all.append(record.sequence) }
    #expect(all.count > 300)
    let size = try size()
    for length in [8, 64, 100, 512, 3_000, 4_096, 1 << 20] as [UInt64] {
      var place = try JournalReader(path: scratch.journal).mark
      var found: [UInt64] = []
      for start in stride(from: 0, to: size, by: Int(length)) {
        // After the last batch, no other one begins.
        guard let stretch = try stretch(stretches, from: start, to: start + length)
        else { continue }
        try #require(stretch.first == place, "\(length) from \(start)")
        place = stretch.last
        found += stretch.sequences
      }
      #expect(found == all, "\(length)")
      #expect(place == reader.mark, "\(length)")
    }
  }

  /// `passed` is how many records the opened reader has passed on.
  @Test(
    "JRN-1 the first stretch uses the bytes of the opened reader, unless that is within a batch",
    arguments: [(passed: 0, reads: 0), (passed: 1, reads: 0), (passed: 3, reads: 1)])
  func usesWhatIsInMemory(passed: Int, reads: Int) throws {
    try write(isCompacted: false)
    let system = FaultyFileSystem()
    var reader = try JournalReader(path: scratch.journal, fileSystem: system)
    for _ in 0..<passed { _ = try reader.next() }
    var whole = try JournalReader(path: scratch.journal)
    for _ in 0..<passed { _ = try whole.next() }
    let stretches = JournalStretches(of: reader)
    var first = stretches.reader(takingBytesOf: &reader)
    let left = system.plan.withLock { $0.readsLeft }
    let found = try #require(try stretch(of: &first, from: 0, to: 600))
    #expect(left - system.plan.withLock { $0.readsLeft } == reads)
    #expect(found.sequences.count > 3 && found.sequences.first == 1)
    let second = try #require(try stretch(stretches, from: 600, to: 1_200))
    #expect(second.first == found.last)
    // A reader is used for one stretch after another, in any order.
    #expect(try stretch(of: &first, from: 600, to: 1_200)?.sequences == second.sequences)
    #expect(try stretch(of: &first, from: 0, to: 600)?.sequences == found.sequences)
    // The opened reader goes on, and reads again what was taken from it.
    for _ in 0..<20 { #expect(try reader.next() == whole.next()) }
  }

  @Test(
    "JRN-1 bytes of the opened reader are read again if a batch was appended since",
    arguments: [false, true])
  func oldBytes(isAtEnd: Bool) throws {
    try write(isCompacted: false)
    var reader = try JournalReader(path: scratch.journal)
    if isAtEnd { while try reader.next() != nil {} }
    let journal = try Journal.open(at: scratch.journal, options: .fixed)
    _ = try journal.append([draft("new")])
    let last = journal.lastSequence
    let stretches = JournalStretches(of: reader)
    var first = stretches.reader(takingBytesOf: &reader)
    let found = try #require(try stretch(of: &first, from: 0, to: .max))
    #expect(found.sequences.first == 1 && found.sequences.last == last)
    var newest: UInt64?
    while let record = try reader.next() { newest = record.sequence }
    #expect(newest == last)
    try journal.close()
  }

  @Test("JRN-2 a stretch that ends at damage is not continued by the next one")
  func damage() throws {
    try write(isCompacted: false)
    var whole = try JournalReader(path: scratch.journal)
    while try whole.next() != nil {}
    // Half of the records, because zeros may follow them.
    let middle = whole.mark.offset / 2 & ~7
    var bytes = try contents(of: scratch.journal)
    bytes[Int(middle) - 600] ^= 1
    _ = try scratch.write(bytes)
    let stretches = JournalStretches(of: try JournalReader(path: scratch.journal))
    let before = try #require(try stretch(stretches, from: 0, to: middle))
    let after = try #require(try stretch(stretches, from: middle, to: .max))
    #expect(before.last != after.first)
    var reader = try JournalReader(path: scratch.journal)
    while try reader.next() != nil {}
    #expect(before.last == reader.mark)
  }

  @Test("JRN-2 a stretch of another history with the same sequences does not continue the first")
  func exchanged() throws {
    try write(isCompacted: false)
    let stretches = JournalStretches(of: try JournalReader(path: scratch.journal))
    let before = try #require(try stretch(stretches, from: 0, to: 3_000))
    let after = try #require(try stretch(stretches, from: 3_000, to: .max))
    try #require(before.last == after.first)
    // The payload and both checksums of the last record before the place are others.
    var bytes = try contents(of: scratch.journal)
    let place = Int(before.last.batch.previous)
    let reader = try JournalReader(path: scratch.journal)
    var found: JournalFrame?
    try reader.visit(recordAt: UInt64(place)) { frame, _ in found = frame }
    let frame = try #require(found)
    var writer = FrameWriter(seed: reader.header.seed, chain: frame.previousChecksum)
    writer.append(
      JournalDraft(
        kind: frame.kind, payload: [UInt8](repeating: 0x42, count: Int(frame.payloadLength))),
      sequence: frame.sequence, durable: frame.durableSequence ?? 0,
      remainingInBatch: frame.remainingInBatch)
    bytes.replaceSubrange(place..<place + frame.size, with: writer.bytes)
    _ = try scratch.write(bytes)
    let others = JournalStretches(of: try JournalReader(path: scratch.journal))
    let changed = try #require(try stretch(others, from: 0, to: 3_000))
    #expect(changed.sequences == before.sequences)
    #expect(changed.last != after.first)
  }
}
