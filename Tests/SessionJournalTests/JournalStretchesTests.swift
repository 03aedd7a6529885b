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
    guard try reader.seek(toStretchAt: start) else { return nil }
    var stretch = Stretch(first: reader.mark, last: reader.mark)
    _ = try reader.visit(to: end) { frame, _ in
      stretch.sequences.append(frame.sequence)
      return true
    }
    stretch.last = reader.mark
    return stretch
  }

  private func stretches() throws -> JournalStretches {
    var reader = try JournalReader(path: scratch.journal)
    return JournalStretches(of: &reader)
  }

  private func size() throws -> UInt64 { UInt64(try contents(of: scratch.journal).count) }

  @Test(
    "JRN-1 stretches of any length have each record once, and each continues the one before it",
    arguments: [false, true])
  func divides(isCompacted: Bool) throws {
    try write(isCompacted: isCompacted)
    var reader = try JournalReader(path: scratch.journal)
    var all: [UInt64] = []
    let stretches = JournalStretches(of: &reader)
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

  @Test(
    "SCL-2 the first stretch uses what the opened reader has in memory, unless that is within a batch",
    arguments: [(passed: 0, reads: 0), (passed: 1, reads: 0), (passed: 3, reads: 1)])
  func usesWhatIsInMemory(passed: Int, reads: Int) throws {
    try write(isCompacted: false)
    let system = FaultyFileSystem()
    var reader = try JournalReader(path: scratch.journal, fileSystem: system)
    for _ in 0..<passed { _ = try reader.next() }
    var whole = try JournalReader(path: scratch.journal)
    for _ in 0..<passed { _ = try whole.next() }
    let stretches = JournalStretches(of: &reader)
    let left = system.plan.withLock { $0.readsLeft }
    let first = try #require(try stretch(stretches, from: 0, to: 600))
    #expect(left - system.plan.withLock { $0.readsLeft } == reads)
    #expect(first.sequences.count > 3 && first.sequences.first == 1)
    let second = try #require(try stretch(stretches, from: 600, to: 1_200))
    #expect(second.first == first.last)
    // The opened reader goes on, and reads again what was taken from it.
    for _ in 0..<20 { #expect(try reader.next() == whole.next()) }
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
    let stretches = try stretches()
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
    let stretches = try stretches()
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
    let others = try self.stretches()
    let changed = try #require(try stretch(others, from: 0, to: 3_000))
    #expect(changed.sequences == before.sequences)
    #expect(changed.last != after.first)
  }
}
