import SessionKit
import SessionTestKit
import Synchronization

/// A process and its session object.
final class SimulatedHome: Sendable {
  let number: Int
  let process: SimulatedProcess
  let session = Mutex<Session?>(nil)
  /// How many callers wait in the process.
  let waiting = Mutex(0)
  /// Whether the process dies as soon as it has stored a token.
  let diesWithToken = Mutex(false)

  init(_ number: Int, _ process: SimulatedProcess) {
    (self.number, self.process) = (number, process)
  }

  var isAlive: Bool { process.isAlive }
  var current: Session? { session.withLock { $0 } }

  /// The secrets, as this process sees them.
  func store(_ secrets: SimulatedSecrets) -> any SecretStore {
    InterceptedStore(
      secrets.view(of: process),
      after: { [self] operation, item in
        guard operation == .write, item == .token, diesWithToken.withLock({ $0 }) else { return }
        process.kill()
      })
  }
}
