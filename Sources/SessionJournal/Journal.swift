internal import Synchronization

/// An append-only file of opaque records that several processes may share.
///
/// Every call blocks: on the disk, and on other processes up to the lock's deadline. Call it from a
/// thread that may wait.
///
/// Two journals on one file take turns. They may be in one process or in two, and their paths may
/// differ by links. Links are followed once, when the journal is opened. Each commit checks again
/// which file is at the path that was found.
///
/// If there is a limit on file sizes, the process should ignore SIGXFSZ: the system would kill it
/// otherwise.
///
/// - Requirement: JRN-1, JRN-2
public final class Journal: Sendable {
  /// The path that was given to `open`.
  public let path: String

  /// The identifier of this journal.
  public let identifier: JournalIdentifier

  /// What opening the journal found and did.
  public let recovery: JournalRecovery

  private let fileSystem: any JournalFileSystem
  private let store: Mutex<JournalStore>
  private let last: Atomic<UInt64>
  private let first: Atomic<UInt64>
  private let queue = SubmissionQueue()
  private let worker = WorkLane(on: .waiting)

  /// Opens the journal at `path`, creates it with mode 0600 if it is missing, and recovers its end.
  ///
  /// - A mode that gives rights to other users is set back to 0600.
  /// - A symbolic link is followed. The lock file and kept files are next to its target. A link
  ///   without a target is refused, unless the target was quarantined.
  /// - A torn or undetermined tail is cut back to the last whole batch. Its bytes are kept in
  ///   `<path>.torn-<sequence>-<n>`, and `recovery` reports it.
  ///
  /// `replay` receives every record in order before the call returns. Other processes wait
  /// meanwhile, and `replay` must not call the journal. Throws `damaged`, and changes nothing, if
  /// acknowledged data is missing or changed.
  public static func open(
    at path: String, options: JournalOptions = JournalOptions(),
    replay: (JournalFrame, RawSpan) -> Void = { _, _ in }
  ) throws(JournalError) -> Journal {
    let store = try JournalStore.open(path, options, replay: replay)
    return Journal(store)
  }

  /// Opens the journal at `path` by reading it, without a lock, a sync or a write.
  ///
  /// The first call that takes the lock makes what was read durable, and does what else ``open`` does.
  /// Returns nil if that cannot wait. Then `replay` has received records that may not count.
  ///
  /// - Requirement: LCH-1
  package static func read(
    at path: String, options: JournalOptions, replay: (JournalFrame, RawSpan) -> Void
  ) throws(JournalError) -> Journal? {
    guard let store = try JournalStore.read(path, options, replay: replay) else { return nil }
    return Journal(store)
  }

  private init(_ store: consuming JournalStore) {
    path = store.path
    fileSystem = store.fileSystem
    recovery = store.recovery
    identifier = store.scanner.header.identifier
    last = Atomic(store.scanner.lastSequence)
    first = Atomic(store.scanner.header.firstSequence)
    self.store = Mutex(store)
  }

  /// The last sequence that this object has read or written; never waits.
  public var lastSequence: UInt64 { last.load(ordering: .acquiring) }

  /// The first sequence of the file that this object used last; never waits.
  ///
  /// The snapshot is not counted. The value grows if this object compacts the file, or finds that
  /// another one has.
  public var firstSequence: UInt64 { first.load(ordering: .acquiring) }

  /// Appends the drafts that `decide` returns, as one batch that is durable when the call returns.
  ///
  /// Takes the lock, reads what others appended, and calls `decide` once. `decide` receives all
  /// records that others appended since the last call of this object. With `everyCommit` those
  /// records are durable by then. It receives them only once, even if the write fails afterwards.
  /// It runs under the lock and must not call the journal.
  ///
  /// `decide` also returns a value of the caller, which this call returns or throws. So the caller
  /// knows what it did under the lock even if the append fails. If there are no drafts, nothing is
  /// written, and the call cannot fail after `decide`.
  ///
  /// A ``TransactionError`` says how far the call came. Its journal errors are:
  /// - `busy`, `diskFull`, `recordTooLarge`, `batchTooLarge` or `reservedKind`: the journal is as
  ///   it was before.
  /// - `io` on a failed sync: every later call throws `poisoned`.
  /// - `damaged`, `replaced`, `missing`, `poisoned` or `closed`.
  public func transact<Value, Refusal>(
    _ decide: (_ foreign: [JournalRecord]) throws(Refusal) -> (drafts: [JournalDraft], value: Value)
  ) throws(TransactionError<Value, Refusal>) -> (transaction: JournalTransaction, value: Value) {
    try withStore { store throws(TransactionError<Value, Refusal>) in try store.commit(decide) }
  }

  /// Appends drafts as one batch that is durable when the call returns.
  ///
  /// Drafts from other threads and tasks that arrive during a sync share the next write and sync.
  /// Each call stays a batch of its own. `expected` is the sequence that the last record must have,
  /// so that the caller's decision still holds; nil if any will do. The result holds the records
  /// that others appended. If the call fails, a later call returns them.
  ///
  /// Throws `conflict` if the last record is another one, and the journal errors of `transact`.
  public func append(_ drafts: [JournalDraft], ifLastIs expected: UInt64? = nil)
    throws(JournalError) -> JournalTransaction
  {
    let submission = Submission(drafts, ifLastIs: expected)
    queue.add(submission)
    return try finished(submission).get()
  }

