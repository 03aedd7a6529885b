@_spi(Internals) import SessionCore
import SessionJournal

/// Reads what other processes append, without a request by a caller.
///
/// - Requirement: JRN-1
extension SessionEngine {
  /// A source of change notices.
  private struct Watch {
    let changes: any LogChanges
    /// Whether the last read failed.
    ///
    /// Its notice is used up, and nothing reports that the next read would succeed.
    var isUnread = false

    /// The longest time until the log is read without a notice.
    var limit: Duration { isUnread ? .seconds(1) : changes.longestWait }
  }

  /// Reads the log whenever a change is reported, from half a second after the opening on.
  ///
  /// A watch takes a thread and 20 system calls, and most programs that only need a token have ended by
  /// then. Its first look finds what was appended before.
  func followOthers() {
    guard configuration.followsOthers else { return }
    // A simulation decides the order of steps, and has no thread to save.
    guard runtime.executor is WorkLane else { return watchOthers() }
    let runtime = runtime
    let task = runtime.spawn { [weak self] in
      await runtime.pause(500)
      if !Task.isCancelled { await self?.watchOthers() }
    }
    peers.follow(task)
  }

  /// Does nothing if no source reports changes, as in a simulated world.
  private func watchOthers() {
    guard let watch = newWatch() else { return }
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

  private func newWatch() -> Watch? { log.changes().map { Watch(changes: $0) } }

  /// Reads what is new.
  ///
  /// Returns the watch to wait for next, or `nil` if there is nothing more to wait for.
  private func lookAtOthers(watch: Watch) async -> Watch? {
    var (watch, isNew) = (watch, false)
    // The watch begins before the read, so that no change is missed in between.
    while true {
      do throws(JournalError) {
        try await takeInOthers()
      } catch {
        if case .closed = error { return nil }
        loseJournal(by: error)
        if lost != nil { return nil }
        // No caller has asked. The next one that asks receives the error.
        watch.isUnread = true
        return watch
      }
      // A log that was missing may have come back as another file.
      if watch.changes.isCurrent, !watch.isUnread { return watch }
      guard !isNew else {
        // Replaced again meanwhile. The next look follows after a pause.
        watch.isUnread = true
        return watch
      }
      guard let next = newWatch() else { return nil }
      (watch, isNew) = (next, true)
    }
  }

  /// Reads what peers have appended, before an answer to a caller depends on it.
  ///
  /// After a failure the state is the known one. A command that follows reads again, and receives
  /// the error.
  func readPeers() async {
    guard lost == nil, !coordinator.isStopped else { return }
    do throws(JournalError) {
      let records = try await locked { unknown($0) }
      if loop.isStalled {
        deliver(records)
      } else {
        feed(.observed(records, isHolderGone: isHolderGone(after: records)))
      }
    } catch {
      feed(unobserved(because: error))
    }
    await idle()
  }

  /// Reads what peers have appended, if anything, and passes it to the coordinator.
  func takeInOthers() async throws(JournalError) {
    guard try log.hasNews() else { return }
    deliver(try await locked { unknown($0) })
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
