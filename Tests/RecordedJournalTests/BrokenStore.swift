@_spi(Internals) import SessionCore
import SessionKit
import Synchronization

/// Secrets in files, whose token item cannot be written for some time.
final class BrokenStore: SecretStore {
  private let files: FileSecretStore
  private let isBroken = Mutex(false)

  init(folder: String) {
    files = FileSecretStore(folder: folder)
  }

  func breakTokenItem(_ isBroken: Bool) { self.isBroken.withLock { $0 = isBroken } }

  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? { try files.read(item) }

  func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    guard item != .token || !isBroken.withLock({ $0 }) else {
      throw .failed(item: item, place: files.folder, operation: "write", code: 5)
    }
    try files.write(item, bytes)
  }

  func remove(_ item: SecretItem) throws(SecretStoreError) { try files.remove(item) }

  func setAside(_ item: SecretItem) throws(SecretStoreError) { try files.setAside(item) }

  func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try files.removeSetAside(item)
  }
}
