import SessionKit

/// An auto-reset signal: it resumes all waiters, or else the next one.
final class ChangeSignal: Sendable {
  private struct State {
    /// The number of rings, and how many of them a waiter has received.
    var rings: UInt64 = 0
    var received: UInt64 = 0
  }

  private let state = WaitableState(State())

  /// Resumes all waiters, or else the next one.
  func ring() { state.change { $0.rings += 1 } }

  /// Returns when it rings, or when the task is cancelled.
  func wait() async {
    let received = state.withLock { $0.received }
    await state.wait { state -> Void? in
      guard state.rings > received else { return nil }
      state.received = state.rings
      return ()
    }
  }

  /// The number of waiters.
  var waiterCount: Int { state.waiterCount }
}
