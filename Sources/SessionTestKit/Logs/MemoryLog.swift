public import SessionJournal
import SessionKit
import Synchronization

/// A log in memory, with secrets in the same transactions, that fails when a test asks for it.
///
/// Tests of sessions are faster with it than with files. Any number of openings share one object, as
/// processes share a journal. Everything is lost with the object.
///
/// ```swift
/// let log = MemoryLog()
/// let session = try await Session.open(
///   SessionConfiguration(log: log, backend: backend, secrets: log.secrets))
/// log.fail(at: .append, with: .diskFull(path: log.name))   // the next append fails
/// ```
///
/// Open two sessions with the same `log` to test what one does while another one logs out. A log that
/// another opening holds (``hold()``) is busy, as a journal whose process is stopped.
///
/// - Requirement: SCL-1, TST-2
public final class MemoryLog: SessionLogPlace {
  /// A step of a call, at which it can fail.
  public enum Step: String, Hashable, Sendable, CaseIterable {
    /// Opening the log.
    case open
    /// The beginning of a transaction, before anything was read.
    case begin
    /// The append, after the decision: nothing is written.
    case append
    /// The answer to the append: the batch is durable, but the call fails.
    case acknowledge
    /// Reading a page of records.
    case read
    /// The compaction: nothing is replaced.
    case compact
  }

  /// The name of the log.
  public let name: String

  /// The store whose items become durable together with the records of a transaction.
  public var secrets: MemoryLogSecrets { MemoryLogSecrets(log: self) }

  let storage = MemoryContent()

  /// The right to append; an opening has it for one transaction.
  let turn = Mutex<Void>(())

  /// Creates a log that does not exist until it is opened first.
  ///
  /// - Parameter name: the name in messages and stored items; two logs need two names.
  public init(name: String = "memory://\(JournalIdentifier.random())") {
    self.name = name
  }

  /// Returns whether the log was opened before.
  public func presence() -> LogPresence {
    storage.withLock { $0.identifier }.map(LogPresence.present) ?? .absent
  }

  /// Opens the log, and creates it if it is absent.
  public func open(replay: (RecordHeader, RawSpan) -> Void) throws(JournalError) -> Opening {
    if let error = storage.withLock({ $0.takeFault(at: .open) }) { throw error }
    let found = try taking { () -> (JournalIdentifier, [JournalRecord], MemoryLogView) in
      storage.withLock { storage in
        let identifier = storage.identifier ?? .random()
        storage.identifier = identifier
        return (identifier, storage.records, storage.view)
      }
    }
    for record in found.1 { replay(record.header, record.payload.span.bytes) }
    return Opening(self, found.0, found.2)
  }

  /// The records that the log holds, a snapshot first.
  public var records: [JournalRecord] { storage.withLock { $0.records } }

  /// Lets the next call fail at this step, with this error.
  ///
  /// Several faults of one step are met one after the other.
  public func fail(at step: Step, with error: JournalError) {
    storage.withLock { $0.faults.append((step, error)) }
  }

  /// Holds the log, as an opening does whose process was stopped: calls throw `busy`.
  ///
  /// Ends with ``release()``.
  public func hold() { storage.withLock { $0.isHeld = true } }

  /// Ends a hold.
  public func release() { storage.withLock { $0.isHeld = false } }

  /// Calls `work` while no other opening has the log; throws `busy` at once if one has it.
  func taking<Value: Sendable>(_ work: () -> Value) throws(JournalError) -> Value {
    let value: Value? =
      storage.withLock { $0.isHeld } ? nil : turn.withLockIfAvailable { _ in work() }
    guard let value else { throw .busy(path: name, waited: 0) }
    return value
  }
}

extension MemoryLog {
  /// One opening of a log in memory.
  public final class Opening: SessionLog {
    /// The log.
    public let place: MemoryLog

    /// The identity of the log.
    public let identifier: JournalIdentifier

    private let seen: Mutex<MemoryLogView>

    init(_ place: MemoryLog, _ identifier: JournalIdentifier, _ view: MemoryLogView) {
      (self.place, self.identifier) = (place, identifier)
      seen = Mutex(view)
    }

    /// The name of the log.
    public var name: String { place.name }

    /// The first sequence, without a snapshot, as far as this opening knows.
    public var firstSequence: UInt64 { seen.withLock { $0.first } }

    /// The last sequence that this opening has read or written.
    public var lastSequence: UInt64 { seen.withLock { $0.last } }

    /// Appends the drafts that `decide` returns, as `SessionLog` says.
    public func transact<Value: Sendable, Refusal: Error>(
      _ decide: (_ foreign: [JournalRecord]) throws(Refusal) -> (
        drafts: [JournalDraft], value: Value
      )
    ) throws(TransactionError<Value, Refusal>) -> (transaction: JournalTransaction, value: Value) {
      typealias Outcome = Result<
        (transaction: JournalTransaction, value: Value), TransactionError<Value, Refusal>
      >
      let outcome: Outcome
      do throws(JournalError) {
        try begin()
        outcome = try place.taking { perform(decide) }
      } catch {
        throw .unavailable(error)
      }
      return try outcome.get()
    }

