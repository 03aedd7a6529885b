/// The records of a journal, those that are there and those that come, whoever appends them.
///
/// Reads without a lock, as soon as the system tells of a change, and crosses compactions without gap
/// or duplicate; where it is behind what was compacted, the snapshot comes first. Ends when its task is
/// cancelled; throws when the file is damaged, cut or rewritten, replaced by another journal or by
/// another copy, or gone.
public struct JournalFollower: AsyncSequence, Sendable {
  /// One record with its bytes.
  public typealias Element = JournalRecord
  /// Why following cannot go on.
  public typealias Failure = JournalError

  private let path: String
  private let sequence: UInt64
  private let interval: Duration

  /// Follows the journal at `path` behind `sequence`; one beyond the end is waited for.
  ///
  /// Where the system does not tell of changes it looks again after each `interval`; where it does,
  /// after each `interval` or second, whichever is longer, all the same: some file systems forget to.
  public init(
    path: String, after sequence: UInt64 = 0, interval: Duration = .milliseconds(100)
  ) {
    self.path = path
    self.sequence = sequence
    self.interval = interval
  }

  /// Begins to follow; the file is opened with the first record that is asked for.
  public func makeAsyncIterator() -> Iterator {
    Iterator(path: path, sequence: sequence, interval: interval)
  }

  /// One pass over a journal that does not end by itself.
  public struct Iterator: AsyncIteratorProtocol {
    private let tail: FollowedFile
    private let interval: Duration

    init(path: String, sequence: UInt64, interval: Duration) {
      tail = FollowedFile(path: path, sequence: sequence)
      self.interval = interval
    }

    /// The next record, waited for; nil when the task is cancelled.
    public mutating func next() async throws(JournalError) -> JournalRecord? {
      try await next(isolation: nil)
    }

    /// The next record, waited for; nil when the task is cancelled.
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

/// The reader of one follower, kept apart because a reader cannot be copied and an iterator can.
package final class FollowedFile {
  private let path: String
  private let fileSystem: any JournalFileSystem
  private var sequence: UInt64
  private var last: JournalRecord?

  /// The last record that was handed over, until the file that took the place of another shows it.
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

  /// The next record; nil if there is none yet.
  package func next() throws(JournalError) -> JournalRecord? {
    if reader == nil { reader = try opened() }
    while true {
      if let record = try nextHere() { return record }
      guard try reader?.isReplaced() == true else {
        try refuseDamage()
        return nil
      }
      // Nobody appends to the old file any more: what came to it since the last look is all.
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

  /// What was handed over is not what the file holds: it was cut or rewritten, or is another copy.
  private func otherHistory() -> JournalError {
    .damaged(
      path: path,
      JournalDamage(offset: last?.offset ?? 0, sequence: sequence, flaw: .historyChanged))
  }

  /// Waits until the file may have changed, the limit is over, or the task is cancelled.
  func change(within interval: Duration, isolation: isolated (any Actor)?) async {
    if let changes, changes.isTold {
      return await changes.wait(atMost: max(interval, .seconds(1)))
    }
    do {
      try await Task.sleep(for: interval)
    } catch {
      // Cancelled: whoever asks again is told so.
    }
  }

  /// Watched before it is read, so that no change falls between.
  private func opened() throws(JournalError) -> JournalReader {
    while true {
      let reader = try JournalReader(path: path, fileSystem: fileSystem)
      changes = fileSystem.changes(of: path)
      // Otherwise it is another file that is watched.
      if try !reader.isReplaced() { return reader }
    }
  }

  /// A tail that is torn may be a batch on its way; one that is damaged will not get better.
  private func refuseDamage() throws(JournalError) {
    // Who renames a compacted file into place has all in it that was there.
    guard unmet == nil, try reader?.isContinued() == true else { throw otherHistory() }
    if case .damaged(let damage) = try reader?.endingBehindRecords() {
      throw .damaged(path: path, damage)
    }
  }
}
