package import SessionJournal

extension PostgresDatabase {
  /// Runs statements in one round trip, for measurements; `payload` is the first parameter of each that
  /// has one.
  package func raw(_ statements: [(sql: String, payload: [UInt8]?)]) throws(JournalError) -> Int64 {
    let list = statements.map { Statement($0.sql, $0.payload.map { [Bytes($0)] } ?? []) }
    return try withConnection { slot throws(JournalError) in
      do throws(ServerProblem) {
        return try begin(list, on: slot).last?.integer(0, 0) ?? 0
      } catch {
        throw JournalError(error, name: name, self)
      }
    } problem: {
      JournalError($0, name: name, self)
    }
  }
}