    private func perform<Value: Sendable, Refusal: Error>(
      _ decide: (_ foreign: [JournalRecord]) throws(Refusal) -> (
        drafts: [JournalDraft], value: Value
      )
    ) -> Result<(transaction: JournalTransaction, value: Value), TransactionError<Value, Refusal>> {
      let foreign = place.storage.withLock { storage in
        seen.withLock { $0.take(from: storage) }
      }
      let items = MemoryTransaction(place.storage.withLock { $0.items }, of: place)
      let decided = MemoryTransaction.$current.withValue(items) {
        () -> Result<(drafts: [JournalDraft], value: Value), Refusal> in
        do throws(Refusal) { return .success(try decide(foreign)) } catch {
          return .failure(error)
        }
      }
      switch decided {
      case .failure(let refusal): return .failure(.refused(refusal, foreign: foreign))
      case .success(let (drafts, value)):
        do throws(JournalError) {
          let appended = try append(drafts, items)
          return .success((JournalTransaction(foreign: foreign, appended: appended), value))
        } catch {
          return .failure(.appendFailed(error, value: value))
        }
      }
    }

    /// Throws if the opening is closed, or if a test has asked for a failure.
    private func begin() throws(JournalError) {
      try requireOpen()
      if let error = place.storage.withLock({ $0.takeFault(at: .begin) }) { throw error }
    }

    private func requireOpen() throws(JournalError) {
      if seen.withLock({ $0.isClosed }) { throw .closed(path: name) }
    }

    private func append(_ drafts: [JournalDraft], _ items: MemoryTransaction) throws(JournalError)
      -> [JournalRecord]
    {
      if !drafts.isEmpty { try check(drafts) }
      var result: Result<[JournalRecord], JournalError> = .success([])
      place.storage.change { storage in
        if !drafts.isEmpty, let error = storage.takeFault(at: .append) {
          result = .failure(error)
          return
        }
        storage.items.merge(items)
        let appended = storage.append(drafts)
        if !drafts.isEmpty, let error = storage.takeFault(at: .acknowledge) {
          result = .failure(error)
          return
        }
        seen.withLock { $0.follow(storage) }
        result = .success(appended)
      }
      return try result.get()
    }

    private func check(_ drafts: [JournalDraft]) throws(JournalError) {
      let maximum = JournalOptions().maximumRecordSize
      let bytes = drafts.reduce(0) { $0 + $1.payload.count }
      guard drafts.count <= BatchLimits.records, bytes <= BatchLimits.bytes else {
        throw .batchTooLarge(path: name, records: drafts.count, bytes: bytes)
      }
      for draft in drafts {
        guard !RecordKind.isReserved(draft.kind) else {
          throw .reservedKind(path: name, kind: draft.kind)
        }
        guard draft.payload.count <= maximum else {
          throw .recordTooLarge(path: name, bytes: draft.payload.count, maximum: maximum)
        }
      }
    }

    /// Returns a page of records, as `SessionLog` says.
    public func records(after sequence: UInt64, limit: Int) throws(JournalError)
      -> [JournalRecord]
    {
      try requireOpen()
      let last = lastSequence
      let found: Result<[JournalRecord], JournalError> = place.storage.withLock { storage in
        if let error = storage.takeFault(at: .read) { return .failure(error) }
        return .success(
          Array(
            storage.records.lazy
              .filter { $0.sequence > sequence && ($0.sequence <= last || $0.isSnapshot) }
              .prefix(max(0, limit))))
      }
      return try found.get()
    }

    /// Returns whether another opening has appended or compacted since the last transaction.
    public func hasNews() throws(JournalError) -> Bool {
      try requireOpen()
      return place.storage.withLock { storage in seen.withLock { $0.isOutdated(by: storage) } }
    }

    /// Returns what waits for the next change of the log.
    public func changes() -> (any LogChanges)? { MemoryLogChanges(place.storage) }

    /// Replaces all records before `first` by a snapshot, as `SessionLog` says.
    public func compact(
      keepingFrom first: UInt64, ifFirstIs expected: UInt64?, summary: some JournalSummary
    ) throws(JournalError) -> JournalCompaction? {
      try requireOpen()
      return try place.taking { () -> Result<JournalCompaction?, JournalError> in
        var result: Result<JournalCompaction?, JournalError> = .success(nil)
        place.storage.change { storage in
          if let error = storage.takeFault(at: .compact) {
            result = .failure(error)
            return
          }
          guard expected ?? storage.first == storage.first else { return }
          guard let removed = storage.compact(keepingFrom: first, summary) else { return }
          let foreign = seen.withLock { $0.take(from: storage) }
          result = .success(
            JournalCompaction(
              firstSequence: storage.first, recordsRemoved: removed, foreign: foreign))
        }
        return result
      }.get()
    }

    /// Closes this opening; the log stays.
    public func close() throws(JournalError) { seen.withLock { $0.isClosed = true } }
  }
}
