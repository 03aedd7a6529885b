internal import SessionJournal

/// A checksum over all records of a log up to one: 64 bits of FNV-1a, continued from record to record.
///
/// Each record is stored with its chain, and the log's row with that of the last record. So a record
/// that is missing, changed or of another history is found. It protects against errors, not against a
/// person who can write to the database.
struct Chain: Equatable, Sendable {
  private(set) var value: UInt64

  /// The chain before the first record.
  static let empty = Chain(0xCBF2_9CE4_8422_2325)

  init(_ value: UInt64) { self.value = value }

  mutating func add(_ header: RecordHeader, _ payload: [UInt8]) {
    add(header.sequence)
    add(UInt64(header.kind) << 48 | UInt64(header.remainingInBatch) << 32 | UInt64(payload.count))
    for byte in payload { add(byte) }
  }

  private mutating func add(_ number: UInt64) {
    for place in 0..<8 { add(UInt8(truncatingIfNeeded: number >> UInt64(8 * place))) }
  }

  @inline(__always)
  private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
}

/// Records of one commit that have their sequences and chains.
struct Batch: Sendable {
  let records: [JournalRecord]
  let chains: [UInt64]

  var count: Int { records.count }

  /// Gives drafts the sequences after `view.last`.
  init(_ drafts: [JournalDraft], after view: LogView) {
    records = drafts.enumerated().map { place, draft in
      JournalRecord(
        sequence: view.last + UInt64(place) + 1, offset: 0, kind: draft.kind,
        remainingInBatch: UInt16(drafts.count - place - 1), payload: draft.payload)
    }
    var chain = view.chain
    chains = records.map { record in
      chain.add(record.header, record.payload)
      return chain.value
    }
  }

  init(_ records: [JournalRecord], chains: [UInt64]) {
    (self.records, self.chains) = (records, chains)
  }
}

/// What an opening knows of its log.
struct LogView: Equatable, Sendable {
  /// The last sequence that was read or written; 0 if there is none.
  var last: UInt64 = 0

  /// The first sequence that the log holds, without a snapshot.
  var first: UInt64 = 1

  /// The chain of the last record.
  var chain = Chain.empty

  /// Reads a row with the columns last_sequence, first_sequence and chain, from `column` on.
  init(_ rows: Rows, from column: Int = 0) {
    last = rows.unsigned(0, column)
    first = rows.unsigned(0, column + 1)
    chain = Chain(rows.unsigned(0, column + 2))
  }

  init() {}
}

extension Rows {
  /// Decodes the records of a page, and checks that each continues the one before.
  ///
  /// `chain` is that before the page, and then that of its last record. A snapshot begins a chain.
  func records(after chain: inout Chain, of name: String) throws(JournalError) -> [JournalRecord] {
    var records: [JournalRecord] = []
    records.reserveCapacity(count)
    for row in 0..<count {
      let record = record(row)
      let stored = Chain(unsigned(row, 4))
      if record.isSnapshot { chain = stored } else { chain.add(record.header, record.payload) }
      guard chain == stored else {
        throw .damaged(
          path: name,
          JournalDamage(offset: 0, sequence: record.sequence, flaw: .chainBroken))
      }
      records.append(record)
    }
    return records
  }

  /// Decodes the record of one row without a check.
  func record(_ row: Int) -> JournalRecord {
    JournalRecord(
      sequence: unsigned(row, 0), offset: 0, kind: UInt8(truncatingIfNeeded: integer(row, 1)),
      remainingInBatch: UInt16(truncatingIfNeeded: integer(row, 2)), payload: value(row, 3) ?? [])
  }
}
