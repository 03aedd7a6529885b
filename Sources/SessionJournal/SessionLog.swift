/// One opening of an append-only log of opaque records: what a session needs of its storage.
///
/// ``Journal`` is a log in a file. Another type can store the same records elsewhere, for example in
/// a database. `Specs/Logs.md` lists all promises, and the checks of SessionTestKit test them.
///
/// Several openings share one log, in one process or in many. These rules hold for every log:
///
/// - Sequences grow. No record is changed or removed, except that a compaction replaces the oldest
///   records by one snapshot.
/// - The records of one batch become durable together, in order, or not at all.
/// - An opening receives each record of other openings once, in order, in the `foreign` of a
///   ``transact(_:)`` or of a ``compact(keepingFrom:ifFirstIs:summary:)``. It never receives its own.
/// - Each call blocks until its work is done, and any thread may call. Calls of one opening take
///   turns. No call waits longer than some milliseconds for another opening: it throws
///   `JournalError.busy`, and the caller tries again later.
/// - No error, name or description contains a secret.
///
/// - Requirement: SCL-1
public protocol SessionLog: AnyObject, Sendable {
  /// The name of the log in messages and stored items: a path, or an address without secrets.
  ///
  /// All openings of a log have the same name, and two logs have two names.
  var name: String { get }

  /// The identity of the log, assigned at random when it was created; it never changes.
  var identifier: JournalIdentifier { get }

  /// The first sequence that the log still holds, as far as this opening knows; never waits.
  ///
  /// A snapshot is not counted. The value is 1 before the first compaction. It grows if this opening
  /// compacts the log, or finds that another one has.
  var firstSequence: UInt64 { get }

  /// The last sequence that this opening has read or written, 0 if there is none; never waits.
  var lastSequence: UInt64 { get }

  /// Appends the drafts that `decide` returns, as one batch that is durable when the call returns.
  ///
  /// 1. The call excludes all other openings of the log, until it returns.
  /// 2. It reads what other openings appended since the last call of this opening. Those records are
  ///    durable.
  /// 3. It calls `decide` once, on the same thread, with those records. `decide` must not call the
  ///    log.
  /// 4. It appends the drafts. The first one gets the sequence after the last record that `decide`
  ///    knew, or a higher one. If there are no drafts, nothing is written, and the call cannot fail
  ///    after `decide`.
  ///
  /// If the log stores secrets too, those that `decide` writes on its thread become durable together
  /// with the batch. If the batch is not appended, they are as they were before.
  ///
  /// A ``TransactionError`` says how far the call came:
  /// - `unavailable`: `decide` was not called, and nothing was written. The records of others are
  ///   returned by a later call. With `busy` another opening excludes this one. With
  ///   `JournalError.unavailable` the server does not answer.
  /// - `refused`: `decide` threw, and nothing was written.
  /// - `appendFailed`: `decide` has returned, and its batch is not in the log. One exception: after
  ///   `io` or `JournalError.unavailable` the batch may be durable. The next successful call on this
  ///   opening must make that certain before it calls `decide`. It then either hands over the batch
  ///   as `foreign`, or fails with `poisoned` until the log is opened again.
  ///
  /// No later call returns records that `decide` has received.
  func transact<Value: Sendable, Refusal: Error>(
    _ decide: (_ foreign: [JournalRecord]) throws(Refusal) -> (drafts: [JournalDraft], value: Value)
  ) throws(TransactionError<Value, Refusal>) -> (transaction: JournalTransaction, value: Value)

  /// Returns up to `limit` records with sequences above `sequence` and at most ``lastSequence``.
  ///
  /// The result is in order and has no gap. If a snapshot has replaced the record after `sequence`,
  /// the snapshot is the first result, even if it reaches beyond ``lastSequence``. Does not wait for
  /// other openings. Throws `io`, `unavailable`, `damaged`, `poisoned` or `closed`.
  func records(after sequence: UInt64, limit: Int) throws(JournalError) -> [JournalRecord]

  /// Returns whether others may have appended since the last call of ``transact(_:)``.
  ///
  /// May return true although there is nothing, and never returns false if there is something that
  /// was durable before the call. Does not wait for other openings, and is cheap: sessions ask before
  /// each request. Throws the errors of `transact`, without `busy`.
  func hasNews() throws(JournalError) -> Bool

  /// Returns what waits until others may have appended, from now on; nil if others cannot append.
  ///
  /// The session asks again if ``LogChanges/isCurrent`` is false.
  func changes() -> (any LogChanges)?

