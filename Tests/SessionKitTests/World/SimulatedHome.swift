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
    Store(home: self, view: secrets.view(of: process))
  }

  private struct Store: SecretStore {
    let home: SimulatedHome
    let view: any SecretStore

    func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? { try view.read(item) }

    func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
      try view.write(item, bytes)
      if item == .token, home.diesWithToken.withLock({ $0 }) { home.process.kill() }
    }

    func remove(_ item: SecretItem) throws(SecretStoreError) { try view.remove(item) }

    func setAside(_ item: SecretItem) throws(SecretStoreError) { try view.setAside(item) }

    func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
      try view.removeSetAside(item)
    }
  }
}
