import Foundation
@_spi(Internals) import SessionCore
import Testing

@Suite("Snapshots")
struct SnapshotTests {
  /// A snapshot's payload, written here from `Specs/EventCodec.md`, field by field.
  private struct Draft {
    var sequence: UInt64 = 9
    var eventSequence: UInt64 = 8
    var generation: UInt64 = 2
    var token: UInt64? = 2
    var total: UInt32 = 0
    var answered: UInt32 = 0
    var last: UInt8?
    var isExpired = false
    var request: UInt64?
    var revocations: [UInt64] = []
    var hasIdentity = false

    private(set) var starts: [String: Int] = [:]

    mutating func payload() -> [UInt8] {
      var bytes: [UInt8] = []
      func little(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
      }
      let (time, user) = (little(Int64(5)), [UInt8(2)] + little(UInt32(1)) + [0x75])
      bytes += time + [hasIdentity ? 2 : 1] + little(sequence)
      starts["eventSequence"] = bytes.count
      bytes += little(eventSequence)
      starts["generation"] = bytes.count
      bytes += little(generation)
      starts["authenticated"] = bytes.count
      if let token {
        bytes += [1] + user + [0] + time + little(token) + time + time + [0, 1, 0]
        bytes += little(total) + little(answered)
        bytes += last.map { [1, $0, 0, 0, 0, 0] } ?? [0]
      } else {
        bytes += [0]
      }
      starts["expired"] = bytes.count
      bytes += isExpired ? [1] + user + [0, 0] + time : [0]
      starts["request"] = bytes.count
      if let request {
        bytes += [1] + little(request) + [0] + little(UInt64(2)) + [0] + little(UInt32(1))
        bytes += little(UInt32(7)) + time
      } else {
        bytes += [0]
      }
      starts["revocations"] = bytes.count
      bytes += little(UInt32(revocations.count))
      for generation in revocations { bytes += little(generation) }
      starts["identity"] = bytes.count
      if hasIdentity { bytes += user + [0, 0] + little(UInt64(0)) + [0] }
      return bytes
    }
  }

  private func decode(_ change: (inout Draft) -> Void, last: UInt64 = 9) throws -> SessionFold {
    var draft = Draft()
    change(&draft)
    let record = try SessionCodec.decode(
      sequence: last, kind: SessionRecord.snapshotKind, payload: draft.payload())
    guard case .snapshot(let fold) = record.content else { throw CodecError.cutShort(offset: 0) }
    return fold
  }

  @Test("JRN-4 a snapshot that a history results in is read")
  func possible() throws {
    let plain = try decode { _ in }
    #expect(plain.state.token?.generation == Generation(2))
    #expect((plain.sequence, plain.eventSequence) == (9, 8))
    #expect(plain.isWhole)
    let failed = try decode { ($0.total, $0.answered, $0.last) = (7, 7, 2) }
    #expect(failed.state.kind == .authenticated)
    let request = try decode { ($0.request, $0.revocations) = (7, [3, 1]) }
    #expect(request.intents.request?.sequence == 7)
    #expect(request.intents.revocations == [Generation(3), Generation(1)])
    let named = try decode { ($0.request, $0.hasIdentity) = (7, true) }
    #expect(named.intents.request?.sent.identity == ProcessIdentity(opening: "u"))
    #expect(try decode { ($0.token, $0.isExpired) = (nil, true) }.state.kind == .expired)
    #expect(try decode { ($0.token, $0.eventSequence) = (nil, 2) }.state == .unauthenticated)
    let nothing = try decode {
      ($0.token, $0.sequence, $0.eventSequence, $0.generation) = (nil, 0, 0, 0)
    }
    #expect(nothing == SessionFold())
    let many = try decode(
      {
        ($0.sequence, $0.eventSequence) = (1 << 33, 1 << 33)
        ($0.total, $0.answered, $0.last) = (.max, .max, 0)
      }, last: .max)
    #expect(many.sequence == 1 << 33)
  }

  /// The drafts that break each row of the page's table.
  private static let broken: [(field: String, change: @Sendable (inout Draft) -> Void)] = [
    ("sequence", { $0.sequence = 10 }),
    ("eventSequence", { $0.eventSequence = 10 }),
    ("generation", { $0.generation = 0 }),
    ("generation", { $0.eventSequence = 0 }),
    ("authenticated", { $0.token = 1 }),
    ("authenticated", { $0.token = 3 }),
    ("authenticated", { ($0.total, $0.answered, $0.last) = (8, 8, 2) }),
    ("authenticated", { $0.total = 1 }),
    ("authenticated", { $0.answered = 1 }),
    ("authenticated", { $0.last = 2 }),
    ("authenticated", { ($0.total, $0.answered, $0.last) = (1, 2, 2) }),
    ("authenticated", { ($0.total, $0.answered, $0.last) = (2, 0, 2) }),
    ("authenticated", { ($0.total, $0.answered, $0.last) = (2, 2, 0) }),
    ("expired", { $0.isExpired = true }),
    ("expired", { ($0.token, $0.isExpired, $0.eventSequence) = (nil, true, 1) }),
    ("expired", { ($0.token, $0.eventSequence) = (nil, 1) }),
    (
      "expired",
      { ($0.token, $0.isExpired, $0.eventSequence, $0.generation) = (nil, true, 0, 0) }
    ),
    ("request", { $0.request = 0 }),
    ("request", { $0.request = 8 }),
    ("request", { $0.request = 10 }),
    ("request", { ($0.token, $0.request) = (nil, 7) }),
    ("revocations", { $0.revocations = [1, 2, 1] }),
    ("revocations", { $0.revocations = Array(1...10) }),
    ("identity", { $0.hasIdentity = true }),
  ]

