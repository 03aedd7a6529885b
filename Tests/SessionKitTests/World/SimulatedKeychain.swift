import SessionKit
import SessionTestKit
import Synchronization

/// The secrets of a device: what is written is durable at once, and a process may die at any change.
final class SimulatedKeychain: Sendable {
  /// What is stored, by whichever process; it can be locked.
  let items = MemorySecretStore()
  /// How many moments are left until the process dies that is at it; none where nil.
  private let fuse = Mutex<Int?>(nil)

  /// Whoever reaches the moment of that number dies: before a change, or after it.
  func blow(after moments: Int?) {
    fuse.withLock { $0 = moments }
  }

  /// The store as a process sees it.
  func view(of process: SimulatedProcess) -> any SecretStore {
    View(keychain: self, process: process)
  }

  private func burns() -> Bool {
    fuse.withLock { fuse in
      guard let left = fuse else { return false }
      fuse = left > 0 ? left - 1 : nil
      return left == 0
    }
  }

  private struct View: SecretStore {
    let keychain: SimulatedKeychain
    let process: SimulatedProcess

    func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
      try live(item)
      return try keychain.items.read(item)
    }

    func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
      try change(item) { () throws(SecretStoreError) in try keychain.items.write(item, bytes) }
    }

    func remove(_ item: SecretItem) throws(SecretStoreError) {
      try change(item) { () throws(SecretStoreError) in try keychain.items.remove(item) }
    }

    func setAside(_ item: SecretItem) throws(SecretStoreError) {
      try change(item) { () throws(SecretStoreError) in try keychain.items.setAside(item) }
    }

    func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
      try change(item) { () throws(SecretStoreError) in try keychain.items.removeSetAside(item) }
    }

    private func change(
      _ item: SecretItem, _ body: () throws(SecretStoreError) -> Void
    ) throws(SecretStoreError) {
      try moment(item)
      try body()
      try moment(item)
    }

    private func moment(_ item: SecretItem) throws(SecretStoreError) {
      if keychain.burns() { process.kill() }
      try live(item)
    }

    private func live(_ item: SecretItem) throws(SecretStoreError) {
      guard process.isAlive else { throw .unavailable(item: item, place: "a dead process") }
    }
  }
}
