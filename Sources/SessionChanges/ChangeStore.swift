@_spi(Internals) import SessionChangeQueue
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import Synchronization

/// The file of a change log, and the queue that results from its records.
///
/// Every call waits for the disk, and for the previous call.
final class ChangeStore: Sendable {
  fileprivate struct Folded: Sendable {
    var queue: ChangeQueue
    /// The problem of a record that cannot be used.
    ///
    /// After it, nothing is appended.
    var problem: ChangeLogError?
    /// The approximate size of the file, and the size from which it is compacted, in bytes.
    var bytes: Int
    var compactedFrom: Int
    /// The sequence of the last record at the last compaction or its failure.
    var triedAt: UInt64 = 0
  }

  /// What a commit decided: the log after the records of others, and after its own.
  private struct Decision<Value: Sendable>: Sendable {
    let read: Folded
    let written: Folded
    let value: Value
  }

  /// A file is compacted when it is longer than twice its live data plus this number of bytes.
  private static let slack = 256 << 10

  let path: String
  private let journal: Journal
  private let clock: any SessionClock
  private let compactedAfter: UInt64
  private let options: JournalOptions
  /// The damaged log that this one continues, if it was quarantined when this one was opened.
  let quarantined: QuarantinedChangeLog?
  /// The queue as of the last read of the file.
  let shown: LatestValue<ChangeQueue>
  private let folded: Mutex<Folded>

  private init(
    path: String, journal: Journal, _ setup: ChangeLog.Setup, queue: ChangeQueue, bytes: Int,
    quarantined: QuarantinedChangeLog?
  ) {
    self.path = path
    self.journal = journal
    self.quarantined = quarantined
    clock = setup.clock
    compactedAfter = setup.compactedAfter
    options = setup.options
    let live = queue.pendingBytes + queue.failureBytes + 64 * queue.scopes.count
    folded = Mutex(
      Folded(queue: queue, bytes: bytes, compactedFrom: 2 * live + Self.slack))
    shown = LatestValue(queue)
  }

  deinit {
    shown.finish()
  }

  /// Opens the file at `path`, or creates it.
  ///
  /// A damaged file is quarantined first.
  static func open(_ path: String, _ setup: ChangeLog.Setup) throws(ChangeLogError) -> ChangeStore {
    var setup = setup
    // The snapshot of a full log is one record.
    setup.options.maximumRecordSize = 8 << 20
    // Peers may quarantine the same file, or the file that they create may be damaged too.
    for _ in 0..<5 {
      let identity = try onJournal { () throws(JournalError) in
        try Journal.identity(at: path, options: setup.options)
      }
      do throws(ChangeLogError) {
        return try load(path, setup)
      } catch {
        if case .journal(.missing) = error, identity != nil { continue }
        guard error.isOfDamagedLog, let identity else { throw error }
        try QuarantinedChangeLog.setAside(path, identity, setup)
      }
    }
    return try load(path, setup)
  }

  private static func load(_ path: String, _ setup: ChangeLog.Setup) throws(ChangeLogError)
    -> ChangeStore
  {
    let options = setup.options
    var queue = ChangeQueue()
    var problem: ChangeLogError?
    var bytes = 0
    let journal: Journal
    do throws(JournalError) {
      journal = try Journal.open(at: path, options: options) { frame, payload in
        bytes += Int(JournalFrame.bytes(of: Int(frame.payloadLength)))
        guard problem == nil else { return }
        do throws(ChangeLogError) {
          try queue.take(frame.sequence, frame.kind, payload, path)
        } catch {
          problem = error
        }
      }
    } catch {
      throw .journal(error)
    }
    if let problem {
      do throws(JournalError) { try journal.close() } catch { throw .journal(error) }
      throw problem
    }
    var quarantined: QuarantinedChangeLog?
    if journal.lastSequence == 0 {
      do throws(ChangeLogError) {
        quarantined = try recover(into: journal, &queue, path, setup)
      } catch let failure {
        try onJournal { () throws(JournalError) in try journal.close() }
        throw failure
      }
    }
    return ChangeStore(
      path: path, journal: journal, setup, queue: queue, bytes: bytes, quarantined: quarantined)
  }

