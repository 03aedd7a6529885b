public import SessionJournal

/// The place of a log in a database: a key, for example the identifier of an account.
///
/// The key is a part of names and errors, so it must be no secret and no e-mail address.
///
/// ```swift
/// let database = try PostgresDatabase(connection: "host=/run/postgresql dbname=app")
/// let place = PostgresLogPlace("account-17", in: database)
/// let session = try await Session.open(
///   SessionConfiguration(log: place, backend: backend, secrets: place.secrets))
/// ```
///
/// - Requirement: SCL-1
public struct PostgresLogPlace: SessionLogPlace {
  /// The database.
  public let database: PostgresDatabase

  /// The key, unique in the schema.
  public let key: String

  /// The longest payload of a newly created log, in bytes.
  static let recordSize = 1024 * 1024

  /// Creates the place of the log with this key; connects to nothing.
  public init(_ key: String, in database: PostgresDatabase) {
    (self.key, self.database) = (key, database)
  }

  /// The name of the database, and the key.
  public var name: String { "\(database.name)/\(key)" }

  /// The secrets of the same key, without encryption of their own.
  public var secrets: PostgresSecrets { PostgresSecrets(key: key, database: database) }

  /// Looks for the key; only a server that can write and has the right schema proves an absence.
  public func presence() -> LogPresence {
    do throws(JournalError) {
      guard let found = try ask([database.sql.find(key)]).first.flatMap(FoundLog.init) else {
        return .absent
      }
      return .present(found.identifier)
    } catch {
      return .unknown(error)
    }
  }

  /// Opens the log, and creates it if it is absent.
  ///
  /// Reads one state of the database, in pages of 1,000 records, and takes no lock.
  public func open(replay: (RecordHeader, RawSpan) -> Void) throws(JournalError) -> PostgresLog {
    try database.withConnection { slot throws(JournalError) in
      // Twice: the first state of a new log does not have it.
      for isLast in [false, true] {
        let rows = try run([LogSQL.beginSnapshot, database.sql.find(key)], on: slot)
        if let found = FoundLog(rows[1]) {
          let view = LogView(rows[1], from: 2)
          try read(found, view, on: slot, replay)
          return PostgresLog(found, view, in: self)
        }
        guard !isLast else { break }
        slot.rollBack(until: Deadline(after: database.options.answerLimit))
        _ = try run(
          [
            database.sql.create(
              key, JournalIdentifier.random().bytes, recordSize: Self.recordSize)
          ], on: slot)
      }
      throw .missing(path: name)
    } problem: {
      JournalError($0, name: name, database)
    }
  }

  private func read(
    _ found: FoundLog, _ view: LogView, on slot: ConnectionSlot,
    _ replay: (RecordHeader, RawSpan) -> Void
  ) throws(JournalError) {
    var (chain, place) = (Chain.empty, UInt64(0))
    while place < view.last {
      let statement = database.sql.page(found.log, after: place, through: view.last, limit: 1_000)
      let rows: [Rows]
      do throws(ServerProblem) { rows = try database.goOn([statement], on: slot) } catch {
        throw JournalError(error, name: name, database)
      }
      let records = try rows[0].records(after: &chain, of: name)
      guard let last = records.last else { break }
      for record in records { replay(record.header, record.payload.span.bytes) }
      place = last.sequence
    }
    // The last record must be there, and its chain that of the log.
    guard place == view.last, chain == view.chain else {
      throw .damaged(
        path: name, JournalDamage(offset: 0, sequence: place + 1, flaw: .sequenceBroken))
    }
  }

  /// Removes the log and its secrets; a missing one is no error.
  ///
  /// Sessions that have it open fail with `missing`.
  public func delete() throws(JournalError) {
    try database.withConnection { slot throws(JournalError) in
      _ = try run(
        [LogSQL.begin, LogSQL.patience] + database.sql.delete(key) + [LogSQL.commit], on: slot)
    } problem: {
      JournalError($0, name: name, database)
    }
  }

  private func ask(_ statements: [Statement]) throws(JournalError) -> [Rows] {
    try database.withConnection { slot throws(JournalError) in
      try run(statements, on: slot)
    } problem: {
      JournalError($0, name: name, database)
    }
  }

  private func run(_ statements: [Statement], on slot: ConnectionSlot) throws(JournalError)
    -> [Rows]
  {
    do throws(ServerProblem) { return try database.begin(statements, on: slot) } catch {
      throw JournalError(error, name: name, database)
    }
  }
}

/// A log that was found in the database.
struct FoundLog: Sendable {
  let log: Int64
  let identifier: JournalIdentifier
  let recordSize: Int

  init?(_ rows: Rows) {
    guard rows.count == 1, let bytes = rows.value(0, 1), bytes.count == 16 else { return nil }
    log = rows.integer(0, 0)
    identifier = JournalIdentifier(
      high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) },
      low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
    recordSize = Int(rows.integer(0, 5))
  }
}

extension JournalIdentifier {
  /// The 16 bytes of the UUID.
  var bytes: [UInt8] { high.bigint.binary + low.bigint.binary }
}
