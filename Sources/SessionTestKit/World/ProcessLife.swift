import Synchronization

/// The lifetime of a process in a simulated world; none of its code runs after its end.
///
/// In a killed process no code runs, not even a `deinit` or a `catch`. So its jobs are dropped, and
/// its work is kept without being run. Tasks that wait for this work wait until they are released
/// without a result.
package final class ProcessLife: Sendable {
  private struct State {
    var isOver = false
    var unrun: [@Sendable () -> Void] = []
  }

  /// The process id.
  package let number: UInt32
  private let state = Mutex(State())

  package init(number: UInt32) {
    self.number = number
  }

  package var isOver: Bool { state.withLock { $0.isOver } }

  package func end() { state.withLock { $0.isOver = true } }

  /// Returns work that does nothing after the end of the process.
  package func guarding(_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    { [self] in
      let isOver = state.withLock { state in
        // Releasing the work could report to its waiters that they never get a result.
        if state.isOver { state.unrun.append(work) }
        return state.isOver
      }
      if !isOver { work() }
    }
  }
}
