import ChildProcesses
import Foundation
import SessionJournal
import Testing

@Suite("Compaction")
struct CompactionTests {
  private let scratch: TemporaryFolder

  init() throws { scratch = try TemporaryFolder() }

  /// A journal of eight sequences: 1, the batch 2–4, the watermark 5, the records 6, 7 and 8.
  private func sample(_ options: JournalOptions = .fixed) throws -> Journal {
    let first = try Journal.open(at: scratch.journal, options: options)
    _ = try first.append([draft("one")])
    _ = try first.append([draft("two"), draft("three", kind: 0x83), draft("", kind: 9)])
    try first.close()
    let journal = try Journal.open(at: scratch.journal, options: options)
    for text in ["six", "seven", "eight"] { _ = try journal.append([draft(text)]) }
    return journal
  }

  @Test(
    "JRN-4 compaction leaves a snapshot and the later records, and the journal continues")
  func compacts() throws {
    let journal = try sample()
    let before = try contents(of: journal.path)
    let done = try #require(try journal.compact(keepingFrom: 7, summary: TextSummary()))
    #expect(done.firstSequence == 7)
    #expect(done.recordsRemoved == 5)
    #expect(done.bytesBefore == UInt64(before.count))
    #expect(done.bytesAfter == UInt64(try contents(of: journal.path).count))
    #expect(done.foreign.isEmpty)
    #expect(try scratch.names == ["a.journal", "a.journal.lock"])
    #expect(try mode(of: journal.path) == 0o600)

    let reader = try JournalReader(path: journal.path)
    #expect(reader.header.firstSequence == 7)
    #expect(reader.header.beginsWithSnapshot)
    #expect(reader.identifier == journal.identifier)
    #expect(reader.header.maximumRecordSize == 4096)
    #expect(number(try contents(of: journal.path), at: 32) != number(before, at: 32))
    let found = try records(at: journal.path)
    #expect(found.map(\.sequence) == [6, 7, 8])
    #expect(found.map(\.isSnapshot) == [true, false, false])
    #expect(found[0].text == "one\ntwo\nthree\n\nsix")

    // The watermark that proves the new file took a sequence.
    #expect(journal.lastSequence == 9)
    #expect(try journal.records(after: 0, limit: 10) == found)
    #expect(try journal.records(after: 6, limit: 10).map(\.text) == ["seven", "eight"])
    #expect(try journal.append([draft("ten")]).appended.map(\.sequence) == [10])
    try journal.close()
    var replayed: [UInt64] = []
    let again = try Journal.open(at: journal.path) { frame, _ in replayed.append(frame.sequence) }
    #expect(replayed == [6, 7, 8, 10])
    #expect(again.recovery.repair == nil)
    #expect(again.recovery.totals.records == 4)
  }

  @Test("JRN-4 compaction stops at the highest first sequence that a header may have")
  func highestFirst() throws {
    let highest = JournalHeader.firstSequences.upperBound
    let header = JournalHeader(identifier: .random(), salt: 3, maximumRecordSize: 4096)
      .compacted(from: highest - 1, salt: 3)
    var writer = FrameWriter(seed: header.seed, chain: header.checksum)
    writer.append(snapshot: Array("old".utf8), sequence: highest - 2)
    let journal = try Journal.open(at: try scratch.write(header.encoded + writer.bytes))
    for text in ["one", "two", "three"] { _ = try journal.append([draft(text)]) }
    let done = try journal.compact(keepingFrom: .max, summary: TextSummary())
    #expect(done?.firstSequence == highest)
    let found = try records(at: journal.path)
    #expect(found.map(\.sequence) == [highest - 1, highest, highest + 1])
    #expect(try journal.compact(keepingFrom: .max, summary: TextSummary()) == nil)
    // After the watermark that proves the new file.
    #expect(try journal.append([draft("four")]).appended.map(\.sequence) == [highest + 3])
  }

