internal import SessionJournal

/// The statements on one schema.
struct LogSQL: Sendable {
  /// The version of the schema that this version of the library reads and writes.
  static let version = 2

  /// The name of the schema; `isName` is true for it.
  let schema: String

  /// Whether a text can be the name of a schema or role without quotes.
  static func isName(_ text: String) -> Bool {
    // `public` is the schema of other tables, and as a role it is everybody.
    guard let first = text.utf8.first, text.utf8.count <= 63, text != "public" else { return false }
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return (letters.contains(first) || first == UInt8(ascii: "_"))
      && text.utf8.allSatisfy {
        letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "_")
      }
  }

  /// What a new connection is set to.
  static func preparation(_ options: PostgresDatabase.Options) -> [Statement] {
    func set(_ name: String, _ limit: Duration) -> Statement {
      Statement(
        "SELECT set_config($1::text, $2::text, false)",
        [name, String(max(1, limit.milliseconds))])
    }
    return [
      set("lock_timeout", options.lockWait),
      set("statement_timeout", options.statementLimit),
      set("idle_in_transaction_session_timeout", options.idleLimit),
      // A commit that is answered is durable. A stronger setting of the server stays.
      Statement(
        "SELECT set_config('synchronous_commit', 'on', false) "
          + "WHERE current_setting('synchronous_commit') IN ('off', 'local')"),
      Statement(
        "SELECT set_config('default_transaction_isolation', 'read committed', false)"),
    ]
  }

  static let begin = Statement("BEGIN")
  static let commit = Statement("COMMIT")

  /// Begins a transaction that sees one state of the database.
  static let beginSnapshot = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

  /// A row if a commit of this role has waited so long for a synchronous standby.
  static func stalledCommit(after limit: Duration) -> Statement {
    Statement(
      "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' "
        + "AND query_start < clock_timestamp() - $1::bigint * interval '1 millisecond' LIMIT 1",
      [Int64(limit.milliseconds)])
  }

  var readVersion: Statement { Statement("SELECT version FROM \(schema).version") }

  /// The columns of a log's row, in the order that `LogRow` decodes.
  private static let row =
    "log, identifier, record_size, last_sequence, first_sequence, chain, checksum"

  /// The columns of a record, in the order that `RecordCheck` decodes.
  private static let record = "sequence, kind, remaining, payload, chain, snapshot_checksum"

  /// The row of a key.
  func find(_ key: String) -> Statement {
    Statement("SELECT \(Self.row) FROM \(schema).logs WHERE key = $1::text", [key])
  }

  /// The key of the log with an identifier.
  func findKey(of identifier: JournalIdentifier) -> Statement {
    Statement(
      "SELECT key FROM \(schema).logs WHERE identifier = $1::uuid", [Bytes(identifier.bytes)])
  }

  /// Creates an empty log, unless the key or the identifier is in use.
  func create(_ key: String, _ identifier: JournalIdentifier, recordSize: Int) -> Statement {
    let sum = LogView().checksum(key, identifier, recordSize: recordSize)
    return Statement(
      "INSERT INTO \(schema).logs (key, identifier, record_size, checksum) "
        + "VALUES ($1::text, $2::uuid, $3::integer, $4::bigint) ON CONFLICT DO NOTHING",
      [key, Bytes(identifier.bytes), Int32(clamping: recordSize), sum.bigint])
  }

  /// The row of a log, locked until the transaction ends.
  func lock(_ log: Int64) -> Statement {
    Statement(
      "SELECT \(Self.row) FROM \(schema).logs WHERE log = $1::bigint FOR NO KEY UPDATE", [log])
  }

  /// The row of a log, without a lock.
  func look(_ log: Int64) -> Statement {
    Statement("SELECT \(Self.row) FROM \(schema).logs WHERE log = $1::bigint", [log])
  }

  /// The last sequences of several logs.
  func look(_ logs: [Int64]) -> Statement {
    Statement(
      "SELECT log, last_sequence, first_sequence FROM \(schema).logs "
        + "WHERE log = ANY($1::bigint[])", [List(logs)])
  }

  /// Changes how far a log is.
  func advance(_ log: LogIdentity, to view: LogView) -> Statement {
    let sum = view.checksum(log.key, log.identifier, recordSize: log.recordSize)
    return Statement(
      "UPDATE \(schema).logs SET last_sequence = $2::bigint, first_sequence = $3::bigint, "
        + "chain = $4::bigint, checksum = $5::bigint WHERE log = $1::bigint",
      [
        log.log, view.last.bigint, view.first.bigint, view.chain.value.bigint, sum.bigint,
      ])
  }

  /// All records above a sequence.
  func records(_ log: Int64, after sequence: UInt64) -> Statement {
    Statement(
      "SELECT \(Self.record) FROM \(schema).records "
        + "WHERE log = $1::bigint AND sequence > $2::bigint ORDER BY sequence",
      [log, sequence.bigint])
  }

  /// A page of records.
  func page(_ log: Int64, after sequence: UInt64, through last: UInt64, limit: Int) -> Statement {
    Statement(
      "SELECT \(Self.record) FROM \(schema).records "
        + "WHERE log = $1::bigint AND sequence > $2::bigint AND sequence <= $3::bigint "
        + "ORDER BY sequence LIMIT $4::bigint",
      [log, sequence.bigint, last.bigint, Int64(limit)])
  }

  /// A page of records that begins with the last one up to a sequence, if there is one.
  ///
  /// A snapshot is a part of it, even if it is beyond `last`.
  func checkedPage(_ log: Int64, after sequence: UInt64, through last: UInt64, limit: Int)
    -> Statement
  {
    Statement(
      "SELECT \(Self.record) FROM \(schema).records WHERE log = $1::bigint AND sequence >= "
        + "coalesce((SELECT max(sequence) FROM \(schema).records "
        + "WHERE log = $1::bigint AND sequence <= $2::bigint), 0) "
        + "AND (sequence <= $3::bigint OR kind = \(RecordHeader.snapshotKind)) "
        + "ORDER BY sequence LIMIT $4::bigint",
      [log, sequence.bigint, last.bigint, Int64(min(limit, .max - 1) + 1)])
  }

  func insert(_ log: Int64, _ batch: Batch) -> Statement {
    if batch.count == 1, let record = batch.records.first {
      return Statement(
        "INSERT INTO \(schema).records (log, sequence, kind, remaining, payload, chain) VALUES "
          + "($1::bigint, $2::bigint, $3::smallint, $4::integer, $5::bytea, $6::bigint)",
        [
          log, record.sequence.bigint, Int16(record.kind), Int32(record.remainingInBatch),
          Bytes(record.payload), batch.chains[0].bigint,
        ])
    }
    return Statement(
      "INSERT INTO \(schema).records (log, sequence, kind, remaining, payload, chain) "
        + "SELECT $1::bigint, * FROM unnest($2::bigint[], $3::smallint[], $4::integer[], "
        + "$5::bytea[], $6::bigint[])",
      [
        log, List(batch.records.map { $0.sequence.bigint }),
        List(batch.records.map { Int16($0.kind) }),
        List(batch.records.map { Int32($0.remainingInBatch) }),
        List(batch.records.map { Bytes($0.payload) }), List(batch.chains.map(\.bigint)),
      ])
  }

  /// Inserts a snapshot, with the chain of the last record that it replaces.
  func insert(_ log: Int64, snapshot: JournalRecord, chain: Chain) -> Statement {
    Statement(
      "INSERT INTO \(schema).records "
        + "(log, sequence, kind, remaining, payload, chain, snapshot_checksum) VALUES "
        + "($1::bigint, $2::bigint, $3::smallint, $4::integer, $5::bytea, $6::bigint, $7::bigint)",
      [
        log, snapshot.sequence.bigint, Int16(snapshot.kind), Int32(snapshot.remainingInBatch),
        Bytes(snapshot.payload), chain.value.bigint, chain.checksum(of: snapshot).bigint,
      ])
  }

  /// The last record of a batch that ends before a sequence.
  func batchEnd(_ log: Int64, before sequence: UInt64) -> Statement {
    Statement(
      "SELECT sequence FROM \(schema).records WHERE log = $1::bigint "
        + "AND sequence < $2::bigint AND remaining = 0 ORDER BY sequence DESC LIMIT 1",
      [log, sequence.bigint])
  }

  /// Removes all records before a sequence.
  func remove(_ log: Int64, before sequence: UInt64) -> Statement {
    Statement(
      "DELETE FROM \(schema).records WHERE log = $1::bigint AND sequence < $2::bigint",
      [log, sequence.bigint])
  }
}