  /// Appends the readable changes of the last quarantined log to an empty journal, as one batch.
  ///
  /// A crash before the batch is durable leaves the journal empty, so the next opening does it
  /// again.
  private static func recover(
    into journal: Journal, _ queue: inout ChangeQueue, _ path: String, _ setup: ChangeLog.Setup
  ) throws(ChangeLogError) -> QuarantinedChangeLog? {
    guard let (quarantined, found) = try QuarantinedChangeLog.last(at: path, setup) else {
      return nil
    }
    let time = setup.clock.now().time
    let events = found.events(at: time)
    let others: [JournalRecord]
    do throws(TransactionError<Void, Never>) {
      others = try journal.transact { foreign in
        (foreign.isEmpty ? events.map { JournalDraft($0, at: time) } : [], ())
      }.transaction.foreign
    } catch {
      throw .journal(error.journalError)
    }
    guard others.isEmpty else {
      // Another process has recovered the changes first, or has continued without them.
      for record in others {
        try queue.take(record.sequence, record.kind, record.payload.span.bytes, path)
      }
      return quarantined
    }
    try queue.take(events, at: time, path)
    return quarantined
  }

  static func onJournal<Value>(_ work: () throws(JournalError) -> Value) throws(ChangeLogError)
    -> Value
  {
    do throws(JournalError) { return try work() } catch { throw .journal(error) }
  }

  /// The queue as of the last read of the file.
  ///
  /// It never waits for the disk.
  var last: ChangeQueue { shown.current }

  /// Reads what peers have appended, and durably appends the events that `decide` returns.
  ///
  /// Nothing is appended if it throws, or if the queue rejects an event. If there is no space, the
  /// file is compacted, and the commit is tried again.
  func commit<Value: Sendable>(
    _ decide: (ChangeQueue, Timestamp) throws(ChangeLogError) -> (events: [ChangeEvent], Value)
  ) throws(ChangeLogError) -> Value {
    do throws(ChangeLogError) {
      return try commitOnce(decide)
    } catch {
      guard case .journal(.diskFull) = error else { throw error }
      let isShorter: Bool
      do throws(ChangeLogError) { isShorter = try compact() } catch let second {
        // The first error says more than the failure of the compaction that it caused.
        guard second.isOfRoom else { throw second }
        throw error
      }
      guard isShorter else { throw error }
      return try commitOnce(decide)
    }
  }

  private func commitOnce<Value: Sendable>(
    _ decide: (ChangeQueue, Timestamp) throws(ChangeLogError) -> (events: [ChangeEvent], Value)
  ) throws(ChangeLogError) -> Value {
    try folded.withLock { folded throws(ChangeLogError) -> Value in
      if let problem = folded.problem { throw problem }
      let time = clock.now().time
      let bytes = folded.bytes
      // Without a record, the queue is unchanged.
      defer { if folded.bytes > bytes { shown.publish(folded.queue) } }
      do throws(TransactionError<Decision<Value>, ChangeLogError>) {
        let decision = try journal.transact { foreign throws(ChangeLogError) in
          let read = try folded.reading(foreign, path)
          let (events, value) = try decide(read.queue, time)
          let (drafts, written) = try read.writing(events, at: time, path)
          return (drafts, Decision(read: read, written: written, value: value))
        }.value
        folded = decision.written
        return decision.value
      } catch {
        switch error {
        case .unavailable(let error):
          throw .journal(error)
        case .refused(let refusal, let foreign):
          folded.read(foreign, path)
          throw refusal
        case .appendFailed(let error, let decision):
          folded = decision.read
          throw .journal(error)
        }
      }
    }
  }

  /// Whether much of the file's data is not live any more.
  var isLong: Bool {
    folded.withLock {
      $0.bytes > $0.compactedFrom
        || journal.lastSequence >= max(journal.firstSequence, $0.triedAt) + compactedAfter
    }
  }

  /// Whether nothing is left to send or show, but the file still contains old records.
  var isSpent: Bool {
    folded.withLock {
      $0.queue.unsentCount == 0 && journal.lastSequence >= journal.firstSequence
    }
  }

  /// Removes the files next to the log that keep its earlier contents.
  func forgetKept() throws(ChangeLogError) {
    do throws(JournalError) {
      try Journal.deleteKept(at: path, options: options)
    } catch {
      throw .journal(error)
    }
  }

