/// An asynchronous sequence of a journal's records: those that exist and those that any process
/// appends.
///
/// Reads without a lock, as soon as the system reports a change. Crosses compactions without gap or
/// duplicate. If it has not yet read records that a compaction replaced, it returns the snapshot
/// first.
///
/// It ends when its task is cancelled. It throws when the file is damaged, cut or rewritten, when
/// another journal or another copy replaces it, and when it is gone.
public struct JournalFollower: AsyncSequence, Sendable {
  /// A record with its bytes.
  public typealias Element = JournalRecord
  /// Why following cannot continue.
  public typealias Failure = JournalError

  private let path: String
  private let sequence: UInt64
  private let interval: Duration

  /// Follows the journal at `path` from the record after `sequence`, which may not exist yet.
  ///
  /// If the system does not report changes, the file is checked after each `interval`. If it does,
  /// the file is checked all the same, but at most once a second: some file systems miss changes.
  public init(
    path: String, after sequence: UInt64 = 0, interval: Duration = .milliseconds(100)
  ) {
    self.path = path
    self.sequence = sequence
    self.interval = interval
  }

  /// Returns an iterator; it opens the file when the first record is requested.
  public func makeAsyncIterator() -> Iterator {
    Iterator(path: path, sequence: sequence, interval: interval)
  }

  /// An iterator over a journal, which does not end by itself.
  public struct Iterator: AsyncIteratorProtocol {
    private let tail: FollowedFile
    private let interval: Duration

    init(path: String, sequence: UInt64, interval: Duration) {
      tail = FollowedFile(path: path, sequence: sequence)
      self.interval = interval
    }

    /// Waits for the next record; nil when the task is cancelled.
    public mutating func next() async throws(JournalError) -> JournalRecord? {
      try await next(isolation: nil)
    }

    /// Waits for the next record; nil when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(JournalError)
      -> JournalRecord?
    {
      while !Task.isCancelled {
        if let record = try tail.next() { return record }
        await tail.change(within: interval, isolation: actor)
      }
      return nil
    }
  }
}

/// The reader of one follower: a class, because a reader cannot be copied but an iterator can.
package final class FollowedFile {
  private let path: String
  private let fileSystem: any JournalFileSystem
  private var sequence: UInt64
  private var last: JournalRecord?

  /// The last record that was returned, until the replacement file has shown it too.
  private var unmet: JournalRecord?
  private var reader: JournalReader?
  private var changes: FileChanges?

  package init(
    path: String, sequence: UInt64, fileSystem: any JournalFileSystem = POSIXFileSystem()
  ) {
    self.path = path
    self.sequence = sequence
    self.fileSystem = fileSystem
  }

  /// Returns the next record; nil if there is none yet.
  package func next() throws(JournalError) -> JournalRecord? {
    if reader == nil { reader = try opened() }
    while true {
      if let record = try nextHere() { return record }
      guard try reader?.isReplaced() == true else {
        try refuseDamage()
        return nil
      }
      // No process appends to the old file any more: the rest of it is complete.
      if let record = try nextHere() { return record }
      try followReplacement()
    }
  }

  private func nextHere() throws(JournalError) -> JournalRecord? {
    while let record = try reader?.next() {
      if let unmet, record.sequence >= unmet.sequence {
        guard record.isSnapshot || unmet.isSame(as: record) else { throw otherHistory() }
        self.unmet = nil
      }
      guard record.sequence > sequence else { continue }
      (sequence, last) = (record.sequence, record)
      return record
    }
    return nil
  }

  private func followReplacement() throws(JournalError) {
    guard let expected = reader?.identifier else { return }
    let next = try opened()
    guard next.identifier == expected else {
      throw .replaced(path: path, expected: expected, found: next.identifier)
    }
    reader = consume next
    unmet = last
  }

  /// Returns the error for a file that was cut, rewritten or replaced by another copy.
  private func otherHistory() -> JournalError {
    .damaged(
      path: path,
      JournalDamage(offset: last?.offset ?? 0, sequence: sequence, flaw: .historyChanged))
  }

  /// Waits until the file may have changed, the limit is reached, or the task is cancelled.
  func change(within interval: Duration, isolation: isolated (any Actor)?) async {
    if let changes, changes.isNotified {
      return await changes.wait(atMost: max(interval, .seconds(1)))
    }
    do {
      try await ProcessTimers.shared.sleep(for: interval)
    } catch {
      // Cancelled: the caller checks for that.
    }
  }

  /// Opens the file, and watches it before its records are visited, so that no change is missed.
  private func opened() throws(JournalError) -> JournalReader {
    while true {
      let reader = try JournalReader(path: path, fileSystem: fileSystem)
      changes = fileSystem.changes(of: path)
      // Otherwise another file is watched than is open.
      if try !reader.isReplaced() { return reader }
    }
  }

  /// Throws if the file is damaged or has another history; a torn tail may be a batch in progress.
  private func refuseDamage() throws(JournalError) {
    // A compacted file holds everything that was there before it took the name.
    guard unmet == nil, try reader?.isContinued() == true else { throw otherHistory() }
    if case .damaged(let damage) = try reader?.endingBehindRecords() {
      throw .damaged(path: path, damage)
    }
  }
}
