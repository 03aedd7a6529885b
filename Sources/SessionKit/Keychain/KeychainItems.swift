@_spi(Internals) import SessionCore

/// Stores secrets as items of a keychain: the order of its calls, and the meaning of their results.
///
/// `door` makes the calls, so that tests can replace the keychain.
///
/// - Requirement: STO-2
struct KeychainItems: SecretStore {
  let door: any KeychainDoor
  let service: String
  let accessGroup: String?
  let names: FileSecretStore.Names
  let protection: KeychainProtection

  /// Returns the protection of an item.
  ///
  /// Biometry protects only the tokens: the other items have none, or are needed after a logout.
  private func protection(of item: SecretItem) -> KeychainProtection {
    switch (protection, item) {
    case (.biometry, .token), (.biometryToRefresh, .refreshToken): .biometry
    default: .afterFirstUnlock
    }
  }

  /// Returns whether an interrupted write may have left the newer item under another name.
  ///
  /// Only a write with biometry can leave one. The refresh token item is always written with
  /// biometry, perhaps before the store's protection was changed.
  private func mayHaveNext(_ item: SecretItem) -> Bool {
    protection(of: item) == .biometry || item == .refreshToken
  }

  var separatesRefreshToken: Bool { protection == .biometryToRefresh }

  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    // A crash may have interrupted a write. The newer item may have the only token that the server
    // still accepts.
    if mayHaveNext(item),
      let next = try read(item, names[item] + Self.nextSuffix)
    {
      return next
    }
    return try read(item, names[item])
  }

  /// Replaces the item completely or not at all.
  ///
  /// Changing an item that biometry protects would ask the user, but adding one does not. So the
  /// new item is added under another name before the old one is removed. A reader looks for the new
  /// name first.
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
    // The older item is removed first. If it alone remained, it would count as the item.
    try delete(item, names[item])
    if mayHaveNext(item) { try delete(item, names[item] + Self.nextSuffix) }
  }

  func setAside(_ item: SecretItem) throws(SecretStoreError) {
    if mayHaveNext(item) {
      // Renaming the item would ask for biometry.
      guard let bytes = try read(item) else { return }
      try delete(item, names[item] + Self.asideSuffix)
      try add(item, names[item] + Self.asideSuffix, bytes)
      return try remove(item)
    }
    try delete(item, names[item] + Self.asideSuffix)
    let status = door.update(
      query(names[item]), to: KeychainQuery.changes(account: names[item] + Self.asideSuffix))
    if KeychainStatus(status) != .absent { try require(status, "move aside", item) }
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

/// The meaning of an `OSStatus` of the keychain for a session (`Specs/Errors.md`).
private enum KeychainStatus: Hashable, Sendable, CaseIterable {
  /// The call succeeded.
  case done
  /// There is no such item.
  case absent
  /// There already is such an item.
  case duplicate
  /// The item is not available now: it is locked, or the user has not proven their presence.
  case locked
  /// This process has no access.
  case refused
  /// There is no space.
  case noSpace
  /// Another failure occurred.
  case failed

  /// Creates the meaning of a status.
  ///
  /// It uses numbers instead of names of Security, so that all platforms share the table.
  init(_ status: Int32) {
    switch status {
    case 0: self = .done
    // errSecItemNotFound
    case -25300: self = .absent
    // errSecDuplicateItem
    case -25299: self = .duplicate
    // errSecInteractionNotAllowed, errSecNotAvailable, errSecAuthFailed, errSecUserCanceled,
    // errSecInteractionRequired
    case -25308, -25291, -25293, -128, -25315: self = .locked
    // errSecNoAccessForItem, errSecReadOnly, errSecWrPerm
    case -25243, -25292, -61: self = .refused
    // errSecDiskFull
    case -34: self = .noSpace
    // They include errSecMissingEntitlement, -34018: the app's signature lacks the access group.
    default: self = .failed
    }
  }

  /// Returns the error of a failed read.
  static func readingError(_ status: Int32, _ item: SecretItem, at place: String)
    -> SecretStoreError
  {
    switch KeychainStatus(status) {
    case .locked: .unavailable(item: item, place: place)
    case .refused:
      .accessDenied(
        item: item, place: place, rights: "the keychain denies it to this app", code: status)
    case .noSpace: .noSpace(item: item, place: place)
    case .done, .absent, .duplicate, .failed:
      .failed(item: item, place: place, operation: "read", code: status)
    }
  }

  /// Returns the error of a failed change.
  static func writingError(
    _ status: Int32, _ operation: String, _ item: SecretItem, at place: String
  ) -> SecretStoreError {
    switch KeychainStatus(status) {
    case .locked, .refused: .notWritable(item: item, place: place)
    case .noSpace: .noSpace(item: item, place: place)
    case .done, .absent, .duplicate, .failed:
      .failed(item: item, place: place, operation: operation, code: status)
    }
  }
}
