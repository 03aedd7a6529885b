internal import Dispatch
internal import Synchronization

/// An append-only file of opaque records that several processes may share.
///
/// Every call blocks: on the disk, and on other processes up to the lock's deadline. Call it from a
/// thread that may wait. Two journals on one file, in one process or two, take turns, whatever links
/// their paths go through. Links are followed once, at opening; what stands at the place that was
/// found is looked at again with each commit. Under a limit on file sizes the system kills a process
/// that does not ignore SIGXFSZ.
///
/// - Requirement: JRN-1, JRN-2
public final class Journal: Sendable {
  /// The path that was given to open.
  public let path: String

  /// Which journal this is.
  public let identifier: JournalIdentifier

  /// What opening found and did.
  public let recovery: JournalRecovery

  private let store: Mutex<JournalStore>
  private let last: Atomic<UInt64>
  private let first: Atomic<UInt64>
  private let queue = SubmissionQueue()
  private let worker = DispatchQueue(label: "session journal")

  /// Opens the journal at `path`, creates it with mode 0600 if it is missing, and recovers its end.
  ///
  /// A mode that gives others rights is set back to 0600. A link is followed, and lock and kept
  /// files stand beside the file that it leads to; one that leads nowhere is refused. A tail that
  /// does not count is cut back to the last whole batch; its bytes are kept in
  /// `<path>.torn-<sequence>-<n>` and `recovery` tells of it. `replay` sees every record that is
  /// there, in order, before the call returns, while others wait; it must not call the journal. Throws `damaged`
  /// where acknowledged data does not read back, and changes nothing then.
  public static func open(
    at path: String, options: Options = Options(),
    replay: (JournalFrame, RawSpan) -> Void = { _, _ in }
  ) throws(JournalError) -> Journal {
    let store = try JournalStore.open(path, options, replay: replay)
    return Journal(store)
  }

  private init(_ store: consuming JournalStore) {
    path = store.path
    recovery = store.recovery
    identifier = store.scanner.header.identifier
    last = Atomic(store.scanner.lastSequence)
    first = Atomic(store.scanner.header.firstSequence)
    self.store = Mutex(store)
  }

  /// The last sequence that this object has read or written; never waits.
  public var lastSequence: UInt64 { last.load(ordering: .acquiring) }

  /// The first sequence of the file that this object last had, a snapshot's not counted; never waits.
  ///
  /// Grows when this object compacts, or goes over to a file that another one compacted.
  public var firstSequence: UInt64 { first.load(ordering: .acquiring) }

  /// Appends what `decide` answers, as one batch that is durable when the call returns.
  ///
  /// Takes the lock, catches up, and asks `decide` once with the records that others appended since
  /// the last call of this object, all of them at once. With `everyCommit` those are durable by then;
  /// they are handed over only once: if writing then fails, `decide` has had them. No drafts: nothing is written. `decide` runs under
  /// the lock and must not call the journal.
  ///
  /// Throws `busy`, `diskFull`, `recordTooLarge`, `batchTooLarge`, `reservedKind` with the journal
  /// as it was before; `io` on a failed sync, after which every call throws `poisoned`; `damaged`,
  /// `replaced`, `missing`, `closed`.
  public func transact(_ decide: (_ foreign: [JournalRecord]) -> [JournalDraft])
    throws(JournalError) -> Transaction
  {
    try withStore { store throws(JournalError) in try store.commit(decide) }
  }

  /// Appends drafts as one batch that is durable when the call returns.
  ///
  /// What arrives from other threads and tasks while a sync is under way is written and synced
  /// together, each call a batch of its own. `expected`: the sequence that the last record must
  /// have, so that what was decided on it still holds; nil if any will do. Records of others come in
  /// the result; if the call fails, with a later one.
  ///
  /// Throws `conflict` where the last record is another one, and what `transact` throws.
  public func append(_ drafts: [JournalDraft], ifLastIs expected: UInt64? = nil)
    throws(JournalError) -> Transaction
  {
    let submission = Submission(drafts, ifLastIs: expected)
    queue.add(submission)
    return try finished(submission).get()
  }

