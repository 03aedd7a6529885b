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
  public let identifier: JournalIdentifier

  let database: PostgresDatabase
  let key: String
  /// The number of the log in the database.
  let log: Int64
  /// The longest payload, in bytes.
  let recordSize: Int
  private let state: Mutex<State>
  private let last: Atomic<UInt64>
  private let first: Atomic<UInt64>

  private struct State {
    var view: LogView
    var isClosed = false
    /// Why the history is another one than this opening has read; it stays.
    var broken: JournalError?
    /// Whether a commit was sent whose outcome is unknown.
    var isUncertain = false
  }

  init(_ found: FoundLog, _ view: LogView, in place: PostgresLogPlace) {
    (name, key, database) = (place.name, place.key, place.database)
    (log, identifier, recordSize) = (found.log, found.identifier, found.recordSize)
    state = Mutex(State(view: view))
    last = Atomic(view.last)
    first = Atomic(view.first)
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
    let transaction = ThreadTransaction(slot, database, key)
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
  private func begin(on slot: ConnectionSlot, _ state: inout State) throws(JournalError)
    -> [JournalRecord]
  {
    let rows: [Rows]
    do throws(ServerProblem) {
      rows = try database.begin(
        [
          LogSQL.begin, database.sql.lock(log), database.sql.records(log, after: state.view.last),
          // The short limit is for the log's row. An insert may wait longer for room in a table.
          LogSQL.patience,
        ],
        on: slot)
    } catch {
      throw self.error(for: error)
    }
    do throws(JournalError) {
      let (view, foreign) = try checked(rows[1], rows[2], after: state.view)
      (state.view, state.isUncertain) = (view, false)
      return foreign
    } catch {
      if case .unavailable = error { throw error }
      state.broken = error
      throw error
    }
  }

  /// Checks that the log continues what this opening knows.
  private func checked(_ row: Rows, _ records: Rows, after known: LogView) throws(JournalError) -> (
    LogView, [JournalRecord]
  ) {
    guard row.count == 1 else { throw .missing(path: name) }
    let view = LogView(row)
    var chain = known.chain
    let foreign: [JournalRecord]
    do throws(JournalError) { foreign = try records.records(after: &chain, of: name) } catch {
      // The first record does not follow the last one that was read, as after a failover that has
      // lost commits.
      guard known.last > 0, case .damaged(_, let damage) = error,
        damage.sequence == records.unsigned(0, 0)
      else { throw error }
      throw .damaged(
        path: name, JournalDamage(offset: 0, sequence: known.last, flaw: .historyChanged))
    }
    guard view.last >= known.last, (foreign.last?.sequence ?? known.last) == view.last,
      chain == view.chain
    else {
      throw .damaged(
        path: name, JournalDamage(offset: 0, sequence: known.last, flaw: .historyChanged))
    }
    return (view, foreign)
  }

  private func append(_ drafts: [JournalDraft], on slot: ConnectionSlot, _ state: inout State)
    throws(JournalError) -> [JournalRecord]
  {
    try check(drafts)
    let batch = Batch(drafts, after: state.view)
    // Committing a transaction that has failed is no error of the server, but any statement in it is.
    var statements = [Statement("SELECT 1")]
    if let last = batch.records.last, let chain = batch.chains.last {
      statements = [
        database.sql.insert(log, batch),
        database.sql.advance(log, to: last.sequence, chain: chain),
      ]
    }
    statements.append(LogSQL.commit)
    do throws(ServerProblem) {
      let end = Deadline(after: database.options.answerLimit)
      try slot.send(statements, until: end)
      database.onStep(.sent)
      _ = try slot.receive(until: end)
    } catch {
      // After a refusal the server has rolled back. Otherwise the answer is lost, not the batch.
      state.isUncertain = error.isOfConnection
      throw self.error(for: error)
    }
    database.onStep(.committed)
    if let last = batch.records.last, let chain = batch.chains.last {
      (state.view.last, state.view.chain) = (last.sequence, Chain(chain))
    }
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
      guard draft.payload.count <= recordSize else {
        throw .recordTooLarge(path: name, bytes: draft.payload.count, maximum: recordSize)
      }
    }
  }

  /// Returns a page of records, in one round trip and without a lock.
  public func records(after sequence: UInt64, limit: Int) throws(JournalError) -> [JournalRecord] {
    let through = try withState { state throws(JournalError) in
      try requireUsable(state)
      return state.view.last
    }
    guard limit > 0, sequence < through else { return [] }
    let rows = try ask([database.sql.page(log, after: sequence, through: through, limit: limit)])
    return (0..<rows[0].count).map { rows[0].record($0) }
  }

  /// Returns whether others may have appended: one read of the log's row, without a lock.
  public func hasNews() throws(JournalError) -> Bool {
    let (known, isUncertain) = try withState { state throws(JournalError) in
      try requireUsable(state)
      return (state.view, state.isUncertain)
    }
    guard !isUncertain else { return true }
    let rows = try ask([database.sql.look(log)])
    guard rows[0].count == 1 else { throw .missing(path: name) }
    return LogView(rows[0]) != known
  }

  /// Returns what waits for the shared poll of the database.
  public func changes() -> (any LogChanges)? {
    PostgresChanges(self, known: state.withLock { $0.view })
  }

  /// Closes this opening; writes nothing.
  public func close() throws(JournalError) {
    state.withLock { $0.isClosed = true }
  }

  /// Replaces all records before `first` by a snapshot, in one transaction.
  ///
  /// As ``/SessionJournal/SessionLog/compact(keepingFrom:ifFirstIs:summary:)`` says.
  public func compact(
    keepingFrom first: UInt64, ifFirstIs expected: UInt64?, summary: some JournalSummary
  ) throws(JournalError) -> JournalCompaction? {
    try withState { state throws(JournalError) in
      try requireUsable(state)
      return try database.withConnection { slot throws(JournalError) in
        var copy = state
        let foreign = try begin(on: slot, &copy)
        guard copy.view.first == expected ?? copy.view.first else { return nil }
        let work = LogCompaction(
          log: self, slot: slot, view: copy.view, wanted: first, recordSize: recordSize)
        guard let done = try work.run(summary) else { return nil }
        copy.view.first = done.first
        state = copy
        return JournalCompaction(
          firstSequence: done.first, recordsRemoved: done.removed, foreign: foreign)
      } problem: {
        error(for: $0)
      }
    }
  }

  /// Runs statements outside a transaction.
  func ask(_ statements: [Statement]) throws(JournalError) -> [Rows] {
    try database.withConnection { slot throws(JournalError) in
      do throws(ServerProblem) { return try database.begin(statements, on: slot) } catch {
        throw self.error(for: error)
      }
    } problem: {
      error(for: $0)
    }
  }

  func error(for problem: ServerProblem) -> JournalError { .init(problem, name: name, database) }

  private func requireUsable(_ state: State) throws(JournalError) {
    if state.isClosed { throw .closed(path: name) }
    if let broken = state.broken { throw broken }
  }

  private func withState<Value, Failure: Error>(
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
