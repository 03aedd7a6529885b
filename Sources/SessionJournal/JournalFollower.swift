/// The records of a journal, those that are there and those that come, whoever appends them.
///
/// Reads without a lock, by polling, and crosses compactions without gap or duplicate; where it is
/// behind what was compacted, the snapshot comes first. Ends when its task is cancelled; throws when
/// the file is damaged, replaced by another journal, or gone.
public struct JournalFollower: AsyncSequence, Sendable {
  /// One record with its bytes.
  public typealias Element = JournalRecord
  /// Why following cannot go on.
  public typealias Failure = JournalError

  private let path: String
  private let sequence: UInt64
  private let interval: Duration

  /// Follows the journal at `path` behind `sequence`, looking again after each `interval`.
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
        do {
          try await Task.sleep(for: interval)
        } catch {
          return nil
        }
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
  private var reader: JournalReader?

  /// How long the file was when its end was last judged.
  private var judgedSize: UInt64 = 0

  package init(
    path: String, sequence: UInt64, fileSystem: any JournalFileSystem = POSIXFileSystem()
  ) {
    self.path = path
    self.sequence = sequence
    self.fileSystem = fileSystem
  }

  /// The next record; nil if there is none yet.
  package func next() throws(JournalError) -> JournalRecord? {
    if reader == nil { reader = try JournalReader(path: path, fileSystem: fileSystem) }
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
      guard record.sequence > sequence else { continue }
      sequence = record.sequence
      return record
    }
    return nil
  }

  private func followReplacement() throws(JournalError) {
    guard let expected = reader?.identifier else { return }
    let next = try JournalReader(path: path, fileSystem: fileSystem)
    guard next.identifier == expected else {
      throw .replaced(path: path, expected: expected, found: next.identifier)
    }
    reader = consume next
    judgedSize = 0
  }

  /// A tail that is torn may be a batch on its way; one that is damaged will not get better.
  private func refuseDamage() throws(JournalError) {
    guard let size = try reader?.size(), size != judgedSize else { return }
    judgedSize = size
    if case .damaged(let damage) = try reader?.endingBehindRecords() {
      throw .damaged(path: path, damage)
    }
  }
}
