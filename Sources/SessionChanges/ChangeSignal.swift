import Synchronization

/// An auto-reset signal: it resumes all waiters, or else the next one.
final class ChangeSignal: Sendable {
  private struct State {
    var isRung = false
    var count: UInt64 = 0
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Mutex(State())

  /// Resumes all waiters, or else the next one.
  func ring() {
    let waiting = state.withLock { state in
      state.isRung = state.waiting.isEmpty
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for one in waiting { one.resume() }
  }

  /// Returns when it rings, or when the task is cancelled.
  func wait() async {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if Task.isCancelled { return true }
          if state.isRung {
            state.isRung = false
            return true
          }
          state.waiting[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }
  }

  /// The number of waiters.
  var waiterCount: Int { state.withLock { $0.waiting.count } }
}
