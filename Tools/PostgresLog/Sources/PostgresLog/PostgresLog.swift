public import SessionJournal
internal import Synchronization

/// One opening of a log in PostgreSQL.
///
/// A commit is one transaction of the server: it locks the log's row, reads what others appended,
/// decides, and inserts the batch together with the secrets that the decision wrote. The row's lock
/// makes a lost answer certain, too: the next transaction gets the lock only after the server has ended
/// the earlier one, so it reads either its batch or none of it.
///
/// - Requirement: SCL-1
public final class PostgresLog: SessionLog {
  /// The name of the log: database, schema and key, without secrets.
  public let name: String

  /// The identity of the log, assigned when it was created.
  public var identifier: JournalIdentifier { identity.identifier }

  let identity: LogIdentity
  let database: PostgresDatabase
  private let state: Mutex<State>
  private let last: Atomic<UInt64>
  private let first: Atomic<UInt64>

  struct State {
    var view: LogView
    var isClosed = false
    /// Why the history is another one than this opening has read; it stays.
    var broken: JournalError?
    /// Whether a commit was sent whose outcome is unknown.
    var isUncertain = false
  }

  init(_ row: LogRow, in place: PostgresLogPlace) {
    (name, database, identity) = (place.name, place.database, row.identity)
    state = Mutex(State(view: row.view))
    last = Atomic(row.view.last)
    first = Atomic(row.view.first)
  }

  /// The first sequence that the log still holds, as far as this opening knows.
  public var firstSequence: UInt64 { first.load(ordering: .acquiring) }

  /// The last sequence that this opening has read or written.
  public var lastSequence: UInt64 { last.load(ordering: .acquiring) }

  /// Appends the drafts that `decide` returns, in one transaction with its secrets.
  ///
  /// As ``/SessionJournal/SessionLog/transact(_:)`` says. Waits for another opening as long as
  /// ``PostgresDatabase/Options/lockWait`` says.
  public func transact<Value: Sendable, Refusal: Error>(
    _ decide: (_ foreign: [JournalRecord]) throws(Refusal) -> (drafts: [JournalDraft], value: Value)
  ) throws(TransactionError<Value, Refusal>) -> (transaction: JournalTransaction, value: Value) {
    try withState { state throws(TransactionError<Value, Refusal>) in
      do throws(JournalError) { try requireUsable(state) } catch { throw .unavailable(error) }
      return try database.withConnection { slot throws(TransactionError<Value, Refusal>) in
        try perform(decide, on: slot, &state)
      } problem: {
        .unavailable(error(for: $0))
      }
    }
  }

  private func perform<Value: Sendable, Refusal: Error>(
    _ decide: (_ foreign: [JournalRecord]) throws(Refusal) -> (
      drafts: [JournalDraft], value: Value
    ),
    on slot: ConnectionSlot, _ state: inout State
  ) throws(TransactionError<Value, Refusal>) -> (transaction: JournalTransaction, value: Value) {
    let foreign: [JournalRecord]
    do throws(JournalError) { foreign = try begin(on: slot, &state) } catch {
      throw .unavailable(error)
    }
    database.onStep(.locked)
    let transaction = ThreadTransaction(slot, database, identity.key)
    let decided = ThreadTransaction.$current.withValue(transaction) {
      () -> Result<(drafts: [JournalDraft], value: Value), Refusal> in
      do throws(Refusal) { return .success(try decide(foreign)) } catch { return .failure(error) }
    }
    let hasSecrets = transaction.end()
    database.onStep(.decided)
    switch decided {
    case .failure(let refusal): throw .refused(refusal, foreign: foreign)
    case .success(let (drafts, value)):
      guard !drafts.isEmpty || hasSecrets else {
        return (JournalTransaction(foreign: foreign, appended: []), value)
      }
      do throws(JournalError) {
        let appended = try append(drafts, on: slot, &state)
        return (JournalTransaction(foreign: foreign, appended: appended), value)
      } catch {
        throw .appendFailed(error, value: value)
      }
    }
  }

  /// Locks the log and reads what others appended; they count as received.
  func begin(on slot: ConnectionSlot, _ state: inout State) throws(JournalError) -> [JournalRecord]
  {
    let rows: [Rows]
    do throws(ServerProblem) {
      rows = try database.begin(
        [
          LogSQL.begin, database.sql.lock(identity.log),
          database.sql.records(identity.log, after: state.view.last),
          // The short limit is for the log's row. An insert may wait longer for room in a table.
          LogSQL.patience,
        ],
        on: slot)
    } catch {
      throw self.error(for: error.isLockHeld ? database.reason(for: error, on: slot) : error)
    }
    do throws(JournalError) {
      let (view, foreign) = try checked(rows[1], rows[2], after: state.view)
      (state.view, state.isUncertain) = (view, false)
      return foreign
    } catch {
      state.broken = error
      throw error
    }
  }