  @Test("JRN-4 a batch is kept whole, and a watermark does not separate a snapshot from its record")
  func cut() throws {
    for (wanted, first, removed) in [(2, 2, 1), (3, 2, 1), (4, 2, 1), (5, 5, 4), (6, 5, 4)]
      as [(UInt64, UInt64, UInt64)]
    {
      let journal = try sample()
      let before = try records(at: journal.path)
      let done = try #require(try journal.compact(keepingFrom: wanted, summary: TextSummary()))
      #expect(done.firstSequence == first, "from \(wanted)")
      #expect(done.recordsRemoved == removed)
      let after = try records(at: journal.path)
      #expect(after[0].sequence == first - 1)
      let kept = before.filter { $0.sequence >= first }
      #expect(after.dropFirst().map(\.sequence) == kept.map(\.sequence))
      #expect(after.dropFirst().map(\.payload) == kept.map(\.payload))
      // Unknown kinds and the counts of batches are unchanged.
      #expect(after.dropFirst().map(\.kind) == kept.map(\.kind))
      #expect(after.dropFirst().map(\.remainingInBatch) == kept.map(\.remainingInBatch))
      try FileManager.default.removeItem(atPath: journal.path)
    }
  }

  @Test("JRN-4 kept frames equal those of the old file, except for their checksums")
  func frames() throws {
    let journal = try sample()
    let before = try contents(of: journal.path)
    _ = try #require(try journal.compact(keepingFrom: 2, summary: TextSummary()))
    let after = try contents(of: journal.path)
    // Header, then the first record of the old file and the snapshot of the new one.
    var old = 64 + 40
    var new = 64 + 40
    var count = 0
    while old < before.count {
      let size = 32 + (Int(number(before, at: old + 4)) + 7) & ~7
      #expect(before[(old + 4)..<(old + 20)] == after[(new + 4)..<(new + 20)])
      #expect(before[(old + 24)..<(old + size)] == after[(new + 24)..<(new + size)])
      old += size
      new += size
      count += 1
    }
    #expect(count == 7)
    #expect(after.count == new + 32)
    #expect(after[new + 28] == 0xFF)
  }

