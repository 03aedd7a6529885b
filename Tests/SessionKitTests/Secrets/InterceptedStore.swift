import SessionKit

/// A store that runs a function before each call of another store, and one after it.
///
/// The first one may throw. Then the other store is not called.
struct InterceptedStore: SecretStore {
  /// A call of a store.
  enum Operation: Sendable {
    case read
    case write
    case reserve
    case remove
    case setAside
    case removeSetAside
  }

  typealias Interception = @Sendable (Operation, SecretItem) throws(SecretStoreError) -> Void

  let separatesRefreshToken: Bool
  var reservesRoom: Bool { base.reservesRoom }
  private let base: any SecretStore
  private let before: Interception
  private let after: @Sendable (Operation, SecretItem) -> Void

  init(
    _ base: any SecretStore = MemorySecretStore(), separatesRefreshToken: Bool = false,
    before: @escaping Interception = { _, _ in },
    after: @escaping @Sendable (Operation, SecretItem) -> Void = { _, _ in }
  ) {
    self.base = base
    self.separatesRefreshToken = separatesRefreshToken
    self.before = before
    self.after = after
  }

  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    try before(.read, item)
    let bytes = try base.read(item)
    after(.read, item)
    return bytes
  }

  func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    try before(.write, item)
    try base.write(item, bytes)
    after(.write, item)
  }

  func reserve(_ item: SecretItem, bytes: Int) throws(SecretStoreError) {
    try before(.reserve, item)
    try base.reserve(item, bytes: bytes)
    after(.reserve, item)
  }

  func remove(_ item: SecretItem) throws(SecretStoreError) {
    try before(.remove, item)
    try base.remove(item)
    after(.remove, item)
  }

  func setAside(_ item: SecretItem) throws(SecretStoreError) {
    try before(.setAside, item)
    try base.setAside(item)
    after(.setAside, item)
  }

  func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try before(.removeSetAside, item)
    try base.removeSetAside(item)
    after(.removeSetAside, item)
  }
}
