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

  mutating func add(_ record: JournalRecord) {
    add(record.sequence)
    add(
      UInt64(record.kind) << 48 | UInt64(record.remainingInBatch) << 32
        | UInt64(record.payload.count))
    for byte in record.payload { add(byte) }
  }

  /// The checksum of a snapshot, which keeps the chain of the last record that it replaced.
  func checksum(of snapshot: JournalRecord) -> UInt64 {
    var sum = self
    sum.add(snapshot)
    return sum.value
  }

  fileprivate mutating func add(_ number: UInt64) {
    for place in 0..<8 { add(UInt8(truncatingIfNeeded: number >> UInt64(8 * place))) }
  }

  @inline(__always)
  fileprivate mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
}

/// Records of one commit that have their sequences and chains.
struct Batch: Sendable {
  let records: [JournalRecord]
  let chains: [UInt64]

  var count: Int { records.count }

  /// Gives drafts the sequences after `view.last`.
  init(_ drafts: [JournalDraft], after view: LogView) {
    let records = drafts.enumerated().map { place, draft in
      JournalRecord(
        sequence: view.last + UInt64(place) + 1, offset: 0, kind: draft.kind,
        remainingInBatch: UInt16(drafts.count - place - 1), payload: draft.payload)
    }
    var chain = view.chain
    self.init(records, after: &chain)
  }

  /// Continues a chain with records that have their sequences; none is a snapshot.
  init(_ records: [JournalRecord], after chain: inout Chain) {
    self.records = records
    var chains: [UInt64] = []
    chains.reserveCapacity(records.count)
    for record in records {
      chain.add(record)
      chains.append(chain.value)
    }
    self.chains = chains
  }
}

/// What a log is: the part of its row that never changes.
struct LogIdentity: Equatable, Sendable {
  /// The number of the log in the database.
  let log: Int64

  /// The key of the log.
  let key: String

  /// The identity that was assigned when the log was created.
  let identifier: JournalIdentifier

  /// The longest payload, in bytes.
  let recordSize: Int
}

/// How far a log is: the part of its row that changes.
struct LogView: Equatable, Sendable {
  /// The last sequence that was read or written; 0 if there is none.
  var last: UInt64 = 0

  /// The first sequence that the log holds, without a snapshot.
  var first: UInt64 = 1

  /// The chain of the last record.
  var chain = Chain.empty

  /// The checksum of the row of a log that is that far.
  func checksum(_ key: String, _ identifier: JournalIdentifier, recordSize: Int) -> UInt64 {
    var sum = Chain.empty
    for number in [
      identifier.high, identifier.low, UInt64(recordSize), last, first, chain.value,
    ] {
      sum.add(number)
    }
    for byte in key.utf8 { sum.add(byte) }
    return sum.value
  }
}

/// The row of a log.
struct LogRow: Sendable {
  let identity: LogIdentity
  let view: LogView

  /// Decodes the row of a key; nil if there is none.
  ///
  /// Throws `damaged` if the row does not have its checksum. The columns are those of `LogSQL.row`.
  init?(_ rows: Rows, key: String, name: String) throws(JournalError) {
    guard rows.count == 1, let bytes = rows.value(0, 1), bytes.count == 16 else { return nil }
    identity = LogIdentity(
      log: rows.integer(0, 0), key: key,
      identifier: JournalIdentifier(
        high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) },
        low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }),
      recordSize: Int(rows.integer(0, 2)))
    view = LogView(
      last: rows.unsigned(0, 3), first: rows.unsigned(0, 4), chain: Chain(rows.unsigned(0, 5)))
    // A negative size is damage, too, and no number for the checksum.
    guard identity.recordSize >= 0,
      view.checksum(key, identity.identifier, recordSize: identity.recordSize)
        == rows.unsigned(0, 6)
    else {
      throw .damaged(
        path: name, JournalDamage(offset: 0, sequence: view.last, flaw: .headerChecksum))
    }
  }
}

extension JournalIdentifier {
  /// The 16 bytes of the UUID.
  var bytes: [UInt8] { high.bigint.binary + low.bigint.binary }
}
