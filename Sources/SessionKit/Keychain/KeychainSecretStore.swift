#if canImport(Security)
import Foundation
import Security
public import SessionCore

/// Stores secrets in the keychain of the device.
///
/// They are never in a backup of another device, never synchronised, and readable after the first
/// unlock.
///
/// An app and its extensions share the items by an access group, as they share the journal. An
/// item's value is replaced completely or not at all. The keychain does not report when it is on
/// the storage medium, and it can reserve no room for the next item.
///
/// With `.biometry`, the token item can be read only after the user has proven their presence
/// with ``unlock(reason:)``:
///
/// - Before that, reading throws `unavailable` and never asks the user. The session stays
///   `loading`, and no user is logged out. The access token is not available either, since both
///   tokens are one item.
/// - A session that has its tokens in memory continues to refresh without asking.
/// - If the enrolled fingers or faces change, the item is gone, and the session expires with
///   `secretsMissing`.
/// - The data of a pending revocation is stored without this protection.
/// - The protection is that of the first sign-in. Log out to change it.
///
/// With `.biometryToRefresh`, only the refresh token is protected, in an item of its own:
///
/// - The session opens and provides its token without asking the user. A refresh throws `locked`
///   until ``unlock(reason:)``. After that, `Session.retry()` makes a refresh that was due. No
///   user is logged out meanwhile.
/// - If the enrolled fingers or faces change, the refresh token is gone. The access token is used
///   until it expires, and then the user signs in.
/// - An app can switch between this and `.afterFirstUnlock` at any time. The next refresh token
///   that the server issues is stored in the new way.
/// - If the user logs out while the refresh token cannot be read, only the access token is
///   revoked.
///
/// - Requirement: STO-2
public struct KeychainSecretStore: SecretStore {
  /// The names of the items' accounts.
  ///
  /// - Requirement: STO-1
  public typealias Names = FileSecretStore.Names

  private let items: KeychainItems
  private let keychain: SystemKeychain

  var service: String { items.service }
  var accessGroup: String? { items.accessGroup }

  /// Whether the refresh token is an item of its own, which is the case with
  /// `.biometryToRefresh`.
  public var separatesRefreshToken: Bool { items.separatesRefreshToken }

  #if os(watchOS) || os(tvOS)
  /// Creates a store for the items of one service.
  ///
  /// Each account needs its own service.
  ///
  /// `service` is for example the app's identifier and the account's number. Apps that have the
  /// entitlement for `accessGroup` share the items. Without biometry, the items are readable
  /// after the device was unlocked once.
  ///
  /// - Requirement: STO-2
  public init(service: String, accessGroup: String? = nil, names: Names = Names()) {
    self.init(service, accessGroup, names, .afterFirstUnlock)
  }
  #else
  /// Creates a store for the items of one service.
  ///
  /// Each account needs its own service.
  ///
  /// `service` is for example the app's identifier and the account's number. Apps that have the
  /// entitlement for `accessGroup` share the items. watchOS and tvOS have no `protection`,
  /// because they have no biometry.
  ///
  /// - Requirement: STO-2
  public init(
    service: String, accessGroup: String? = nil, names: Names = Names(),
    protection: KeychainProtection = .afterFirstUnlock
  ) {
    self.init(service, accessGroup, names, protection)
  }

  /// Asks the user to prove their presence.
  ///
  /// After that, the protected item can be read.
  ///
  /// `reason` is shown to the user. Throws `unavailable` if the user declines or cannot do it.
  /// watchOS and tvOS do not have this method.
  public func unlock(reason: String) async throws(SecretStoreError) {
    guard await keychain.presence.ask(reason: reason) else {
      throw .unavailable(
        item: separatesRefreshToken ? .refreshToken : .token, place: "keychain")
    }
  }

  /// Discards the proof of the user's presence.
  public func lock() { keychain.presence.forget() }
  #endif

  private init(
    _ service: String, _ accessGroup: String?, _ names: Names, _ protection: KeychainProtection
  ) {
    keychain = SystemKeychain()
    items = KeychainItems(
      door: keychain, service: service, accessGroup: accessGroup, names: names,
      protection: protection)
  }

  /// Returns the item's bytes; `nil` if there is no such item.
  public func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    try items.read(item)
  }

  /// Replaces the item completely or not at all.
  public func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    try items.write(item, bytes)
  }

  /// Removes the item.
  public func remove(_ item: SecretItem) throws(SecretStoreError) { try items.remove(item) }

  /// Renames the item's account to `<name>.unreadable`.
  public func setAside(_ item: SecretItem) throws(SecretStoreError) { try items.setAside(item) }

  /// Removes the bytes of the item that were moved aside, if any.
  public func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try items.removeSetAside(item)
  }
}

/// Makes the calls of the system's keychain.
///
/// It converts values to dictionaries and decides nothing.
final class SystemKeychain: KeychainDoor {
  let presence = UserPresence()

  func copy(_ query: KeychainQuery) -> (status: Int32, bytes: [UInt8]?) {
    presence.lend { shown in
      guard let question = Self.dictionary(query, shown) else { return (-108, nil) }
      var found: CFTypeRef?
      let status = SecItemCopyMatching(question, &found)
      return (status, (found as? Data).map { [UInt8]($0) })
    }
  }

  func add(_ query: KeychainQuery) -> Int32 {
    guard let item = Self.dictionary(query) else { return -108 }
    return SecItemAdd(item, nil)
  }

  func update(_ query: KeychainQuery, to changes: KeychainQuery) -> Int32 {
    guard let item = Self.dictionary(query), let new = Self.dictionary(changes) else {
      return -108
    }
    return SecItemUpdate(item, new)
  }

  func delete(_ query: KeychainQuery) -> Int32 {
    guard let item = Self.dictionary(query) else { return -108 }
    return SecItemDelete(item)
  }

  /// Converts a query to a dictionary; `nil` if the system cannot create one of its values.
  private static func dictionary(_ query: KeychainQuery, _ shown: Any? = nil)
    -> CFDictionary?
  {
    var dictionary: [String: Any] = [:]
    for (key, value) in query.values {
      if key == .presence, shown == nil { continue }
      guard let object = object(value, shown) else { return nil }
      dictionary[name(key)] = object
    }
    return NSDictionary(dictionary: dictionary) as CFDictionary
  }

  private static func name(_ key: KeychainQuery.Key) -> String {
    switch key {
    case .itemClass: kSecClass as String
    case .service: kSecAttrService as String
    case .account: kSecAttrAccount as String
    case .accessGroup: kSecAttrAccessGroup as String
    case .accessible: kSecAttrAccessible as String
    case .accessControl: kSecAttrAccessControl as String
    case .isSynchronizable: kSecAttrSynchronizable as String
    case .usesDataProtection: kSecUseDataProtectionKeychain as String
    case .value: kSecValueData as String
    case .returnsValue: kSecReturnData as String
    case .limit: kSecMatchLimit as String
    case .presence: kSecUseAuthenticationContext as String
    }
  }

  private static func object(_ value: KeychainQuery.Value, _ shown: Any?) -> Any? {
    switch value {
    case .genericPassword: kSecClassGenericPassword
    case .text(let text): text
    case .flag(let flag): flag
    case .bytes(let bytes): Data(bytes)
    case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
    case .currentBiometryThisDeviceOnly: UserPresence.currentBiometry()
    case .one: kSecMatchLimitOne
    case .shownSoFar: shown
    }
  }
}
#endif
