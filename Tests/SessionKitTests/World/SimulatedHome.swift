import SessionKit
import SessionTestKit
import Synchronization

/// A process and the session object in it.
final class SimulatedHome: Sendable {
  let number: Int
  let process: SimulatedProcess
  let session = Mutex<Session?>(nil)
  /// How many callers wait in it.
  let waiting = Mutex(0)

  init(_ number: Int, _ process: SimulatedProcess) {
    (self.number, self.process) = (number, process)
  }

  var isAlive: Bool { process.isAlive }
  var current: Session? { session.withLock { $0 } }
}
