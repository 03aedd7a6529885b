import ChildProcesses
import Foundation
import SessionJournal
import Testing

@Suite("Journal")
struct JournalTests {
  @Test("JRN-1 a new journal is private, empty and clean, and reports its creation")
  func birth() throws {
    let scratch = try TemporaryFolder()
    let journal = try Journal.open(at: scratch.journal)
    #expect(journal.recovery.created)
    #expect(journal.recovery.repair == nil)
    #expect(journal.lastSequence == 0)
    #expect(try mode(of: scratch.journal) == 0o600)
    #expect(try mode(of: scratch.file("a.journal.lock")) == 0o600)
    try journal.close()
    #expect(try contents(of: scratch.journal).count == JournalHeader.size)
    #expect(try scratch.names == ["a.journal", "a.journal.lock"])
    let again = try Journal.open(at: scratch.journal)
    #expect(!again.recovery.created)
    #expect(again.identifier == journal.identifier)
  }

  @Test("JRN-2 appended records read back with their places in a new opening")
  func appended() throws {
    let scratch = try TemporaryFolder()
    let journal = try Journal.open(at: scratch.journal)
    let first = try journal.append([draft("one", kind: 7)])
    let second = try journal.append([draft("two"), draft("", kind: 0x80)])
    #expect(first.appended.map(\.sequence) == [1])
    #expect(second.appended.map(\.remainingInBatch) == [1, 0])
    #expect(second.appended.map(\.offset) == [64 + 40, 64 + 80])
    let before = try contents(of: scratch.journal)
    #expect(try journal.append([]).appended.isEmpty)
    #expect(try contents(of: scratch.journal) == before)
    try journal.close()
    try journal.close()

    var replayed: [UInt8] = []
    let again = try Journal.open(at: scratch.journal) { frame, payload in
      replayed.append(frame.kind)
      #expect(payload.byteCount == Int(frame.payloadLength))
    }
    #expect(replayed == [7, 1, 0x80])
    #expect(try again.records(after: 0, limit: 9) == first.appended + second.appended)
    // The watermark of closing took number 4.
    #expect(again.recovery.totals.records == 3)
    #expect(again.recovery.totals.watermarks == 1)
    #expect(again.recovery.totals.skippable == 1)
    #expect(try again.append([draft("three")]).appended.map(\.sequence) == [5])
  }