  @Test("JRN-4 an impossible snapshot is an error at its field, for every row of the table")
  func impossible() throws {
    for (number, (field, change)) in Self.broken.enumerated() {
      var draft = Draft()
      change(&draft)
      let payload = draft.payload()
      let offset = draft.starts[field] ?? 9
      #expect(throws: CodecError.impossible(offset: offset), "\(number): \(field)") {
        try SessionCodec.decode(
          sequence: 9, kind: SessionRecord.snapshotKind, payload: payload)
      }
    }
    let page = try SpecFile("Specs/EventCodec.md")
    let heading = try #require(page.lines.firstIndex(of: "| field | must be |"))
    let rows = page.lines[(heading + 2)...].prefix { $0.hasPrefix("|") }
      .map { $0.split(separator: "|")[0].trimmingCharacters(in: .whitespaces) }
    #expect(
      rows == Self.broken.map(\.field).reduce(into: []) { if $0.last != $1 { $0.append($1) } })
  }

  private func record(_ sequence: UInt64, _ content: SessionRecord.Content) -> SessionRecord {
    SessionRecord(sequence: sequence, time: SampleRecords.time, content: content)
  }

  private func folded(_ contents: [SessionRecord.Content]) throws -> SessionFold {
    try zip(UInt64(1)..., contents).reduce(into: SessionFold()) {
      try $0.apply(record($1.0, $1.1))
    }
  }

  @Test(
    "JRN-4 an equal snapshot changes nothing, and a different one at that place is refused")
  func samePlace() throws {
    let fold = try folded([.event(SampleRecords.events[0]), .note(.closed)])
    var reader = fold
    try reader.apply(record(3, try #require(fold.snapshot)))
    #expect(reader == fold)
    let other = try folded([
      .event(SampleRecords.events[0]), .note(.revocationPending(Generation(1))),
    ])
    #expect(throws: SessionFold.Failure.contradiction(sequence: 2)) {
      try reader.apply(record(2, try #require(other.snapshot)))
    }
    #expect(reader == fold)
  }

  @Test("JRN-4 a snapshot that takes back a token or an event is refused")
  func ahead() throws {
    let fold = try folded([.event(SampleRecords.events[0]), .event(SampleRecords.events[2])])
    for (sequence, events, generation) in [(9, 8, 1), (9, 1, 2)] as [(UInt64, UInt64, UInt64)] {
      let snapshot = try decode {
        ($0.sequence, $0.eventSequence) = (sequence, events)
        ($0.generation, $0.token) = (generation, generation)
      }
      var reader = fold
      #expect(throws: SessionFold.Failure.contradiction(sequence: 9)) {
        try reader.apply(record(9, .snapshot(snapshot)))
      }
      #expect(reader == fold)
    }
  }

  @Test("JRN-3 JRN-4 a fold with newer records makes no snapshot until one replaces them")
  func newerRecords() throws {
    let plain = try folded([.note(.closed)])
    let skipped = try folded([.unknown(.init(kind: 0xEE, payload: [])), .note(.closed)])
    #expect(plain.snapshot != nil)
    #expect(skipped.snapshot == nil)
    var fields = plain
    try fields.apply(
      SessionRecord(
        sequence: 2, time: SampleRecords.time, content: .note(.closed), hasUnknownFields: true))
    #expect(fields.snapshot == nil)
    let content = try #require(try folded([.note(.closed), .note(.closed)]).snapshot)
    var reader = skipped
    try reader.apply(record(2, content))
    #expect(reader.snapshot != nil)
    try reader.apply(
      SessionRecord(
        sequence: 2, time: SampleRecords.time, content: content, hasUnknownFields: true))
    #expect(reader.snapshot == nil)
  }

  @Test("JRN-4 names with different bytes make different folds")
  func spelling() throws {
    func context(_ name: String) -> ActiveContext {
      ActiveContext(role: .init(id: "r", name: name), permissions: [name])
    }
    #expect(context("\u{e9}") != context("e\u{301}"))
    #expect(context("e\u{301}") == context("e\u{301}"))
    #expect(
      ActiveContext(role: .init(id: "r", name: ""), permissions: ["\u{e9}"])
        != ActiveContext(role: .init(id: "r", name: ""), permissions: ["e\u{301}"]))
    #expect(ActiveContext.Named(id: "a", name: "") != ActiveContext.Named(id: "b", name: ""))
    #expect(context("x").hashValue == context("x").hashValue)
  }
}