  /// Checks that the log continues what this opening knows.
  private func checked(_ row: Rows, _ records: Rows, after known: LogView) throws(JournalError) -> (
    LogView, [JournalRecord]
  ) {
    let view = try self.view(row)
    var check = RecordCheck(of: name, after: known)
    let changed = check.damaged(known.last, .historyChanged)
    let foreign: [JournalRecord]
    do throws(JournalError) { foreign = try check.take(records) } catch {
      // The first record does not follow the last one that was read, as after a failover that has
      // lost commits.
      guard known.last > 0,
        error == check.damaged(records.unsigned(0, 0), .chainBroken)
      else { throw error }
      throw changed
    }
    guard view.last >= known.last, check.last == view.last, check.chain == view.chain else {
      throw changed
    }
    return (view, foreign)
  }

  /// Decodes the log's row, and checks that it is still that of this log.
  func view(_ rows: Rows) throws(JournalError) -> LogView {
    guard let row = try LogRow(rows, key: identity.key, name: name) else {
      throw .missing(path: name)
    }
    guard row.identity.identifier == identifier else {
      throw .replaced(path: name, expected: identifier, found: row.identity.identifier)
    }
    return row.view
  }

  private func append(_ drafts: [JournalDraft], on slot: ConnectionSlot, _ state: inout State)
    throws(JournalError) -> [JournalRecord]
  {
    try check(drafts)
    let batch = Batch(drafts, after: state.view)
    var view = state.view
    // Committing a transaction that has failed is no error of the server, but any statement in it is.
    var statements = [Statement("SELECT 1")]
    if let last = batch.records.last, let chain = batch.chains.last {
      (view.last, view.chain) = (last.sequence, Chain(chain))
      statements = [
        database.sql.insert(identity.log, batch), database.sql.advance(identity, to: view),
      ]
    }
    statements.append(LogSQL.commit)
    do throws(ServerProblem) {
      try slot.send(statements, silence: database.options.answerLimit)
      database.onStep(.sent)
      _ = try slot.receive(silence: database.options.answerLimit)
    } catch {
      // After a refusal the server has rolled back. Otherwise the answer is lost, not the batch.
      state.isUncertain = error.leavesCommitUnknown
      throw self.error(for: error == .silent ? database.reason(for: error, on: slot) : error)
    }
    database.onStep(.committed)
    state.view = view
    return batch.records
  }

  private func check(_ drafts: [JournalDraft]) throws(JournalError) {
    let bytes = drafts.reduce(0) { $0 + $1.payload.count }
    guard drafts.count <= LogLimits.records, bytes <= LogLimits.bytes else {
      throw .batchTooLarge(path: name, records: drafts.count, bytes: bytes)
    }
    for draft in drafts {
      guard draft.kind != 0, draft.kind != RecordHeader.snapshotKind, draft.kind != 0xFF else {
        throw .reservedKind(path: name, kind: draft.kind)
      }
      guard draft.payload.count <= identity.recordSize else {
        throw .recordTooLarge(
          path: name, bytes: draft.payload.count, maximum: identity.recordSize)
      }
    }
  }

  /// Closes this opening; writes nothing.
  public func close() throws(JournalError) {
    state.withLock { $0.isClosed = true }
  }

  func error(for problem: ServerProblem) -> JournalError { .init(problem, name: name, database) }

  func requireUsable(_ state: State) throws(JournalError) {
    if state.isClosed { throw .closed(path: name) }
    if let broken = state.broken { throw broken }
  }

  func withState<Value, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try state.withLock { state throws(Failure) -> Value in
      defer {
        first.store(state.view.first, ordering: .releasing)
        last.store(state.view.last, ordering: .releasing)
      }
      return try body(&state)
    }
  }
}

/// The largest batch, as in a file.
enum LogLimits {
  static let records = 65_536
  static let bytes = 16 * 1024 * 1024
}

extension JournalError {
  init(_ problem: ServerProblem, name: String, _ database: PostgresDatabase) {
    if problem.isLockHeld || problem == .noConnection {
      let waited =
        problem == .noConnection ? database.options.connectionWait : database.options.lockWait
      self = .busy(path: name, waited: UInt64(waited.milliseconds))
    } else if problem == .refused(code: "53100") {
      self = .diskFull(path: name)
    } else {
      self = .unavailable(path: name, problem: problem.explanation)
    }
  }
}
