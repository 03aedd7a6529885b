internal import SessionCore
@_spi(Internals) public import SessionJournal
public import SessionKit

extension PostgresLogPlace {
  /// What moved between a file and the database.
  public struct Migration: Equatable, Sendable {
    /// The identifier of the journal, which stays the same.
    public let identifier: JournalIdentifier
    /// The number of records, a snapshot included.
    public let records: Int
    /// The last sequence; 0 if there is no record.
    public let lastSequence: UInt64
    /// The items of the secret store that moved.
    public let secrets: Int
  }

  /// Copies the journal at `path` and its secrets into the database, in one transaction.
  ///
  /// Identifier, sequences, payloads and batches stay, so a session continues as if nothing had
  /// happened. Close all sessions of the file first, and do not open it again: both would use the same
  /// refresh token. The file is locked meanwhile, and stays as it is.
  ///
  /// - Parameters:
  ///   - path: the journal. Any ending except a clean one is refused.
  ///   - store: the store to copy the secrets from; nil copies none.
  ///   - target: the store of this place, if it encrypts; nil for ``secrets``. The store of another key
  ///     or database object is refused.
  public func importJournal(
    at path: String, secrets store: (any SecretStore)? = nil, into target: PostgresSecrets? = nil
  ) throws(MigrationError) -> Migration {
    try requireOwn(target)
    // Refuses what is no journal before it is locked.
    _ = try reader(of: path)
    let lock = try JournalFileLock(path: path)
    let done = try importJournal(reader(of: path), secrets: store, into: target)
    _ = consume lock
    return done
  }

  /// Copies a journal that is in memory, or that no session can have open, as
  /// ``importJournal(at:secrets:into:)`` does.
  public func importJournal(
    _ reader: consuming JournalReader, secrets store: (any SecretStore)? = nil,
    into target: PostgresSecrets? = nil
  ) throws(MigrationError) -> Migration {
    try requireOwn(target)
    var reader = reader
    let journal = try MovingJournal(&reader)
    let items = try MovingSecrets(store)
    return try database.withConnection { slot throws(MigrationError) in
      try move(journal, items, to: target ?? secrets, on: slot)
      return Migration(
        identifier: journal.identifier, records: journal.count, lastSequence: journal.view.last,
        secrets: items.items.count)
    } problem: {
      .log(JournalError($0, name: name, database))
    }
  }

  /// Refuses a store that would not take part in the transaction of this log.
  private func requireOwn(_ target: PostgresSecrets?) throws(MigrationError) {
    guard let target, target.key != key || target.database !== database else { return }
    throw .otherStore(name: name, store: target.place)
  }

  private func move(
    _ journal: MovingJournal, _ items: MovingSecrets, to target: PostgresSecrets,
    on slot: ConnectionSlot
  ) throws(MigrationError) {
    let sql = database.sql
    let identity = try create(journal, on: slot)
    if let (record, chain) = journal.snapshot {
      try goOn([sql.insert(identity.log, snapshot: record, chain: chain)], on: slot)
    }
    for batch in journal.batches { try goOn([sql.insert(identity.log, batch)], on: slot) }
    try items.write(to: target, in: ThreadTransaction(slot, database, key))
    try goOn([sql.advance(identity, to: journal.view)], on: slot)
    database.onStep(.decided)
    do throws(ServerProblem) {
      try slot.send([LogSQL.commit], silence: LogSQL.ownerSilence)
      database.onStep(.sent)
      _ = try slot.receive(silence: LogSQL.ownerSilence)
    } catch {
      guard !error.leavesCommitUnknown else { throw .uncertain(name: name) }
      throw .log(JournalError(error, name: name, database))
    }
  }

  /// Begins a transaction and creates the empty log in it.
  private func create(_ journal: MovingJournal, on slot: ConnectionSlot) throws(MigrationError)
    -> LogIdentity
  {
    let sql = database.sql
    let rows: [Rows]
    let row: LogRow?
    do throws(JournalError) {
      do throws(ServerProblem) {
        rows = try database.begin(
          [LogSQL.begin] + LogSQL.ownerPatience + [
            sql.create(key, journal.identifier, recordSize: journal.recordSize), sql.find(key),
            sql.findKey(of: journal.identifier),
          ], on: slot)
      } catch {
        throw JournalError(error, name: name, database)
      }
      row = try LogRow(rows[rows.count - 2], key: key, name: name)
    } catch {
      throw .log(error)
    }
    if rows[rows.count - 3].affected == 1, let row { return row.identity }
    if let other = rows[rows.count - 1].text(0, 0) {
      throw .alreadyMoved(name: PostgresLogPlace(other, in: database).name)
    }
    throw .keyInUse(name: name)
  }

  private func reader(of path: String) throws(MigrationError) -> JournalReader {
    do throws(JournalError) { return try JournalReader(path: path) } catch { throw .log(error) }
  }

  private func goOn(_ statements: [Statement], on slot: ConnectionSlot) throws(MigrationError) {
    do throws(ServerProblem) {
      _ = try database.goOn(statements, on: slot, silence: LogSQL.ownerSilence)
    } catch {
      throw .log(JournalError(error, name: name, database))
    }
  }

  /// Writes the log as a journal file, in pieces, and removes nothing from the database.
  ///
  /// The secrets stay in the database, so a session of the file must log in again.
  ///
  /// The pieces together are a journal that ``/SessionJournal/Journal`` opens and `sessionreplay` reads.
  public func exportJournal(_ write: ([UInt8]) throws(MigrationError) -> Void)
    throws(MigrationError) -> Migration
  {
    var records: [JournalRecord] = []
    let log: PostgresLog
    do throws(JournalError) {
      switch presence() {
      case .present: break
      case .absent: throw .missing(path: name)
      case .unknown(let error): throw error
      }
      log = try open { header, payload in
        records.append(
          JournalRecord(
            sequence: header.sequence, offset: 0, kind: header.kind,
            remainingInBatch: header.remainingInBatch,
            payload: payload.withUnsafeBytes { Array($0) }))
      }
      try log.close()
    } catch {
      throw .log(error)
    }
    var encoder = JournalFileEncoder(
      identifier: log.identifier, maximumRecordSize: log.identity.recordSize,
      firstSequence: log.firstSequence, beginsWithSnapshot: records.first?.isSnapshot ?? false)
    for record in records {
      encoder.append(record)
      guard encoder.bytes.count > 256 * 1024 else { continue }
      try write(encoder.bytes)
      encoder.removeBytes()
    }
    encoder.finish()
    try write(encoder.bytes)
    return Migration(
      identifier: log.identifier, records: records.count, lastSequence: log.lastSequence,
      secrets: 0)
  }
}
