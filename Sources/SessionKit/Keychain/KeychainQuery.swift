/// How an item in the keychain is protected.
///
/// No item ever leaves the device.
///
/// - Requirement: STO-2
public enum KeychainProtection: Hashable, Sendable {
  /// The item can be read after the device was unlocked once since it started, even in the
  /// background.
  case afterFirstUnlock
  /// The item can be read only after the user has shown a finger or face that was enrolled when it
  /// was stored.
  ///
  /// Any change of the enrolled fingers and faces removes it, and so does removing the device's
  /// passcode.
  case biometry
  /// Only the refresh token is protected by biometry, in its own item.
  ///
  /// The other items can be read after the device was unlocked once since it started. While the
  /// user is away, the session does not refresh automatically.
  case biometryToRefresh
}

/// A query to the keychain as a value, so that its contents can be tested without a keychain.
struct KeychainQuery: Hashable, Sendable {
  /// The name of a property of an item or of the query.
  enum Key: CaseIterable, Sendable {
    case itemClass, service, account, accessGroup
    case accessible, accessControl, isSynchronizable, usesDataProtection
    case value, returnsValue, limit, presence
  }

  /// The value of a property.
  enum Value: Hashable, Sendable {
    case genericPassword
    case text(String)
    case flag(Bool)
    case bytes([UInt8])
    case afterFirstUnlockThisDeviceOnly
    case currentBiometryThisDeviceOnly
    case one
    /// The presence that the user has proven so far.
    ///
    /// It never asks for more.
    case shownSoFar
  }

  private(set) var values: [Key: Value]

  /// Creates the query for the item with this name.
  init(service: String, account: String, accessGroup: String?) {
    values = [
      .itemClass: .genericPassword, .service: .text(service), .account: .text(account),
      // Items of other devices must not be found, and this item must not be synchronised to them.
      .isSynchronizable: .flag(false),
      // On a Mac the other keychain supports neither groups nor this protection.
      .usesDataProtection: .flag(true),
    ]
    if let accessGroup { values[.accessGroup] = .text(accessGroup) }
  }

  /// Returns the query that reads the item's value.
  ///
  /// It is used while the journal is locked, so it must not show anything to the user.
  func reading() -> KeychainQuery {
    with([.returnsValue: .flag(true), .limit: .one, .presence: .shownSoFar])
  }

  /// Returns the query that adds the item.
  func adding(_ bytes: [UInt8], _ protection: KeychainProtection) -> KeychainQuery {
    with([.value: .bytes(bytes)]).with(Self.protected(protection))
  }

  /// Returns the changes that replace an item's value.
  ///
  /// Its protection stays.
  static func changes(_ bytes: [UInt8]) -> KeychainQuery {
    KeychainQuery(values: [
      .value: .bytes(bytes), .accessible: .afterFirstUnlockThisDeviceOnly,
    ])
  }

  /// Returns the changes that rename an item.
  static func changes(account: String) -> KeychainQuery {
    KeychainQuery(values: [.account: .text(account)])
  }

  private init(values: [Key: Value]) { self.values = values }

  private func with(_ more: [Key: Value]) -> KeychainQuery {
    KeychainQuery(values: values.merging(more) { $1 })
  }

  private static func protected(_ protection: KeychainProtection) -> [Key: Value] {
    switch protection {
    case .afterFirstUnlock: [.accessible: .afterFirstUnlockThisDeviceOnly]
    // The access control includes the accessibility. The keychain refuses both together.
    case .biometry, .biometryToRefresh: [.accessControl: .currentBiometryThisDeviceOnly]
    }
  }
}

extension KeychainQuery: CustomStringConvertible, CustomReflectable {
  /// The number of properties, without their values.
  var description: String { "keychain query of \(values.count) values" }

  /// A mirror without children.
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The four calls of the keychain.
///
/// Each returns its `OSStatus`.
protocol KeychainDoor: Sendable {
  func copy(_ query: KeychainQuery) -> (status: Int32, bytes: [UInt8]?)
  func add(_ query: KeychainQuery) -> Int32
  func update(_ query: KeychainQuery, to changes: KeychainQuery) -> Int32
  func delete(_ query: KeychainQuery) -> Int32
}
