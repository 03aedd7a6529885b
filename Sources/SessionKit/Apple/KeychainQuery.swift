/// How an item in the keychain is protected; none ever leaves the device.
///
/// - Requirement: STO-2
public enum KeychainProtection: Hashable, Sendable {
  /// Readable once the device was unlocked after it started, also in the background.
  case afterFirstUnlock
  /// Readable only after the user has shown a finger or face that was enrolled when it was stored; gone
  /// with any change of what is enrolled, and with the device's passcode.
  case biometry
  /// The refresh token alone is protected like that, in an item of its own; all else is readable once the
  /// device was unlocked after it started. Nothing refreshes by itself while the user is away.
  case biometryToRefresh
}

/// A question to the keychain as a value: what it says is decided and tested without a keychain.
struct KeychainQuery: Hashable, Sendable {
  /// What is said of an item or of the question.
  enum Key: CaseIterable, Sendable {
    case itemClass, service, account, accessGroup
    case accessible, accessControl, isSynchronizable, usesDataProtection
    case value, returnsValue, limit, presence
  }

  /// What is said of it.
  enum Value: Hashable, Sendable {
    case genericPassword
    case text(String)
    case flag(Bool)
    case bytes([UInt8])
    case afterFirstUnlockThisDeviceOnly
    case currentBiometryThisDeviceOnly
    case one
    /// What the user has shown of themselves so far; never asks for more.
    case shownSoFar
  }

  private(set) var values: [Key: Value]

  /// The item of this name, whatever it holds.
  init(service: String, account: String, accessGroup: String?) {
    values = [
      .itemClass: .genericPassword, .service: .text(service), .account: .text(account),
      // Of another device's making nothing is wanted, and this one's shall not get there.
      .isSynchronizable: .flag(false),
      // On a Mac the other keychain knows neither groups nor this protection.
      .usesDataProtection: .flag(true),
    ]
    if let accessGroup { values[.accessGroup] = .text(accessGroup) }
  }

  /// What the item holds.
  ///
  /// Asked for while the journal is locked, so that nothing may be shown to the user then.
  func reading() -> KeychainQuery {
    with([.returnsValue: .flag(true), .limit: .one, .presence: .shownSoFar])
  }

  /// The item, to be made.
  func adding(_ bytes: [UInt8], _ protection: KeychainProtection) -> KeychainQuery {
    with([.value: .bytes(bytes)]).with(Self.protected(protection))
  }

  /// What an item is changed to that is there; it is protected as it was.
  static func changes(_ bytes: [UInt8]) -> KeychainQuery {
    KeychainQuery(values: [
      .value: .bytes(bytes), .accessible: .afterFirstUnlockThisDeviceOnly,
    ])
  }

  /// What an item is changed to that gets another name.
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
    // Says when it is accessible itself: the keychain refuses both together.
    case .biometry, .biometryToRefresh: [.accessControl: .currentBiometryThisDeviceOnly]
    }
  }
}

extension KeychainQuery: CustomStringConvertible, CustomReflectable {
  /// The names of what is said, never what an item holds.
  var description: String { "keychain query of \(values.count) values" }

  /// A mirror without children.
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The four calls of the keychain; each returns its `OSStatus`.
protocol KeychainDoor: Sendable {
  func copy(_ query: KeychainQuery) -> (status: Int32, bytes: [UInt8]?)
  func add(_ query: KeychainQuery) -> Int32
  func update(_ query: KeychainQuery, to changes: KeychainQuery) -> Int32
  func delete(_ query: KeychainQuery) -> Int32
}
