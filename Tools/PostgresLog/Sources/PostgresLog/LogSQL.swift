internal import SessionJournal

/// The statements on one schema.
struct LogSQL: Sendable {
  /// The version of the schema that this version of the library reads and writes.
  static let version = 1

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

  var readVersion: Statement { Statement("SELECT version FROM \(schema).version") }

  /// The log of a key: its number, identifier, and the columns of `row`.
  func find(_ key: String) -> Statement {
    Statement(
      "SELECT log, identifier, last_sequence, first_sequence, chain, record_size "
        + "FROM \(schema).logs WHERE key = $1::text", [key])
  }

  func create(_ key: String, _ identifier: [UInt8], recordSize: Int) -> Statement {
    Statement(
      "INSERT INTO \(schema).logs (key, identifier, record_size) "
        + "VALUES ($1::text, $2::uuid, $3::integer) ON CONFLICT (key) DO NOTHING",
      [key, Bytes(identifier), Int32(clamping: recordSize)])
  }

  /// The row of a log, locked until the transaction ends.
  func lock(_ log: Int64) -> Statement {
    Statement(
      "SELECT last_sequence, first_sequence, chain FROM \(schema).logs "
        + "WHERE log = $1::bigint FOR NO KEY UPDATE", [log])
  }

  /// The row of a log, without a lock.
  func look(_ log: Int64) -> Statement {
    Statement(
      "SELECT last_sequence, first_sequence, chain FROM \(schema).logs WHERE log = $1::bigint",
      [log])
  }

  /// The last sequences of several logs.
  func look(_ logs: [Int64]) -> Statement {
    Statement(
      "SELECT log, last_sequence, first_sequence FROM \(schema).logs "
        + "WHERE log = ANY($1::bigint[])", [List(logs)])
  }

  /// All records above a sequence.
  func records(_ log: Int64, after sequence: UInt64) -> Statement {
    Statement(
      "SELECT sequence, kind, remaining, payload, chain FROM \(schema).records "
        + "WHERE log = $1::bigint AND sequence > $2::bigint ORDER BY sequence",
      [log, sequence.bigint])
  }

  /// A page of records.
  func page(_ log: Int64, after sequence: UInt64, through last: UInt64, limit: Int) -> Statement {
    Statement(
      "SELECT sequence, kind, remaining, payload, chain FROM \(schema).records "
        + "WHERE log = $1::bigint AND sequence > $2::bigint "
        + "AND (sequence <= $3::bigint OR kind = \(RecordHeader.snapshotKind)) "
        + "ORDER BY sequence LIMIT $4::bigint",
      [log, sequence.bigint, last.bigint, Int64(limit)])
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

  func advance(_ log: Int64, to last: UInt64, chain: UInt64) -> Statement {
    Statement(
      "UPDATE \(schema).logs SET last_sequence = $2::bigint, chain = $3::bigint "
        + "WHERE log = $1::bigint", [log, last.bigint, chain.bigint])
  }

  /// The last record of a batch that ends before a sequence.
  func batchEnd(_ log: Int64, before sequence: UInt64) -> Statement {
    Statement(
      "SELECT sequence, chain FROM \(schema).records WHERE log = $1::bigint "
        + "AND sequence < $2::bigint AND remaining = 0 ORDER BY sequence DESC LIMIT 1",
      [log, sequence.bigint])
  }

  /// Removes all records before a sequence.
  func remove(_ log: Int64, before sequence: UInt64) -> Statement {
    Statement(
      "DELETE FROM \(schema).records WHERE log = $1::bigint AND sequence < $2::bigint",
      [log, sequence.bigint])
  }

  func begin(_ log: Int64, at first: UInt64) -> Statement {
    Statement(
      "UPDATE \(schema).logs SET first_sequence = $2::bigint WHERE log = $1::bigint",
      [log, first.bigint])
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
