internal import Synchronization

/// A signal that wakes a waiting task when the system reports a change of a file.
///
/// Some file systems never report changes, above all network file systems. So every wait has a
/// limit.
package final class FileChanges: LogChanges {
  private let signal: ChangeSignal
  private let notifier: ChangeNotifier
  private let watch: ChangeNotifier.Watch?

  /// Whether the system reports changes; if not, every wait lasts to its limit.
  package var isNotified: Bool { watch != nil }

  /// Whether the system reports every change, also those by other systems; nil if that is not known.
  package let isNotifiedOfAll: Bool?

  /// Ten minutes if every change is reported.
  ///
  /// A notice can be relied on if the file is on this system's own disk. Then the journal is read
  /// for safety only, so rarely that ten thousand sessions cost nothing.
  package var longestWait: Duration {
    switch isNotifiedOfAll {
    case true?: .seconds(600)
    case nil: .seconds(60)
    case false?: .seconds(1)
    }
  }

  /// Watches the file that is at `path` now, even if it is moved.
  package init(of path: String, by notifier: ChangeNotifier = .shared) {
    let signal = ChangeSignal()
    (self.signal, self.notifier) = (signal, notifier)
    // Asked first: if the file's server does not answer, only this caller waits.
    let reportsAll = ChangeNotifier.reportsAll(of: path)
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