  /// Replaces all records by a snapshot.
  ///
  /// Returns whether there were any.
  @discardableResult
  func compact() throws(ChangeLogError) -> Bool {
    try folded.withLock { folded throws(ChangeLogError) -> Bool in
      if let problem = folded.problem { throw problem }
      let first = journal.firstSequence
      // After a failure, not every call tries again.
      folded.compactedFrom = folded.bytes + folded.compactedFrom
      folded.triedAt = journal.lastSequence
      var problem: ChangeLogError?
      defer {
        folded.problem = problem
        shown.publish(folded.queue)
      }
      let done: JournalCompaction?
      do throws(JournalError) {
        done = try journal.compact(
          keepingFrom: .max, ifFirstIs: first, summary: ChangeSummary())
      } catch {
        throw .journal(error)
      }
      do throws(ChangeLogError) {
        for record in done?.foreign ?? [] {
          try folded.queue.take(record.sequence, record.kind, record.payload.span.bytes, path)
        }
      } catch {
        problem = error
        throw error
      }
      guard let done else { return false }
      folded.bytes = Int(clamping: done.bytesAfter)
      folded.compactedFrom = 2 * folded.bytes + Self.slack
      return true
    }
  }

  func close() throws(ChangeLogError) {
    shown.finish()
    try Self.onJournal { () throws(JournalError) in try journal.close() }
  }
}

extension ChangeStore.Folded {
  /// Takes in the records of others.
  ///
  /// If one cannot be used, the log keeps those before it, and nothing is appended any more.
  fileprivate mutating func read(_ foreign: [JournalRecord], _ path: String) {
    for record in foreign { bytes += Int(JournalFrame.bytes(of: record.payload.count)) }
    do throws(ChangeLogError) {
      for record in foreign {
        try queue.take(record.sequence, record.kind, record.payload.span.bytes, path)
      }
    } catch {
      problem = error
    }
  }

  /// Returns the log after the records of others.
  fileprivate func reading(_ foreign: [JournalRecord], _ path: String) throws(ChangeLogError)
    -> Self
  {
    var next = self
    next.read(foreign, path)
    if let problem = next.problem { throw problem }
    return next
  }

  /// Returns the drafts of events, and the log after them.
  fileprivate func writing(_ events: [ChangeEvent], at time: Timestamp, _ path: String)
    throws(ChangeLogError) -> ([JournalDraft], Self)
  {
    var next = self
    try next.queue.take(events, at: time, path)
    let drafts = events.map { JournalDraft($0, at: time) }
    for draft in drafts { next.bytes += Int(JournalFrame.bytes(of: draft.payload.count)) }
    return (drafts, next)
  }
}

extension JournalDraft {
  fileprivate init(_ event: ChangeEvent, at time: Timestamp) {
    let (kind, payload) = ChangeCodec.encode(event, at: time)
    self.init(kind: kind, payload: payload)
  }
}

extension ChangeQueue {
  /// Takes in the next record of the journal at `path`.
  mutating func take(_ sequence: UInt64, _ kind: UInt8, _ payload: RawSpan, _ path: String)
    throws(ChangeLogError)
  {
    guard ChangeCodec.owns(kind: kind, payload: payload) else {
      throw .notAChangeLog(path: path, sequence: sequence, kind: kind)
    }
    let record: ChangeRecord?
    do throws(CodecError) {
      record = try ChangeCodec.decode(sequence: sequence, kind: kind, payload: payload)
    } catch {
      throw .unusable(path: path, sequence: sequence, problem: error.description)
    }
    guard let record else { throw .newerVersion(path: path, sequence: sequence, kind: kind) }
    do throws(ChangeRejection) {
      try apply(record)
    } catch {
      throw .unusable(path: path, sequence: sequence, problem: error.description)
    }
  }

  fileprivate mutating func take(_ events: [ChangeEvent], at time: Timestamp, _ path: String)
    throws(ChangeLogError)
  {
    for event in events {
      do throws(ChangeRejection) {
        try apply(event, at: time)
      } catch {
        throw .unusable(path: path, sequence: 0, problem: error.description)
      }
    }
  }
}

/// Builds the snapshot of a change log while it is compacted.
private struct ChangeSummary: JournalSummary {
  private var queue = ChangeQueue()
  private var time = Timestamp(milliseconds: 0)
  private var isBroken = false

  mutating func take(_ header: RecordHeader, payload: RawSpan) {
    guard !isBroken else { return }
    do {
      let record = try ChangeCodec.decode(
        sequence: header.sequence, kind: header.kind, payload: payload)
      guard let record else {
        isBroken = true
        return
      }
      try queue.apply(record)
      time = record.time
    } catch {
      // No snapshot may replace a record that cannot be read. The opening reports the problem.
      isBroken = true
    }
  }

  func snapshot() -> [UInt8]? { isBroken ? nil : ChangeCodec.encode(queue, at: time) }
}
