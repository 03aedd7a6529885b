import SessionTestKit
import Synchronization

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
