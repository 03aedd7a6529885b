@_spi(Internals) import SessionCore
import SessionJournal

/// Reads what other processes append, without a request by a caller.
///
/// - Requirement: JRN-1
extension SessionEngine {
  /// A source of change notices for one of the files that had the journal's name.
  private struct Watch {
    let changes: FileChanges
    /// The first sequence of the file.
    ///
    /// Compaction replaces the file by one with another first sequence.
    let first: UInt64
    /// Whether no file had the name.
    ///
    /// A file that gets the name later causes no notice.
    var isMissing = false

    /// The longest time until the journal is read without a notice.
    ///
    /// A notice can be relied on if the file is on this system's own disk. Then the journal is read
    /// for safety only, so rarely that ten thousand sessions cost nothing.
    var limit: Duration {
      switch isMissing ? false : changes.isNotifiedOfAll {
      case true?: .seconds(600)
      case nil: .seconds(60)
      case false?: .seconds(1)
      }
    }
  }

  /// Reads the journal whenever the system reports a change of its file.
  ///
  /// Does nothing if no source reports changes, as in a simulated world.
  func followOthers() {
    guard configuration.followsOthers, let watch = newWatch() else { return }
    let task = runtime.spawn { [weak self] in
      var current = watch
      while !Task.isCancelled {
        guard let next = await self?.lookAtOthers(watch: current) else { return }
        current = next
        await current.changes.wait(atMost: current.limit)
      }
    }
    peers.follow(task)
  }

  private func newWatch() -> Watch? {
    let first = journal.firstSequence
    let changes = configuration.journalOptions.fileSystem.changes(of: journal.path)
    return changes.map { Watch(changes: $0, first: first) }
  }

  /// Reads what is new.
  ///
  /// Returns the watch to wait for next, or `nil` if there is nothing more to wait for.
  private func lookAtOthers(watch: Watch) -> Watch? {
    var watch = watch
    // The watch begins before the read, so that no change is missed in between.
    while true {
      if watch.first != journal.firstSequence {
        guard let next = newWatch() else { return nil }
        watch = next
      }
      do throws(JournalError) {
        try takeInOthers()
      } catch {
        if case .closed = error { return nil }
        loseJournal(by: error)
        if lost != nil { return nil }
        // No caller has asked. The next one that asks receives the error.
        if case .missing = error { watch.isMissing = true } else { watch.isMissing = false }
        return watch
      }
      watch.isMissing = false
      if watch.first == journal.firstSequence { return watch }
    }
  }

  /// Reads what peers have appended, before an answer to a caller depends on it.
  ///
  /// After a failure the state is the known one. A command that follows reads again, and receives
  /// the error.
  func readPeers() {
    guard lost == nil, !coordinator.isStopped else { return }
    feed(observe())
  }

  /// Reads what peers have appended, if anything, and passes it to the coordinator.
  func takeInOthers() throws(JournalError) {
    guard try journal.hasNews() else { return }
    let records = try journal.locked { unknown($0) }
    if !records.isEmpty { feed(.observed(records, isHolderGone: false)) }
  }
}

/// What other processes append: the task that reads it, and records that were not passed on yet.
struct Peers: Sendable {
  /// Records that were read under the lock but not yet passed to the coordinator.
  var undelivered: [SessionRecord] = []
  private var follower: Task<Void, Never>?

  /// Returns the records that were not passed on, which count as passed on now.
  mutating func takeUndelivered() -> [SessionRecord] {
    defer { undelivered = [] }
    return undelivered
  }

  /// Sets the task that reads the journal after a change of its file.
  mutating func follow(_ task: Task<Void, Never>) { follower = task }

  func stopFollowing() { follower?.cancel() }
}
