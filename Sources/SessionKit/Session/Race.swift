import Synchronization

/// Waits for the first of several endings.
///
/// Later endings are ignored.
final class Race<Ending: Sendable>: Sendable {
  private struct State {
    var ending: Ending?
    var waiter: CheckedContinuation<Ending, Never>?
  }

  private let state = Mutex(State())

  func end(_ ending: Ending) {
    let waiter = state.withLock { state -> CheckedContinuation<Ending, Never>? in
      guard state.ending == nil else { return nil }
      state.ending = ending
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: ending)
  }

  func first() async -> Ending {
    await withCheckedContinuation { continuation in
      let ending = state.withLock { state in
        if state.ending == nil { state.waiter = continuation }
        return state.ending
      }
      if let ending { continuation.resume(returning: ending) }
    }
  }
}
