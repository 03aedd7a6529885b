import SessionTestKit
import Synchronization

/// The processes of a world by name; each life of a process has its own number.
final class ProcessLives: Sendable {
  private struct State {
    var living: [String: ProcessLife] = [:]
    var ended: [ProcessLife] = []
    var last: UInt32 = 0
  }

  /// The openings of files by these processes.
  let openings = SimulatedOpenings()
  private let state = Mutex(State())

  /// Returns the current life of a process; begins one if there is none.
  func life(of process: String) -> ProcessLife {
    state.withLock { state in
      if let life = state.living[process] { return life }
      state.last += 1
      let life = ProcessLife(number: state.last)
      state.living[process] = life
      return life
    }
  }

  /// Ends the life of a process; a later process with this name has another life.
  func end(_ process: String) -> ProcessLife? {
    state.withLock { state in
      guard let life = state.living.removeValue(forKey: process) else { return nil }
      life.end()
      state.ended.append(life)
      return life
    }
  }

  /// The names of the living processes.
  var names: [String] { state.withLock { $0.living.keys.sorted() } }
}
