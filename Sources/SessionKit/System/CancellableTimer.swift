import Dispatch
import Synchronization

/// A timer that is gone as soon as the task that waits for it is cancelled.
///
/// On Linux the runtime keeps the timer of a cancelled `Task.sleep`, about 750 bytes, until its time
/// has come. A session cancels a timer with each new token, and a call with each response.
///
/// The time does not count while the system sleeps. The object lives as long as the system has its
/// timer.
package final class CancellableTimer: Sendable {
  private struct State {
    var source: (any DispatchSourceTimer)?
    var waiter: CheckedContinuation<Bool, Never>?
    /// Whether the time was over; `nil` if the timer runs.
    var hasFired: Bool?
  }

  private let state = Mutex(State())

  /// Starts a timer, which ends with its time or with the cancellation of ``wait()``.
  package init(milliseconds: Int64) {
    state.withLock { state in
      let source = DispatchSource.makeTimerSource(queue: .global())
      source.setEventHandler { self.end(fired: true) }
      source.schedule(deadline: .now() + .milliseconds(Int(clamping: max(0, milliseconds))))
      source.activate()
      state.source = source
    }
  }

  /// Waits until the time is over.
  ///
  /// One task may wait.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  package func wait() async throws(CancellationError) {
    let hasFired = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let hasFired = state.withLock { state in
          if state.hasFired == nil { state.waiter = waiter }
          return state.hasFired
        }
        if let hasFired { waiter.resume(returning: hasFired) }
      }
    } onCancel: {
      end(fired: false)
    }
    guard hasFired else { throw CancellationError() }
  }

  private func end(fired: Bool) {
    let waiter = state.withLock { state in
      state.source?.cancel()
      defer {
        (state.source, state.waiter) = (nil, nil)
        state.hasFired = state.hasFired ?? fired
      }
      return state.waiter
    }
    waiter?.resume(returning: fired)
  }
}
