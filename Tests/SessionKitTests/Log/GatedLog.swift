import SessionJournal
import SessionTestKit
import Synchronization

/// A log in memory whose openings find it busy while its gate is closed.
///
/// Other openings of the same log, through another gate, are not affected.
final class GatedLog: SessionLogPlace {
  let log: MemoryLog
  private let gate = Mutex((isClosed: false, refused: 0))

  init(_ log: MemoryLog) { self.log = log }

  var name: String { log.name }

  func close() { gate.withLock { $0 = (true, 0) } }
  func open() { gate.withLock { $0.isClosed = false } }

  /// How many calls have found the log busy since the gate was closed.
  var refused: Int { gate.withLock { $0.refused } }

  func presence() -> LogPresence { log.presence() }

  func open(replay: (RecordHeader, RawSpan) -> Void) throws(JournalError) -> Opening {
    try pass()
    return Opening(self, try log.open(replay: replay))
  }

  fileprivate func pass() throws(JournalError) {
    let isClosed = gate.withLock { gate in
      if gate.isClosed { gate.refused += 1 }
      return gate.isClosed
    }
    if isClosed { throw .busy(path: name, waited: 0) }
  }

  final class Opening: SessionLog {
    private let gated: GatedLog
    private let inner: MemoryLog.Opening

    init(_ gated: GatedLog, _ inner: MemoryLog.Opening) {
      (self.gated, self.inner) = (gated, inner)
    }

    var name: String { inner.name }
    var identifier: JournalIdentifier { inner.identifier }
    var firstSequence: UInt64 { inner.firstSequence }
    var lastSequence: UInt64 { inner.lastSequence }

    func transact<Value: Sendable, Refusal: Error>(
      _ decide: (_ foreign: [JournalRecord]) throws(Refusal) -> (
        drafts: [JournalDraft], value: Value
      )
    ) throws(TransactionError<Value, Refusal>) -> (transaction: JournalTransaction, value: Value) {
      do throws(JournalError) { try gated.pass() } catch { throw .unavailable(error) }
      return try inner.transact(decide)
    }

    func records(after sequence: UInt64, limit: Int) throws(JournalError) -> [JournalRecord] {
      try inner.records(after: sequence, limit: limit)
    }

    func hasNews() throws(JournalError) -> Bool { try inner.hasNews() }

    func compact(
      keepingFrom first: UInt64, ifFirstIs expected: UInt64?, summary: some JournalSummary
    ) throws(JournalError) -> JournalCompaction? {
      try gated.pass()
      return try inner.compact(keepingFrom: first, ifFirstIs: expected, summary: summary)
    }

    func close() throws(JournalError) { try inner.close() }
  }
}