  /// Appends as `append` does, and suspends until that is done instead of blocking a thread.
  ///
  /// Written by a thread of the journal's own, in the order of submission. Cancelling the task takes
  /// nothing back: the call returns when the batch is durable, or cannot be.
  public func submit(_ drafts: [JournalDraft], ifLastIs expected: UInt64? = nil)
    async throws(JournalError) -> Transaction
  {
    let submission = Submission(drafts, ifLastIs: expected)
    if queue.addUnattended(submission) {
      worker.async { [self] in serve() }
    }
    return try await submission.wait().get()
  }

  /// Appends batches as if each had arrived while the sync before was under way.
  package func append(together batches: [[JournalDraft]]) -> [Result<Transaction, JournalError>] {
    let submissions = batches.map { Submission($0, ifLastIs: nil) }
    for submission in submissions { queue.add(submission) }
    return submissions.map { finished($0) }
  }

  /// Writes what waits until `submission` is among it; whoever had the store may have written it.
  private func finished(_ submission: Submission) -> Submission.Outcome {
    while true {
      let outcome = withStore { store -> Submission.Outcome? in
        if submission.outcome == nil { store.commit(queue.take()) }
        return submission.outcome
      }
      if let outcome { return outcome }
    }
  }

  /// How many batches wait for the next write.
  package var waitingCount: Int { queue.count }

  /// Writes what was submitted until nothing is left.
  private func serve() {
    // Taken and written while the store is held: whoever gets it next finds all before its own done.
    repeat { withStore { $0.commit(queue.take()) } } while !queue.isServed()
  }

  /// The whole records that others appended since the last call of this object; takes no lock.
  ///
  /// They may not be durable yet. Throws `io`, `damaged`, `replaced`, `missing`, `poisoned` or
  /// `closed`.
  public func catchUp() throws(JournalError) -> [JournalRecord] {
    try withStore { store throws(JournalError) in try store.catchUp() }
  }

  /// Up to `limit` records with sequences above `sequence`, none above `lastSequence`.
  ///
  /// Pages that follow each other are read on from where the last one ended; any other place is
  /// found by reading at most 1/1,024 of the file. Throws `io`, `damaged`, `poisoned` or `closed`.
  public func records(after sequence: UInt64, limit: Int) throws(JournalError) -> [JournalRecord] {
    try withStore { store throws(JournalError) in
      try store.records(after: sequence, limit: limit)
    }
  }

  /// Lets go of the file, and leaves a watermark behind the last record if nothing yet proves it
  /// durable; later calls throw `closed`, closing again does nothing.
  ///
  /// The file is let go of in any case. An error (`io`, `damaged`, `permissionDenied`,
  /// `readOnlyFolder`) says that the watermark could not be written; no record is lost by that. A
  /// full disk, a journal that is gone or replaced, and a lock that others hold are no errors here.
  public func close() throws(JournalError) {
    try withStore { store throws(JournalError) in try store.close() }
  }

  func withStore<Value: Sendable, Failure>(
    _ body: (inout JournalStore) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try store.withLock { store throws(Failure) -> Value in
      defer {
        first.store(store.scanner.header.firstSequence, ordering: .releasing)
        last.store(store.scanner.lastSequence, ordering: .releasing)
      }
      return try body(&store)
    }
  }
}

extension Journal {
  /// What one commit found and did.
  public struct Transaction: Equatable, Sendable {
    /// What others appended since the last call, in order.
    public let foreign: [JournalRecord]

    /// What this call appended, in order.
    public let appended: [JournalRecord]

    /// The tail that a writer who died had left, and that was cut; nil mostly.
    public let repair: JournalRepair?

    /// Makes a transaction of its parts.
    public init(
      foreign: [JournalRecord], appended: [JournalRecord], repair: JournalRepair? = nil
    ) {
      self.foreign = foreign
      self.appended = appended
      self.repair = repair
    }
  }
}

extension JournalStore {
  fileprivate mutating func records(after sequence: UInt64, limit: Int) throws(JournalError)
    -> [JournalRecord]
  {
    try requireUsable()
    if pager == nil { pager = try RecordPager(path: path, file: scanner.file) }
    return try pager?.records(
      after: sequence, through: scanner.lastSequence, limit: limit, index: scanner.index) ?? []
  }
}
