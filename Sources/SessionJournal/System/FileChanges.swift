internal import Synchronization

/// A signal that wakes a waiting task when the system reports a change of a file.
///
/// Some file systems report no changes, and a network file system none by other systems. So every
/// wait has a limit.
package final class FileChanges: LogChanges {
  private let signal: ChangeSignal
  private let notifier: ChangeNotifier
  private let watch: ChangeNotifier.Watch?
  private let path: String
  /// The file that is watched; nil if none was at the path.
  private let identity: FileStatus.Identity?

  /// Whether the system reports changes; if not, every wait lasts to its limit.
  package var isNotified: Bool { watch != nil }

  /// Whether only this system can write to the file, so that its notices are enough.
  ///
  /// Nil if that is not known.
  package let isNotifiedOfAll: Bool?

  /// Ten minutes if only this system can write to the file.
  ///
  /// Then the journal is read for safety only, so rarely that ten thousand sessions cost little.
  package var longestWait: Duration {
    switch isNotifiedOfAll {
    case true?: .seconds(600)
    case nil: .seconds(60)
    case false?: .seconds(1)
    }
  }

  /// Whether the watched file is still at the path: a compaction or a repair replaces it.
  ///
  /// The watch reports that the file has lost its name. It does not report what is written to the
  /// new file.
  package var isCurrent: Bool {
    // The number of a file that was removed may be used again, but not while it is watched.
    if let watch, !notifier.isLive(watch) { return false }
    return FileStatus.Identity(at: path) == identity
  }

  /// Watches the file that is at `path` now, even if it is moved.
  package init(of path: String, by notifier: ChangeNotifier = .shared) {
    let signal = ChangeSignal()
    (self.signal, self.notifier, self.path) = (signal, notifier, path)
    // Asked before the notifier is locked: if the file's server does not answer now, no other caller
    // waits for this one.
    let reportsAll = ChangeNotifier.reportsAll(of: path)
    // Before the watch: if the file is replaced in between, it counts as replaced.
    identity = FileStatus.Identity(at: path)
    watch = notifier.watch(path) { signal.note() }
    isNotifiedOfAll = watch == nil ? false : reportsAll
  }

  deinit {
    if let watch { notifier.end(watch) }
  }

  /// Waits for a change, but no longer than `limit`.
  ///
  /// Returns at once if there was a change since the last wait. Also returns when the task is
  /// cancelled.
  package func wait(atMost limit: Duration) async {
    await signal.wait(until: limit)
  }
}

/// Whether a file has changed, and the task that waits for it.
private final class ChangeSignal: Sendable {
  private struct State {
    /// Whether something happened since the last wait ended.
    var hasChanged = false
    /// The numbers of the last wait that began and of the last that ended.
    var begun: UInt64 = 0
    var ended: UInt64 = 0
    var waiter: CheckedContinuation<Void, Never>?

    mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
      defer { waiter = nil }
      return waiter
    }
  }

  private let state = Mutex(State())

  func wait(until limit: Duration) async {
    let ticket = begin()
    let timer = ProcessTimers.shared.set(at: ProcessTimers.deadline(after: limit)) { [weak self] in
      self?.wake(ticket)
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { park($0, ticket) }
    } onCancel: {
      wake(ticket)
    }
    end()
    ProcessTimers.shared.cancel(timer)
  }

  // Never inlined into `wait`: a lock knows its thread, and the thread may differ after an `await`.
  // The optimizer would assume that it is the same.

  @inline(never)
  private func begin() -> UInt64 {
    state.withLock { state in
      state.begun += 1
      return state.begun
    }
  }

  @inline(never)
  private func park(_ continuation: CheckedContinuation<Void, Never>, _ ticket: UInt64) {
    let isOver = state.withLock { state in
      if state.hasChanged || Task.isCancelled || state.ended >= ticket { return true }
      state.waiter = continuation
      return false
    }
    if isOver { continuation.resume() }
  }

  @inline(never)
  private func end() {
    state.withLock { $0.hasChanged = false }
  }

  func note() {
    let waiter = state.withLock { state in
      state.hasChanged = true
      return state.takeWaiter()
    }
    waiter?.resume()
  }

  private func wake(_ ticket: UInt64) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.ended = max(state.ended, ticket)
      return state.begun == ticket ? state.takeWaiter() : nil
    }
    waiter?.resume()
  }
}
