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
      let rows = try database.withConnection { slot throws(JournalError) in
        try run([database.sql.find(key)], on: slot)
      } problem: {
        JournalError($0, name: name, database)
      }
      guard let row = try LogRow(rows[0], key: key, name: name) else { return .absent }
      return .present(row.identity.identifier)
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
        if let row = try LogRow(rows[1], key: key, name: name) {
          try read(row, on: slot, replay)
          return PostgresLog(row, in: self)
        }
        guard !isLast else { break }
        slot.rollBack(silence: database.options.answerLimit)
        _ = try run(
          [database.sql.create(key, .random(), recordSize: Self.recordSize)], on: slot)
      }
      throw .missing(path: name)
    } problem: {
      JournalError($0, name: name, database)
    }
  }

  private func read(
    _ row: LogRow, on slot: ConnectionSlot, _ replay: (RecordHeader, RawSpan) -> Void
  ) throws(JournalError) {
    var check = RecordCheck(of: name)
    while check.last < row.view.last {
      let statement = database.sql.page(
        row.identity.log, after: check.last, through: row.view.last, limit: 1_000)
      let rows: [Rows]
      do throws(ServerProblem) { rows = try database.goOn([statement], on: slot) } catch {
        throw JournalError(error, name: name, database)
      }
      let records = try check.take(rows[0])
      guard !records.isEmpty else { break }
      for record in records { replay(record.header, record.payload.span.bytes) }
    }
    try check.requireEnd(of: row.view)
  }

  /// Removes the log and its secrets; a missing one is no error.
  ///
  /// Sessions that have it open fail with `missing`.
  public func delete() throws(JournalError) {
    try database.withConnection { slot throws(JournalError) in
      _ = try run(
        [LogSQL.begin] + LogSQL.ownerPatience + database.sql.delete(key) + [LogSQL.commit],
        on: slot, silence: LogSQL.ownerSilence)
    } problem: {
      JournalError($0, name: name, database)
    }
  }

  private func run(
    _ statements: [Statement], on slot: ConnectionSlot, silence: Duration? = nil
  ) throws(JournalError) -> [Rows] {
    do throws(ServerProblem) {
      return try database.begin(statements, on: slot, silence: silence)
    } catch {
      throw JournalError(error, name: name, database)
    }
  }
}