  /// Appends drafts like `append`, but suspends instead of blocking a thread.
  ///
  /// A thread of the process's pool writes them in the order of submission. Cancelling the task does not
  /// withdraw the drafts. The call returns when the batch is durable, or throws when it cannot be.
  public func submit(_ drafts: [JournalDraft], ifLastIs expected: UInt64? = nil)
    async throws(JournalError) -> JournalTransaction
  {
    let submission = Submission(drafts, ifLastIs: expected)
    if queue.addUnattended(submission) {
      worker.perform { [self] in serve() }
    }
    return try await submission.wait().get()
  }

  /// Appends batches as if all had arrived during the same sync.
  package func append(together batches: [[JournalDraft]]) -> [Result<
    JournalTransaction, JournalError
  >] {
    let submissions = batches.map { Submission($0, ifLastIs: nil) }
    for submission in submissions { queue.add(submission) }
    return submissions.map { finished($0) }
  }

  /// Writes waiting submissions until `submission` has an outcome; another thread may have written
  /// it.
  private func finished(_ submission: Submission) -> Submission.Outcome {
    while true {
      let outcome = withStore { store -> Submission.Outcome? in
        if submission.outcome == nil { store.commit(queue.take()) }
        return submission.outcome
      }
      if let outcome { return outcome }
    }
  }

  /// The number of batches that wait for the next write.
  package var waitingCount: Int { queue.count }

  /// Writes submissions until none is left.
  private func serve() {
    // Taken and written while the store is held: so the next thread finds all earlier ones done.
    repeat { withStore { $0.commit(queue.take()) } } while !queue.isServed()
  }

  /// Returns the whole records that others appended since the last call of this object.
  ///
  /// Takes no lock, so the records may not be durable yet. Throws `io`, `damaged`, `replaced`,
  /// `missing`, `poisoned` or `closed`.
  public func catchUp() throws(JournalError) -> [JournalRecord] {
    try withStore { store throws(JournalError) in try store.catchUp() }
  }

  /// Returns up to `limit` records with sequences above `sequence` and at most `lastSequence`.
  ///
  /// Consecutive pages are read without a search. Any other place is found by reading about 1/512 of
  /// the file, or 64 KiB if that is more. Throws `io`, `damaged`, `poisoned` or `closed`.
  public func records(after sequence: UInt64, limit: Int) throws(JournalError) -> [JournalRecord] {
    try withStore { store throws(JournalError) in
      try store.records(after: sequence, limit: limit)
    }
  }

  /// Closes the file; later calls throw `closed`, and closing again does nothing.
  ///
  /// Appends a watermark first, unless the file already proves that its last record is durable. The
  /// file is closed in any case. An error (`io`, `damaged`, `permissionDenied`, `readOnlyFolder`)
  /// says that the watermark could not be written. No record is lost by that. These are not errors
  /// here: a full disk, a journal that is gone or replaced, and a lock that others hold.
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

  /// Whether others may have appended or replaced the file since the last call of this object.
  ///
  /// Takes no lock; two system calls.
  public func hasNews() throws(JournalError) -> Bool {
    try withStore { store throws(JournalError) in try store.hasNews() }
  }

  /// Watches the file that is at the path now; nil if its file system reports and shares nothing.
  public func changes() -> (any LogChanges)? { fileSystem.changes(of: path) }
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

  fileprivate func hasNews() throws(JournalError) -> Bool {
    try requireUsable()
    guard undelivered.isEmpty else { return true }
    guard try location.status(fileSystem).identity == scanner.identity else {
      return true
    }
    return try scanner.surroundings() != .quiet
  }
}

extension Journal {
  /// Determines whether a journal is at `path`; reads its header and takes no lock.
  ///
  /// - Requirement: RES-7
  package static func presence(at path: String, options: JournalOptions) -> LogPresence {
    let fileSystem = options.fileSystem
    do throws(JournalError) {
      return .present(try JournalReader(path: path, fileSystem: fileSystem).identifier)
    } catch .missing {
      return absence(of: path, fileSystem)
    } catch {
      return .unknown(error)
    }
  }

  /// Searches upwards for the first folder that exists: only its listing can prove an absence.
  ///
  /// These prove nothing, since what is missing may be on a disk that is not mounted:
  /// - a link that leads nowhere,
  /// - an empty folder above the journal's own, which may be the place of a mount,
  /// - a folder in which systems mount disks.
  private static func absence(of path: String, _ fileSystem: any JournalFileSystem)
    -> LogPresence
  {
    var place = Substring(path)
    while true {
      let name = place.lastIndex(of: "/").map { place[place.index(after: $0)...] } ?? place
      do throws(SystemFault) {
        let isDangling = try isLink(String(place), fileSystem)
        guard !isDangling else {
          return .unknown(.danglingLink(path: path))
        }
        let names = try fileSystem.names(beside: String(place))
        let folder = place.dropLast(name.count + 1)
        let isEmpty = names.allSatisfy { [".", ".."].contains($0) }
        let mayMount = place != path[...] && isEmpty || mountFolders.contains(String(folder))
        guard !mayMount else { return .unknown(.folderMissing(path: path)) }
        // It was created during the search.
        return names.contains(String(name)) ? .unknown(.missing(path: path)) : .absent
      } catch {
        guard error.isMissing else { return .unknown(error.error(at: path)) }
      }
      place = place.dropLast(name.count)
      while place.count > 1, place.last == "/" { place.removeLast() }
      guard !place.isEmpty, place != "/" else { return .unknown(.folderMissing(path: path)) }
    }
  }

  private static let mountFolders: Set = ["/Volumes", "/media", "/mnt", "/run/media"]

  private static func isLink(_ path: String, _ fileSystem: any JournalFileSystem)
    throws(SystemFault) -> Bool
  {
    do throws(SystemFault) { return try fileSystem.isLink(path) } catch {
      guard error.isMissing else { throw error }
      return false
    }
  }
}
