import Foundation
import SessionJournal
import Testing

@testable import PostgresLog

@Suite("Damage of a log in the database", .serialized, .timeLimit(.minutes(5)))
struct DamageTests {
  /// The number of records and their bytes, as a snapshot.
  private struct Total: JournalSummary {
    var bytes: [UInt8] = []

    mutating func take(_ record: RecordHeader, payload: RawSpan) {
      let payload = payload.withUnsafeBytes { Array($0) }
      bytes = record.isSnapshot ? payload : bytes + payload
    }

    func snapshot() -> [UInt8]? { bytes }
  }

  /// A bit of one column, in the rows that a condition names.
  private struct Flip: CustomStringConvertible {
    let table: String
    let column: String
    let changed: String
    let condition: String

    /// Running it twice leaves everything as it was.
    func sql(_ schema: String) -> String {
      "UPDATE \(schema).\(table) SET \(column) = \(changed) WHERE \(condition)"
    }

    var description: String { "\(table).\(column) = \(changed) for \(condition)" }
  }

  private static func flips() -> [Flip] {
    func integer(_ table: String, _ column: String, _ type: String, _ bits: [Int], _ row: String)
      -> [Flip]
    {
      bits.map {
        Flip(
          table: table, column: column, changed: "(\(column) # (1::bigint << \($0)))::\(type)",
          condition: row)
      }
    }
    var flips: [Flip] = []
    for sequence in 4...8 {
      let row = "sequence & 63 = \(sequence)"
      for column in ["sequence", "chain", "snapshot_checksum"] {
        flips += integer("records", column, "bigint", [6, 40], row)
      }
      flips += integer("records", "kind", "smallint", [0, 1, 8], row)
      flips += integer("records", "remaining", "integer", [0, 1, 20], row)
      flips.append(
        Flip(
          table: "records", column: "payload",
          changed: "set_byte(payload, 0, get_byte(payload, 0) # 1)", condition: row))
    }
    for column in ["last_sequence", "first_sequence", "chain", "checksum"] {
      flips += integer("logs", column, "bigint", [0, 1, 2, 40], "true")
    }
    flips += integer("logs", "record_size", "integer", [0, 20], "true")
    let bytes = "decode(replace(identifier::text, '-', ''), 'hex')"
    flips.append(
      Flip(
        table: "logs", column: "identifier",
        changed: "encode(set_byte(\(bytes), 3, get_byte(\(bytes), 3) # 4), 'hex')::uuid",
        condition: "true"))
    return flips
  }

  /// What a log answers; equal answers are no damage.
  private struct Answer: Equatable {
    let identifier: JournalIdentifier
    let first: UInt64
    var records: [JournalRecord] = []
  }

  private func answer(_ place: PostgresLogPlace) throws(JournalError) -> Answer {
    var records: [JournalRecord] = []
    let log = try place.open { header, payload in
      records.append(
        JournalRecord(
          sequence: header.sequence, offset: 0, kind: header.kind,
          remainingInBatch: header.remainingInBatch,
          payload: payload.withUnsafeBytes { Array($0) }))
    }
    return Answer(identifier: log.identifier, first: log.firstSequence, records: records)
  }

  private func pages(_ log: PostgresLog, limit: Int) throws(JournalError) -> [JournalRecord] {
    var records: [JournalRecord] = []
    while true {
      let page = try log.records(after: records.last?.sequence ?? 0, limit: limit)
      guard !page.isEmpty else { return records }
      records += page
    }
  }

  /// A snapshot at 4, and a record of 126, a batch of two, and a single one after it.
  private func fill(_ place: PostgresLogPlace) throws -> PostgresLog {
    let log = try place.open { _, _ in }
    try log.append("a", "b", "c")
    try log.append("d")
    // One bit makes a snapshot of this kind.
    let odd = JournalDraft(kind: RecordHeader.snapshotKind - 1, payload: [7])
    _ = try log.transact { (_) throws(Never) in ([odd], ()) }
    try log.append("f", "g")
    try log.append("h")
    #expect(try log.compact(keepingFrom: 5, ifFirstIs: nil, summary: Total())?.firstSequence == 5)
    return log
  }

  @Test("SCL-1 a bit that changed in any column is an error or leaves the answer equal")
  func flips() throws {
    let server = try Server()
    let place = PostgresLogPlace("a", in: try server.database())
    try fill(place).close()
    let expected = try answer(place)
    #expect(expected.records.map(\.sequence) == Array(4...8))
    var errors = 0
    for flip in Self.flips() {
      let known = try place.open { _, _ in }
      try Server.ask(flip.sql(server.schema))
      do throws(JournalError) {
        let found = try answer(place)
        #expect(found == expected, "\(flip)")
      } catch {
        errors += 1
        guard case .damaged = error else {
          Issue.record("\(flip): \(error)")
          continue
        }
      }
      for limit in [1, 2, 100] {
        do throws(JournalError) {
          let found = try pages(known, limit: limit)
          #expect(found == expected.records, "\(flip) in pages of \(limit)")
        } catch {
          guard case .damaged = error else {
            Issue.record("\(flip) in pages of \(limit): \(error)")
            continue
          }
        }
      }
      do throws(TransactionError<Void, Never>) {
        let done = try known.transact { _ in ([], ()) }.transaction
        #expect(done.foreign.isEmpty, "\(flip) for an opening")
      } catch {
        #expect("\(error)".isEmpty == false)
      }
      try Server.ask(flip.sql(server.schema))
      #expect(try answer(place) == expected, "\(flip) was not undone")
    }
    // Most flips are of bits that count.
    #expect(errors > 60)
  }

  @Test("SCL-1 damage does not become a part of a snapshot")
  func compaction() throws {
    let server = try Server()
    let place = PostgresLogPlace("a", in: try server.database())
    let log = try fill(place)
    for sequence in [4, 6, 8] {
      let flip =
        "UPDATE \(server.schema).records SET payload = set_byte(payload, 0, "
        + "get_byte(payload, 0) # 1) WHERE sequence = \(sequence)"
      try Server.ask(flip)
      #expect(throws: JournalError.self, "\(sequence)") {
        try log.compact(keepingFrom: 8, ifFirstIs: nil, summary: Total())
      }
      try Server.ask(flip)
    }
    let done = try log.compact(keepingFrom: 8, ifFirstIs: nil, summary: Total())
    #expect(done?.recordsRemoved == 3)
    #expect(try texts(place) == ["abcd\u{7}fg", "h"])
  }

  @Test("SCL-1 a log that lost its newest commits has another history, for those who read them")
  func lostCommits() async throws {
    let server = try Server()
    let place = PostgresLogPlace("a", in: try server.database())
    let log = try place.open { _, _ in }
    try log.append("one")
    try await server.lose { try log.append("two") }
    for _ in 0..<2 {
      do throws(TransactionError<Void, Never>) {
        try log.append("three")
        Issue.record("appended to another history")
      } catch {
        guard case .damaged(_, let damage) = error.journalError else { throw error }
        #expect(damage.flaw == .historyChanged)
      }
    }
    #expect(try texts(place) == ["one"])
  }
}