extension LogSQL {
  func readSecret(_ key: String, _ item: Int16) -> Statement {
    Statement(
      "SELECT content FROM \(schema).secrets "
        + "WHERE key = $1::text AND item = $2::smallint AND NOT aside", [key, item])
  }

  func writeSecret(_ key: String, _ item: Int16, _ content: [UInt8], aside: Bool = false)
    -> Statement
  {
    Statement(
      "INSERT INTO \(schema).secrets (key, item, aside, content) "
        + "VALUES ($1::text, $2::smallint, $4::boolean, $3::bytea) "
        + "ON CONFLICT (key, item, aside) DO UPDATE SET content = excluded.content",
      [key, item, Bytes(content), aside])
  }

  func removeSecret(_ key: String, _ item: Int16, aside: Bool) -> Statement {
    Statement(
      "DELETE FROM \(schema).secrets "
        + "WHERE key = $1::text AND item = $2::smallint AND aside = $3::boolean",
      [key, item, aside])
  }

  /// Removes what was moved aside before, if there is an item to take its place.
  func replaceSecretAside(_ key: String, _ item: Int16) -> Statement {
    Statement(
      "DELETE FROM \(schema).secrets WHERE key = $1::text AND item = $2::smallint AND aside "
        + "AND EXISTS (SELECT 1 FROM \(schema).secrets "
        + "WHERE key = $1::text AND item = $2::smallint AND NOT aside FOR UPDATE)", [key, item])
  }

  func setSecretAside(_ key: String, _ item: Int16) -> Statement {
    Statement(
      "UPDATE \(schema).secrets SET aside = true "
        + "WHERE key = $1::text AND item = $2::smallint AND NOT aside", [key, item])
  }

  /// Lets the rest of this transaction wait for a second for what others hold.
  static let patience = Statement("SELECT set_config('lock_timeout', '1000', true)")

  /// Lets this transaction wait and work as long as one that is no call of a session may.
  static let ownerPatience = [
    Statement("SELECT set_config('lock_timeout', '10000', true)"),
    Statement("SELECT set_config('statement_timeout', '60000', true)"),
  ]

  /// How long the server may be silent in such a transaction: longer than a statement may take.
  static let ownerSilence = Duration.seconds(70)

  func delete(_ key: String) -> [Statement] {
    [
      // Nothing is appended from here on.
      Statement("SELECT log FROM \(schema).logs WHERE key = $1::text FOR UPDATE", [key]),
      Statement(
        "DELETE FROM \(schema).records WHERE log = "
          + "(SELECT log FROM \(schema).logs WHERE key = $1::text)", [key]),
      Statement("DELETE FROM \(schema).secrets WHERE key = $1::text", [key]),
      Statement("DELETE FROM \(schema).logs WHERE key = $1::text", [key]),
    ]
  }
}