  @Test("JRN-4 everything, nothing, or nothing new may be kept, repeatedly")
  func bounds() throws {
    let journal = try sample()
    let before = try contents(of: journal.path)
    for first: UInt64 in [0, 1] {
      #expect(try journal.compact(keepingFrom: first, summary: TextSummary()) == nil)
    }
    #expect(try journal.compact(keepingFrom: 7, summary: TextSummary(most: 4)) == nil)
    #expect(try journal.compact(keepingFrom: 7, summary: TextSummary(most: 6)) == nil)
    #expect(try contents(of: journal.path) == before)
    #expect(try scratch.names == ["a.journal", "a.journal.lock"])

    #expect(try journal.compact(keepingFrom: 3, summary: TextSummary())?.firstSequence == 2)
    let all = try journal.compact(keepingFrom: .max, summary: TextSummary())
    #expect(all?.firstSequence == 9)
    #expect(all?.recordsRemoved == 6)
    let alone = try records(at: journal.path)
    #expect(alone.map(\.sequence) == [8])
    #expect(alone[0].text == "one\ntwo\nthree\n\nsix\nseven\neight")
    // The watermark after it is not a record, so there is nothing to summarize.
    let small = try contents(of: journal.path)
    for _ in 0..<3 {
      #expect(try journal.compact(keepingFrom: .max, summary: TextSummary()) == nil)
    }
    try journal.close()
    #expect(try contents(of: journal.path) == small)

    let again = try Journal.open(at: journal.path)
    #expect(again.lastSequence == 9)
    #expect(try again.append([draft("ten")]).appended.map(\.sequence) == [10])
    #expect(try again.compact(keepingFrom: 10, summary: TextSummary()) == nil)
    #expect(try again.compact(keepingFrom: 11, summary: TextSummary())?.firstSequence == 11)
    #expect(
      try records(at: journal.path).map(\.text) == ["one\ntwo\nthree\n\nsix\nseven\neight\nten"])
  }

  @Test(
    "JRN-4 a journal reports its first sequence, and a compaction based on an old one is refused")
  func beginning() throws {
    let journal = try sample()
    let other = try Journal.open(at: journal.path)
    #expect(journal.firstSequence == 1 && other.firstSequence == 1)
    let done = try journal.compact(
      keepingFrom: 7, ifFirstIs: journal.firstSequence, summary: TextSummary())
    #expect(done?.firstSequence == 7)
    #expect(journal.firstSequence == 7)
    #expect(other.firstSequence == 1)
    let file = try contents(of: journal.path)
    #expect(
      try other.compact(keepingFrom: 8, ifFirstIs: other.firstSequence, summary: TextSummary())
        == nil)
    #expect(try contents(of: journal.path) == file)
    #expect(other.firstSequence == 7)
    #expect(
      try other.compact(keepingFrom: 8, ifFirstIs: other.firstSequence, summary: TextSummary())?
        .firstSequence == 8)
    _ = try journal.append([draft("on")])
    #expect(journal.firstSequence == 8)
    #expect(try Journal.open(at: journal.path).firstSequence == 8)
  }

  @Test("JRN-4 a journal of watermarks alone has nothing to summarize")
  func watermarks() throws {
    let header = JournalHeader(identifier: .random(), salt: 5, maximumRecordSize: 64)
    var writer = FrameWriter(seed: header.seed, chain: header.checksum)
    for sequence in 1...3 as ClosedRange<UInt64> {
      writer.append(
        JournalDraft(kind: 0xFF, payload: []), sequence: sequence, durable: sequence - 1,
        remainingInBatch: 0)
    }
    let path = try scratch.write(header.encoded + writer.bytes)
    let journal = try Journal.open(at: path)
    #expect(try journal.compact(keepingFrom: .max, summary: TextSummary()) == nil)
    _ = try journal.append([draft("four")])
    let done = try #require(try journal.compact(keepingFrom: .max, summary: TextSummary()))
    #expect(done.recordsRemoved == 1)
    #expect(try records(at: path).map(\.sequence) == [4])
    #expect(try records(at: path).map(\.text) == ["four"])
  }

  @Test("JRN-4 a follower and another process cross the compactions of a third")
  func crossing() async throws {
    let path = scratch.journal
    _ = try Journal.open(at: path).append([draft("0")])
    async let child = #expect(processExitsWith: .success) { [path = path as String] in
      let journal = try Journal.open(at: path, options: .init(lockDeadline: .seconds(60)))
      for number in 1...60 { _ = try journal.append([draft("\(number)")]) }
    }
    let following = Task {
      var lines: [String] = []
      for try await record in JournalFollower(path: path, interval: .milliseconds(1)) {
        if record.isSnapshot {
          let past = record.text.split(separator: "\n").map(String.init)
          #expect(past.starts(with: lines))
          lines = past
        } else {
          lines.append(record.text)
        }
        if lines.last == "60" { withUnsafeCurrentTask { $0?.cancel() } }
      }
      return lines
    }
    let journal = try Journal.open(at: path, options: .init(lockDeadline: .seconds(60)))
    var compactions = 0
    var lines: [String] = []
    while lines.last != "60" {
      await Task.yield()
      if try journal.compact(keepingFrom: .max, summary: TextSummary()) != nil { compactions += 1 }
      let text = try #require(try records(at: path).first { $0.sequence > 0 }?.text)
      lines = text.split(separator: "\n").map(String.init)
      if let last = try journal.records(after: 0, limit: 1_000).last, !last.isSnapshot {
        lines.append(last.text)
      }
    }
    _ = await child
    #expect(compactions > 0)
    #expect(try await following.value == (0...60).map { "\($0)" })
    _ = try journal.compact(keepingFrom: .max, summary: TextSummary())
    #expect(try records(at: path)[0].text == (0...60).map { "\($0)" }.joined(separator: "\n"))
  }
}
