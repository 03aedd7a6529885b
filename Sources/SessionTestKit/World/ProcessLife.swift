import Synchronization

/// One life of a process in a simulated world: what is to run in it after its end never does.
///
/// A process that is killed runs nothing behind it, no `deinit` and no `catch`. So its jobs are dropped
/// and its work is kept unrun: those who wait for it wait for ever, and are let go with nothing.
package final class ProcessLife: Sendable {
  private struct State {
    var isOver = false
    var unrun: [@Sendable () -> Void] = []
  }

  /// The system's number of the process.
  package let number: UInt32
  private let state = Mutex(State())

  package init(number: UInt32) {
    self.number = number
  }

  package var isOver: Bool { state.withLock { $0.isOver } }

  package func end() { state.withLock { $0.isOver = true } }

  /// The work, which does nothing once the process is dead.
  package func guarding(_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    { [self] in
      let isOver = state.withLock { state in
        // Whoever waits for it would be told that nobody will ever answer.
        if state.isOver { state.unrun.append(work) }
        return state.isOver
      }
      if !isOver { work() }
    }
  }
}
