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

  /// Copies a journal and its secrets into the database, in one transaction.
  ///
  /// Identifier, sequences, payloads and batches stay, so a session continues as if nothing had
  /// happened. Close all sessions of the file first, and do not open it again: both would use the same
  /// refresh token.
  ///
  /// - Parameters:
  ///   - reader: the journal, from its beginning. Any ending except a clean one is refused.
  ///   - store: the store to copy the secrets from; nil copies none.
  ///   - target: the store of this place, if it encrypts; nil for ``secrets``.
  public func importJournal(
    _ reader: consuming JournalReader, secrets store: (any SecretStore)? = nil,
    into target: PostgresSecrets? = nil
  ) throws(MigrationError) -> Migration {
    var reader = reader
    let moving = try whole(&reader)
    let target = target ?? secrets
    var items: [(SecretItem, [UInt8])] = []
    if let store {
      for item in SecretItem.moved {
        do throws(SecretStoreError) {
          if let bytes = try store.read(item) { items.append((item, bytes)) }
        } catch {
          throw .secrets(error)
        }
      }
    }
    return try database.withConnection { slot throws(MigrationError) in
      let rows = try run(
        [
          LogSQL.begin,
          database.sql.create(key, moving.identifier.bytes, recordSize: moving.recordSize),
          database.sql.find(key),
        ], on: slot)
      guard rows[1].affected == 1, let found = FoundLog(rows[2]) else {
        throw .keyInUse(name: name)
      }
      for batch in moving.batches { try go([database.sql.insert(found.log, batch)], on: slot) }
      let transaction = ThreadTransaction(slot, database, key)
      let moved = ThreadTransaction.$current.withValue(transaction) {
        () -> Result<Void, SecretStoreError> in
        do throws(SecretStoreError) {
          for (item, bytes) in items { try target.write(item, bytes) }
          return .success(())
        } catch {
          return .failure(error)
        }
      }
      _ = transaction.end()
      if case .failure(let error) = moved { throw .secrets(error) }
      try go(
        [
          database.sql.advance(found.log, to: moving.last, chain: moving.chain.value),
          database.sql.begin(found.log, at: moving.first), LogSQL.commit,
        ], on: slot)
      return Migration(
        identifier: moving.identifier, records: moving.count, lastSequence: moving.last,
        secrets: items.count)
    } problem: {
      .log(JournalError($0, name: name, database))
    }
  }

  /// Writes the log as a journal file, in pieces, and removes nothing from the database.
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
      identifier: log.identifier, maximumRecordSize: log.recordSize,
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

  private func whole(_ reader: inout JournalReader) throws(MigrationError) -> MovingJournal {
    var journal = MovingJournal(reader.header)
    let isWhole: Bool
    do throws(JournalError) {
      while let record = try reader.next() { journal.take(record) }
      if case .clean = try reader.ending() { isWhole = true } else { isWhole = false }
    } catch {
      throw .log(error)
    }
    guard isWhole else { throw .notWhole(path: reader.path) }
    journal.finish()
    return journal
  }

  private func go(_ statements: [Statement], on slot: ConnectionSlot) throws(MigrationError) {
    do throws(ServerProblem) { _ = try database.goOn(statements, on: slot) } catch {
      throw .log(JournalError(error, name: name, database))
    }
  }

  private func run(_ statements: [Statement], on slot: ConnectionSlot) throws(MigrationError)
    -> [Rows]
  {
    do throws(ServerProblem) { return try database.begin(statements, on: slot) } catch {
      throw .log(JournalError(error, name: name, database))
    }
  }
}

/// Why a journal could not be moved.
public enum MigrationError: Error, Equatable, Sendable {
  /// The key has a log already.
  case keyInUse(name: String)
  /// The file does not end cleanly.
  case notWhole(path: String)
  /// The secrets could not be read or written.
  case secrets(SecretStoreError)
  /// The journal or the log could not be read or written.
  case log(JournalError)
  /// The output could not be written; the code is its errno.
  case output(path: String, code: Int32)
}

extension MigrationError: CustomStringConvertible {
  /// Says what happened, the consequence and the next step.
  public var description: String {
    switch self {
    case .keyInUse(let name):
      "There is a log at \(name) already. Nothing was changed. Choose another key, or delete that log "
        + "first."
    case .notWhole(let path):
      "\(path) does not end cleanly, so a part of it would be lost. Nothing was changed. Run: "
        + "sessionreplay verify \(path)"
    case .secrets(let error): "\(error) No journal was moved."
    case .log(let error): "\(error) No journal was moved."
    case .output(let path, let code):
      "\(path) cannot be written (errno \(code)). The log in the database is unchanged. Choose a new "
        + "file in a folder with space."
    }
  }
}

extension SecretItem {
  /// The items that a session stores.
  static let moved: [SecretItem] = [.token, .user, .context, .revocation, .refreshToken]
}

/// A journal on its way into the database.
private struct MovingJournal {
  private static let batchSize = 1_000

  let identifier: JournalIdentifier
  let recordSize: Int
  let first: UInt64
  private(set) var last: UInt64
  private(set) var chain = Chain.empty
  private(set) var count = 0
  private(set) var batches: [Batch] = []
  private var records: [JournalRecord] = []
  private var chains: [UInt64] = []

  init(_ header: JournalHeader) {
    identifier = header.identifier
    recordSize = Int(header.maximumRecordSize)
    first = header.firstSequence
    // What a file without records begins with is not stored: its first append has sequence 1.
    last = 0
  }

  mutating func take(_ record: JournalRecord) {
    // A snapshot begins a chain: any value will do.
    if !record.isSnapshot { chain.add(record.header, record.payload) }
    records.append(record)
    chains.append(chain.value)
    (last, count) = (record.sequence, count + 1)
    if records.count == Self.batchSize { finish() }
  }

  mutating func finish() {
    guard !records.isEmpty else { return }
    batches.append(Batch(records, chains: chains))
    (records, chains) = ([], [])
  }
}
