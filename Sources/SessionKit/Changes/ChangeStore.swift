import SessionCore
import SessionJournal
import Synchronization

/// A change log's file, and what all of its records come to.
///
/// Every call waits for the disk, and for the one before it.
final class ChangeStore: Sendable {
  private struct Folded {
    var queue: ChangeQueue
    /// A record that cannot be used: from there on nothing may be built on the file.
    var problem: ChangeLogError?
  }

  let path: String
  private let journal: Journal
  private let clock: any SessionClock
  private let compactedAfter: UInt64
  private let folded: Mutex<Folded>
  private let shown: Mutex<ChangeQueue>

  private init(path: String, journal: Journal, _ setup: ChangeLog.Setup, queue: ChangeQueue) {
    self.path = path
    self.journal = journal
    clock = setup.clock
    compactedAfter = setup.compactedAfter
    folded = Mutex(Folded(queue: queue))
    shown = Mutex(queue)
  }

  /// Opens the file at `path`, or creates it.
  static func open(_ path: String, _ setup: ChangeLog.Setup) throws(ChangeLogError) -> ChangeStore {
    var options = setup.options
    // The snapshot of a full log is one record.
    options.maximumRecordSize = 8 << 20
    var queue = ChangeQueue()
    var problem: ChangeLogError?
    let journal: Journal
    do throws(JournalError) {
      journal = try Journal.open(at: path, options: options) { frame, payload in
        guard problem == nil, RecordKind.isOfSession(frame.kind) else { return }
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
    return ChangeStore(path: path, journal: journal, setup, queue: queue)
  }

  /// What was there when the file was last looked at; never waits for the disk.
  var last: ChangeQueue { shown.withLock { $0 } }

  /// Looks at what others have appended, and appends durably what `decide` says of it.
  ///
  /// Nothing is appended where it throws, or where its events could not follow.
  func commit<Value: Sendable>(
    _ decide: (ChangeQueue, Timestamp) throws(ChangeLogError) -> (events: [ChangeEvent], Value)
  ) throws(ChangeLogError) -> Value {
    try folded.withLock { folded throws(ChangeLogError) -> Value in
      if let problem = folded.problem { throw problem }
      let (path, time) = (path, clock.now().time)
      var queue = folded.queue
      var after: ChangeQueue?
      var value: Value?
      var refusal: ChangeLogError?
      var problem: ChangeLogError?
      defer {
        folded.problem = problem
        folded.queue = queue
        let queue = folded.queue
        shown.withLock { $0 = queue }
      }
      do throws(JournalError) {
        _ = try journal.transact { foreign in
          do throws(ChangeLogError) {
            for record in foreign where RecordKind.isOfSession(record.kind) {
              try queue.take(record.sequence, record.kind, record.payload.span.bytes, path)
            }
          } catch {
            problem = error
            return []
          }
          do throws(ChangeLogError) {
            let decided = try decide(queue, time)
            var next = queue
            try next.take(decided.events, at: time, path)
            (after, value) = (next, decided.1)
            return decided.events.map { event in
              let (kind, payload) = ChangeCodec.encode(event, at: time)
              return JournalDraft(kind: kind, payload: payload)
            }
          } catch {
            refusal = error
            return []
          }
        }
      } catch {
        throw .journal(error)
      }
      if let error = problem ?? refusal { throw error }
      guard let after, let value else { throw .journal(.closed(path: path)) }
      queue = after
      return value
    }
  }

  /// Has a snapshot take the place of the records, where they are many.
  func compactIfLong() throws(ChangeLogError) {
    try folded.withLock { folded throws(ChangeLogError) in
      if let problem = folded.problem { throw problem }
      let first = journal.firstSequence
      guard journal.lastSequence >= first + compactedAfter else { return }
      var problem: ChangeLogError?
      defer {
        folded.problem = problem
        let queue = folded.queue
        shown.withLock { $0 = queue }
      }
      let done: JournalCompaction?
      do throws(JournalError) {
        done = try journal.compact(
          keepingFrom: .max, ifFirstIs: first, summary: ChangeSummary())
      } catch {
        throw .journal(error)
      }
      do throws(ChangeLogError) {
        for record in done?.foreign ?? [] where RecordKind.isOfSession(record.kind) {
          try folded.queue.take(record.sequence, record.kind, record.payload.span.bytes, path)
        }
      } catch {
        problem = error
        throw error
      }
    }
  }

  func close() throws(ChangeLogError) {
    do throws(JournalError) { try journal.close() } catch { throw .journal(error) }
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
        if case .unknownKey(let key) = error { throw .unknownKey(key) }
        throw .unusable(path: path, sequence: 0, problem: error.description)
      }
    }
  }
}

/// Sums up a change log while it is compacted.
private struct ChangeSummary: JournalSummary {
  private var queue = ChangeQueue()
  private var time = Timestamp(milliseconds: 0)
  private var isBroken = false

  mutating func take(_ frame: JournalFrame, payload: RawSpan) {
    guard !isBroken, RecordKind.isOfSession(frame.kind) else { return }
    do {
      let record = try ChangeCodec.decode(
        sequence: frame.sequence, kind: frame.kind, payload: payload)
      guard let record else {
        isBroken = true
        return
      }
      try queue.apply(record)
      time = record.time
    } catch {
      // Nothing may stand for what cannot be read; whoever opens the log says what is wrong.
      isBroken = true
    }
  }

  func snapshot() -> [UInt8]? { isBroken ? nil : ChangeCodec.encode(queue, at: time) }
}
