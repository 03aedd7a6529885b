import SessionJournal
import Testing

@Suite("A file that begins with a snapshot")
struct SnapshotFrameTests {
  private static let salt: UInt64 = 0x0123_4567_89AB_CDEF

  private static let header = JournalHeader(
    identifier: JournalIdentifier(high: 1, low: 2), salt: salt, maximumRecordSize: 4096
  ).compacted(from: 7, salt: salt)

  private static func forge(_ sequence: UInt64, after chain: UInt32) -> FrameForge {
    FrameForge(sequence: sequence, chain: chain, salt: salt)
  }

  /// The snapshot of the records before sequence 7, and a record after it.
  private static func bytes(
    _ change: (inout FrameForge) -> Void = { _ in }
  ) -> [UInt8] {
    var snapshot = forge(6, after: header.checksum)
    snapshot.kind = 0x7F
    snapshot.delta = .max
    snapshot.payload = Array("state".utf8)
    change(&snapshot)
    let first = snapshot.bytes
    var record = forge(7, after: number(first, at: 0))
    record.payload = Array("seven".utf8)
    return header.encoded + first + record.bytes
  }

  @Test("JRN-4 a snapshot comes first, has the sequence before the first, and takes none")
  func read() throws {
    var reader = try JournalReader(bytes: Self.bytes())
    #expect(reader.header.beginsWithSnapshot)
    #expect(reader.header.firstSequence == 7)
    let snapshot = try #require(try reader.next())
    #expect(snapshot.isSnapshot)
    #expect(snapshot.sequence == 6)
    #expect(snapshot.kind == 0x7F)
    #expect(snapshot.text == "state")
    let record = try #require(try reader.next())
    #expect(!record.isSnapshot)
    #expect(record.sequence == 7)
    #expect(try reader.next() == nil)
    #expect(try reader.ending() == .clean)
    #expect(reader.totals.records == 2)
    #expect(reader.totals.lastSequence == 7)
  }

  @Test(
    "JRN-4 a flaw of the snapshot is never a torn tail, since it was durable before its name")
  func flaws() throws {
    let whole = Self.bytes()
    func damage(_ bytes: [UInt8]) throws -> JournalFlaw? {
      var reader = try JournalReader(bytes: bytes)
      guard case .damaged(let damage) = try reader.ending() else { return nil }
      #expect(damage.offset == 64)
      #expect(damage.sequence == 6)
      return damage.flaw
    }
    for size in 64..<96 { #expect(try damage(Array(whole.prefix(size))) == .shortHeader) }
    for size in 96..<104 { #expect(try damage(Array(whole.prefix(size))) == .shortPayload) }
    for place in 64..<104 {
      var bytes = whole
      bytes[place] ^= 0x20
      let flaw: JournalFlaw = place < 96 ? .headerChecksum : .payloadChecksum
      #expect(try damage(bytes) == flaw, "byte \(place)")
    }
    let zeros = [UInt8](repeating: 0, count: 200)
    #expect(try damage(Array(whole.prefix(64)) + zeros) == .headerChecksum)
    #expect(try damage(Self.bytes { $0.kind = 1 }) == .impossibleHeader)
    #expect(try damage(Self.bytes { $0.kind = 0xFF }) == .impossibleHeader)
    #expect(try damage(Self.bytes { $0.delta = 1 }) == .impossibleHeader)
    #expect(try damage(Self.bytes { $0.left = 1 }) == .impossibleHeader)
    #expect(try damage(Self.bytes { $0.length = 5000 }) == .impossibleHeader)
    #expect(try damage(Self.bytes { $0.sequence = 7 }) == .sequenceBroken)
    #expect(try damage(Self.bytes { $0.chain ^= 1 }) == .chainBroken)
  }

  @Test("JRN-4 a snapshot in any other place is impossible")
  func elsewhere() throws {
    let plain = JournalHeader(
      identifier: JournalIdentifier(high: 1, low: 2), salt: Self.salt, maximumRecordSize: 4096)
    var snapshot = Self.forge(1, after: plain.checksum)
    snapshot.kind = 0x7F
    snapshot.delta = .max
    var reader = try JournalReader(bytes: plain.encoded + snapshot.bytes)
    guard case .undetermined(let tail) = try reader.ending() else {
      Issue.record("\(try reader.ending())")
      return
    }
    #expect(tail.flaw == .impossibleHeader)

    let whole = Self.bytes()
    var second = Self.forge(8, after: number(whole, at: 104))
    second.kind = 0x7F
    second.delta = .max
    var other = try JournalReader(bytes: whole + second.bytes)
    guard case .undetermined(let tail) = try other.ending() else {
      Issue.record("\(try other.ending())")
      return
    }
    #expect(tail.offset == UInt64(whole.count))
    #expect(tail.flaw == .impossibleHeader)
  }

  @Test("JRN-4 a header with a snapshot has a first sequence of 2 or more")
  func firstSequence() {
    let plain = JournalHeader(
      identifier: JournalIdentifier(high: 1, low: 2), salt: 5, maximumRecordSize: 64)
    #expect(JournalHeader.read(plain.compacted(from: 1, salt: 5).encoded) == .damaged)
    #expect(JournalHeader.read(plain.compacted(from: (1 << 62) + 1, salt: 5).encoded) == .damaged)
    for first: UInt64 in [2, 1 << 62] {
      let header = plain.compacted(from: first, salt: 9)
      #expect(JournalHeader.read(header.encoded) == .whole(header))
      #expect(header.identifier == plain.identifier)
      #expect(header.encoded[12] == 1)
    }
  }
}
