import Synchronization

/// One life of a process in a simulated world: what is to run in it after its end never does.
///
/// A process that is killed runs nothing behind it, no `deinit` and no `catch`. So its jobs are dropped
/// and its work is kept unrun: those who wait for it wait for ever, and are let go with nothing.
final class ProcessLife: Sendable {
  private struct State {
    var isOver = false
    var unrun: [@Sendable () -> Void] = []
  }

  /// The system's number of the process.
  let number: UInt32
  private let state = Mutex(State())

  init(number: UInt32) {
    self.number = number
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  func end() { state.withLock { $0.isOver = true } }

  /// The work, which does nothing once the process is dead.
  func guarding(_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
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

/// The processes of a world by name, each with a number of its own in each of its lives.
final class ProcessLives: Sendable {
  private struct State {
    var living: [String: ProcessLife] = [:]
    var ended: [ProcessLife] = []
    var last: UInt32 = 0
  }

  /// The openings of files by these processes.
  let openings = SimulatedOpenings()
  private let state = Mutex(State())

  /// The life of a process, which begins here where there is none.
  func life(of process: String) -> ProcessLife {
    state.withLock { state in
      if let life = state.living[process] { return life }
      state.last += 1
      let life = ProcessLife(number: state.last)
      state.living[process] = life
      return life
    }
  }

  /// Ends the life of a process; what begins under its name is another.
  func end(_ process: String) -> ProcessLife? {
    state.withLock { state in
      guard let life = state.living.removeValue(forKey: process) else { return nil }
      life.end()
      state.ended.append(life)
      return life
    }
  }

  /// The processes that live.
  var names: [String] { state.withLock { $0.living.keys.sorted() } }
}
