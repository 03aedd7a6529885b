@_spi(Internals) import SessionCore
import SessionKit
import Synchronization

/// Secrets in files, the refresh token in a separate one, which is locked after some readings.
final class ApartStore: SecretStore {
  private let files: FileSecretStore
  private let left = Mutex<Int?>(nil)

  init(folder: String) {
    files = FileSecretStore(folder: folder)
  }

  /// How many more times the refresh token can be read.
  func lock(after readings: Int) { left.withLock { $0 = readings } }

  var separatesRefreshToken: Bool { true }

  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    let isLocked =
      item == .refreshToken
      && left.withLock { left in
        guard let readings = left else { return false }
        left = max(0, readings - 1)
        return readings == 0
      }
    guard !isLocked else { throw .unavailable(item: item, place: files.folder) }
    return try files.read(item)
  }

  func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    try files.write(item, bytes)
  }

  func remove(_ item: SecretItem) throws(SecretStoreError) { try files.remove(item) }

  func setAside(_ item: SecretItem) throws(SecretStoreError) { try files.setAside(item) }

  func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try files.removeSetAside(item)
  }
}

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