  @Test("JRN-2 closing adds one watermark, unless one is already last")
  func watermark() throws {
    let scratch = try TemporaryFolder()
    let journal = try Journal.open(at: scratch.journal)
    _ = try journal.append([draft("one")])
    try journal.close()
    let closed = try contents(of: scratch.journal)
    try Journal.open(at: scratch.journal).close()
    #expect(try contents(of: scratch.journal) == closed)
    // It proves the last record, so damage of that record is no longer undetermined.
    var bytes = closed
    bytes[64 + 32] ^= 1
    let damaged = try scratch.write(bytes, to: "b.journal")
    let damage = JournalDamage(offset: 64, sequence: 1, flaw: .payloadChecksum)
    #expect(throws: JournalError.damaged(path: damaged, damage)) {
      try Journal.open(at: damaged)
    }
    #expect(try contents(of: damaged) == bytes)
  }

  @Test("JRN-2 drafts that cannot be kept are refused, and the journal is unchanged")
  func refused() throws {
    let scratch = try TemporaryFolder()
    let path = scratch.journal
    let journal = try Journal.open(at: path, options: .fixed)
    let before = try contents(of: path)
    for kind: UInt8 in [0, 0x7F, 0xFF] {
      #expect(throws: JournalError.reservedKind(path: path, kind: kind)) {
        try journal.append([draft("x", kind: kind)])
      }
    }
    let large = JournalDraft(kind: 1, payload: [UInt8](repeating: 7, count: 4097))
    #expect(throws: JournalError.recordTooLarge(path: path, bytes: 4097, maximum: 4096)) {
      try journal.append([draft("small"), large])
    }
    let many = [JournalDraft](repeating: draft(""), count: 65_537)
    #expect(
      throws: JournalError.batchTooLarge(path: path, records: 65_537, bytes: 65_537 * 32)
    ) { try journal.append(many) }
    #expect(try contents(of: path) == before)
    let largest = JournalDraft(kind: 1, payload: [UInt8](repeating: 7, count: 4096))
    #expect(try journal.append([largest]).appended.map(\.payload) == [largest.payload])
    try journal.close()
    #expect(throws: JournalError.closed(path: path)) { try journal.append([draft("x")]) }
    #expect(throws: JournalError.closed(path: path)) { try journal.catchUp() }
    #expect(throws: JournalError.closed(path: path)) { try journal.records(after: 0, limit: 1) }
  }

  @Test("JRN-2 a batch longer than the reader's window is whole or absent")
  func longBatch() throws {
    let scratch = try TemporaryFolder()
    let journal = try Journal.open(
      at: scratch.journal, options: .fixed(maximumRecordSize: 16_384))
    _ = try journal.append([draft("before")])
    let batch = (0..<40).map {
      JournalDraft(kind: 1, payload: [UInt8](repeating: UInt8($0), count: 10_007))
    }
    let done = try journal.append(batch)
    var reader = try JournalReader(path: scratch.journal)
    #expect(try reader.next()?.text == "before")
    for record in done.appended {
      #expect(try reader.next() == record)
    }
    #expect(try reader.next() == nil)
    #expect(try reader.ending() == .clean)
    let bytes = try contents(of: scratch.journal)
    let size = bytes.count - 64 - 40
    #expect(
      verdictLine(Array(bytes.dropLast())) == "1 0 torn 104 2 \(size - 1) shortPayload")
  }

  @Test("JRN-1 a page continues after newly appended records, over reserved room")
  func pagesBetweenAppends() throws {
    let scratch = try TemporaryFolder()
    let journal = try Journal.open(at: scratch.journal)
    var read: [JournalRecord] = []
    var all: [JournalRecord] = []
    for number in 0..<40 {
      for size in 0...(number % 3) {
        all += try journal.append([draft(String(repeating: "x", count: 100 * size))]).appended
      }
      read += try journal.records(after: read.last?.sequence ?? 0, limit: 1 + number % 4)
    }
    read += try journal.records(after: read.last?.sequence ?? 0, limit: 1000)
    #expect(read == all)
  }

  @Test("JRN-1 pages return every record once, from any place, with any size")
  func pages() throws {
    let scratch = try TemporaryFolder()
    let journal = try Journal.open(at: scratch.journal)
    var all: [JournalRecord] = []
    for number in 0..<30 {
      let batch = (0...(number % 4)).map { draft("\(number).\($0) ") }
      all += try journal.append(batch).appended
    }
    for limit in [1, 2, 3, 7, 1000] {
      var read: [JournalRecord] = []
      var after: UInt64 = 0
      while true {
        let page = try journal.records(after: after, limit: limit)
        #expect(page.count <= limit)
        guard let last = page.last else { break }
        read += page
        after = last.sequence
      }
      #expect(read == all)
    }
    for after in all.indices.reversed() {
      let page = try journal.records(after: UInt64(after), limit: 2)
      #expect(page == Array(all[after...].prefix(2)))
    }
    #expect(try journal.records(after: .max, limit: 5).isEmpty)
    #expect(try journal.records(after: 3, limit: 0).isEmpty)
    // Records of another opening are returned only after this one has caught up.
    let other = try Journal.open(at: scratch.journal)
    let more = try other.append([draft("more")]).appended
    #expect(try journal.records(after: UInt64(all.count), limit: 5).isEmpty)
    #expect(try journal.records(after: 0, limit: 1000) == all)
    #expect(try journal.catchUp() == more)
    #expect(try journal.records(after: UInt64(all.count), limit: 5) == more)
  }

  @Test("RES-2 the index of places stays small and still finds every batch")
  func index() throws {
    var index = SequenceIndex()
    var position = FramePosition(
      after: JournalHeader(
        identifier: .random(), salt: 1, maximumRecordSize: 64))
    for _ in 0..<200_000 {
      index.note(position)
      position.offset += 4096
      position.sequence += 10
    }
    #expect(index.count <= SequenceIndex.capacity)
    for sequence in stride(from: UInt64(1), to: position.sequence, by: 9973) {
      let place = try #require(index.place(before: sequence))
      #expect(place.sequence <= sequence)
      #expect(sequence - place.sequence < 2_000_000 / UInt64(SequenceIndex.capacity) * 3)
    }
    #expect(index.place(before: 0) == nil)
  }

  @Test("JRN-1 identifiers are canonical UUIDs of version 4 and read back")
  func identifiers() {
    for _ in 0..<100 {
      let identifier = JournalIdentifier.random()
      let text = identifier.description
      #expect(JournalIdentifier(text) == identifier)
      #expect(JournalIdentifier(text.uppercased()) == identifier)
      #expect(UUID(uuidString: text)?.uuidString.lowercased() == text)
      #expect(Array(text)[14] == "4")
      #expect("89ab".contains(Array(text)[19]))
    }
    for text in [
      "", "x", "00112233-4455-4677-8899-aabbccddeef", "00112233x4455-4677-8899-aabbccddeeff",
    ] {
      #expect(JournalIdentifier(text) == nil)
    }
  }
}
