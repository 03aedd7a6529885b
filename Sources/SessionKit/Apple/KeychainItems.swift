@_spi(Internals) import SessionCore

/// Secrets as items of a keychain, behind whatever door: what is asked, in which order, and what an
/// answer means.
///
/// - Requirement: STO-2
struct KeychainItems: SecretStore {
  let door: any KeychainDoor
  let service: String
  let accessGroup: String?
  let names: FileSecretStore.Names
  let protection: KeychainProtection

  /// Only tokens are worth a finger: the other items hold none, or are needed after a logout.
  private func protection(of item: SecretItem) -> KeychainProtection {
    switch (protection, item) {
    case (.biometry, .token), (.biometryToRefresh, .refreshToken): .biometry
    default: .afterFirstUnlock
    }
  }

  /// Whether half a write may have left the newer item under another name: by this protection, or, of an
  /// item that is written under no other, by the one before.
  private func mayHaveNext(_ item: SecretItem) -> Bool {
    protection(of: item) == .biometry || item == .refreshToken
  }

  var separatesRefreshToken: Bool { protection == .biometryToRefresh }

  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    // A crash came between the two halves of a write: the newer one may be the only token that the
    // server still takes.
    if mayHaveNext(item),
      let next = try read(item, names[item] + Self.nextSuffix)
    {
      return next
    }
    return try read(item, names[item])
  }

  /// Replaces the item, whole or not at all.
  ///
  /// To change an item that biometry protects would ask for it; to make one does not. So the new one
  /// is there under another name before the old one goes, and a reader looks for that one first.
  func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    guard bytes.count <= FileSecretStore.maximumSize else {
      throw .tooLarge(item: item, place: place(of: item), maximum: FileSecretStore.maximumSize)
    }
    switch protection(of: item) {
    case .afterFirstUnlock:
      let status = door.update(query(names[item]), to: KeychainQuery.changes(bytes))
      if KeychainStatus(status) == .absent { return try add(item, names[item], bytes) }
      try require(status, "write", item)
    case .biometry, .biometryToRefresh:
      let next = names[item] + Self.nextSuffix
      try delete(item, next)
      try add(item, next, bytes)
      try delete(item, names[item])
      try add(item, names[item], bytes)
      try delete(item, next)
    }
  }

  func remove(_ item: SecretItem) throws(SecretStoreError) {
    // The older first: left alone, it would be taken for the item.
    try delete(item, names[item])
    if mayHaveNext(item) { try delete(item, names[item] + Self.nextSuffix) }
  }

  func setAside(_ item: SecretItem) throws(SecretStoreError) {
    if mayHaveNext(item) {
      // To rename it would ask for biometry.
      guard let bytes = try read(item) else { return }
      try delete(item, names[item] + Self.asideSuffix)
      try add(item, names[item] + Self.asideSuffix, bytes)
      return try remove(item)
    }
    try delete(item, names[item] + Self.asideSuffix)
    let status = door.update(
      query(names[item]), to: KeychainQuery.changes(account: names[item] + Self.asideSuffix))
    if KeychainStatus(status) != .absent { try require(status, "set aside", item) }
  }

  func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try delete(item, names[item] + Self.asideSuffix)
  }

  private static let asideSuffix = ItemSuffix.unreadable.rawValue
  private static let nextSuffix = ItemSuffix.next.rawValue

  private func query(_ account: String) -> KeychainQuery {
    KeychainQuery(service: service, account: account, accessGroup: accessGroup)
  }

  private func read(_ item: SecretItem, _ account: String) throws(SecretStoreError) -> [UInt8]? {
    let (status, bytes) = door.copy(query(account).reading())
    switch KeychainStatus(status) {
    case .absent:
      return nil
    case .done:
      guard let bytes else {
        throw KeychainStatus.readingError(status, item, at: place(of: item))
      }
      return bytes
    case .duplicate, .locked, .refused, .noSpace, .failed:
      throw KeychainStatus.readingError(status, item, at: place(of: item))
    }
  }

  private func add(_ item: SecretItem, _ account: String, _ bytes: [UInt8])
    throws(SecretStoreError)
  {
    try require(door.add(query(account).adding(bytes, protection(of: item))), "write", item)
  }

  private func delete(_ item: SecretItem, _ account: String) throws(SecretStoreError) {
    let status = door.delete(query(account))
    if KeychainStatus(status) != .absent { try require(status, "remove", item) }
  }

  private func require(_ status: Int32, _ operation: String, _ item: SecretItem)
    throws(SecretStoreError)
  {
    guard KeychainStatus(status) == .done else {
      throw KeychainStatus.writingError(status, operation, item, at: place(of: item))
    }
  }

  private func place(of item: SecretItem) -> String {
    "keychain item \(names[item]) of \(service)"
  }
}