  /// Replaces all records before `first` by a snapshot.
  ///
  /// `summary` must be empty. It receives every record before the snapshot's place once, in order.
  /// A log may keep more: it never splits a batch, and `first` may be beyond the last record. Other
  /// openings continue without gap or duplicate. If one has not read the replaced records yet, it
  /// receives them, or the snapshot in their place.
  ///
  /// `expected` is the value that ``firstSequence`` must have, so that the caller's decision still
  /// holds; nil if any will do. Returns nil, with nothing changed, if no record is before `first`, if
  /// the first sequence is not `expected`, or if the summary makes no snapshot.
  ///
  /// Throws `busy`, `diskFull`, `io`, `unavailable` or `compactionRefused`; the log is then as it was
  /// before and still usable. Throws `poisoned`, `damaged`, `replaced`, `missing` or `closed`.
  func compact(
    keepingFrom first: UInt64, ifFirstIs expected: UInt64?, summary: some JournalSummary
  ) throws(JournalError) -> JournalCompaction?

  /// Closes this opening; later calls throw `closed`, and closing again does nothing.
  ///
  /// No acknowledged record is lost, even if this throws. Does not wait for other openings.
  func close() throws(JournalError)
}

extension SessionLog {
  /// Asks each second, for a log whose storage reports no changes.
  public func changes() -> (any LogChanges)? { PolledChanges() }

  /// Calls `work` with what others appended, while no other opening appends; appends nothing.
  package func locked<Value: Sendable>(_ work: (_ foreign: [JournalRecord]) -> Value)
    throws(JournalError) -> Value
  {
    do throws(TransactionError<Value, Never>) {
      return try transact { foreign in ([], work(foreign)) }.value
    } catch {
      throw error.journalError
    }
  }
}

/// The place of a log: what a configuration holds, and what opens the log.
///
/// A value, or an object that any number of openings may share.
///
/// - Requirement: SCL-1
public protocol SessionLogPlace: Sendable {
  /// The type of an opening of the log.
  associatedtype Log: SessionLog

  /// The name of the log, equal to that of its openings.
  var name: String { get }

  /// Returns whether a log is here; creates nothing and does not wait for other openings.
  ///
  /// `absent` must be proven, since secrets of an absent log may be removed. In any doubt the result
  /// is `unknown`.
  func presence() -> LogPresence

  /// Opens the log, and creates it if it is absent.
  ///
  /// `replay` receives every record in order before the call returns: the snapshot first, if there is
  /// one. Those records count as received by the opening. The payload is valid during the call only.
  /// Others may append meanwhile; the opening receives those records later.
  ///
  /// Waits some milliseconds at most for other openings, then throws `busy`. Throws `unavailable` if
  /// the server does not answer, and `damaged`, with nothing changed, if acknowledged records are
  /// missing or changed.
  func open(replay: (RecordHeader, RawSpan) -> Void) throws(JournalError) -> Log
}

/// Whether a log is at its place, as far as this process can determine.
public enum LogPresence: Equatable, Sendable {
  /// A log with this identifier is there.
  case present(JournalIdentifier)

  /// It is proven that nothing is there.
  ///
  /// For a file: the nearest existing folder was read and does not hold the name.
  case absent

  /// It is unknown: something is there that cannot be read, or the place cannot be reached.
  case unknown(JournalError)
}

/// The place of a log in a file: a journal.
///
/// Calls of an opening wait for the lock as long as the options say. Give a `lockDeadline` of some
/// milliseconds if sessions share the thread.
public struct JournalPlace: SessionLogPlace {
  /// The path of the file.
  public let path: String

  /// How the journal is opened.
  public let options: JournalOptions

  /// Creates the place of a journal; its folder must exist when it is opened.
  public init(path: String, options: JournalOptions = JournalOptions()) {
    (self.path, self.options) = (path, options)
  }

  /// The same as ``path``.
  public var name: String { path }

  /// Reads the header of the file, and takes no lock.
  public func presence() -> LogPresence { Journal.presence(at: path, options: options) }

  /// Opens the journal, creates it if it is missing, and recovers its end, as ``Journal`` says.
  public func open(replay: (RecordHeader, RawSpan) -> Void) throws(JournalError) -> Journal {
    try Journal.open(at: path, options: options) { frame, payload in replay(frame.record, payload) }
  }
}

extension Journal: SessionLog {
  /// The same as ``path``.
  public var name: String { path }
}
