@_spi(Internals) import SessionCore
import SessionJournal

/// What other processes append, taken in without being asked.
///
/// - Requirement: JRN-1
extension SessionEngine {
  /// What tells of changes, and of which of the files that had the journal's name.
  private struct Watch {
    let changes: FileChanges
    /// The first sequence of the file: compacting puts another one in its place.
    let first: UInt64
    /// Whether no file had the name: another one may get it, of which nobody tells.
    var isMissing = false
  }

  /// Looks at the journal whenever the system tells that its file has changed; never where nobody
  /// can, as in a simulated world.
  func followOthers() {
    guard configuration.followsOthers, let watch = newWatch() else { return }
    follower = runtime.spawn { [weak self] in
      var current = watch
      while !Task.isCancelled {
        guard let next = await self?.lookAtOthers(watch: current) else { return }
        current = next
        // The system may forget to tell, most of all where the file is on a network.
        let isTold = current.changes.isTold && !current.isMissing
        await current.changes.wait(atMost: isTold ? .seconds(60) : .seconds(1))
      }
    }
  }

  private func newWatch() -> Watch? {
    let first = journal.firstSequence
    let changes = configuration.journalOptions.fileSystem.changes(of: journal.path)
    return changes.map { Watch(changes: $0, first: first) }
  }

  /// Takes in what there is; what to wait for next, or `nil` where there is no more to come.
  private func lookAtOthers(watch: Watch) -> Watch? {
    var watch = watch
    // Watched before it is looked at, so that no change falls between.
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
        // Nobody has asked; who does is told.
        if case .missing = error { watch.isMissing = true } else { watch.isMissing = false }
        return watch
      }
      watch.isMissing = false
      if watch.first == journal.firstSequence { return watch }
    }
  }

  /// Reads what others appended, if there is anything, and tells the coordinator of it.
  func takeInOthers() throws(JournalError) {
    guard try journal.hasNews() else { return }
    var records: [SessionRecord] = []
    _ = try journal.transact { foreign in
      records = unknown(foreign)
      return []
    }
    if !records.isEmpty { feed(.observed(records, isHolderGone: false)) }
  }
}
