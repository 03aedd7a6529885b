public import SessionJournal

extension PostgresLog {
  /// Returns a page of records, in one round trip and without a lock.
  ///
  /// Each record is checked against the one before it, and a page that ends early against the last
  /// sequence.
  public func records(after sequence: UInt64, limit: Int) throws(JournalError) -> [JournalRecord] {
    let view = try withState { state throws(JournalError) in
      try requireUsable(state)
      return state.view
    }
    guard limit > 0, sequence < view.last else { return [] }
    let page = database.sql.checkedPage(
      identity.log, after: sequence, through: view.last, limit: limit)
    let rows = try ask(page)
    var check = RecordCheck(of: name)
    // The record before the page, if it is there.
    let known = rows.count > 0 && rows.unsigned(0, 0) <= sequence ? 1 : 0
    if known == 1 { check.begin(after: 0, of: rows) }
    var records = try check.take(rows, from: known)
    if records.count > limit { records.removeLast() }
    // A snapshot may be beyond the last record that this opening knows.
    if records.count < limit, check.last <= view.last { try check.requireEnd(of: view) }
    return records
  }

  /// Returns whether others may have appended: one read of the log's row, without a lock.
  public func hasNews() throws(JournalError) -> Bool {
    let (known, isUncertain) = try withState { state throws(JournalError) in
      try requireUsable(state)
      return (state.view, state.isUncertain)
    }
    guard !isUncertain else { return true }
    return try view(ask(database.sql.look(identity.log))) != known
  }

  /// Returns what waits for the shared poll of the database.
  public func changes() -> (any LogChanges)? { PostgresChanges(self) }

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
        let work = LogCompaction(log: self, slot: slot, view: copy.view, wanted: first)
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

  /// Reads with one statement outside a transaction.
  ///
  /// It waits for no other opening, so a pool without a free connection is no `busy` log.
  private func ask(_ statement: Statement) throws(JournalError) -> Rows {
    do throws(ServerProblem) {
      return try database.withConnection { slot throws(ServerProblem) in
        try database.begin([statement], on: slot)[0]
      } problem: {
        $0
      }
    } catch {
      guard error == .noConnection else { throw self.error(for: error) }
      throw .unavailable(path: name, problem: error.explanation)
    }
  }
}
