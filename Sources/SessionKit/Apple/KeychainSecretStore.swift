#if canImport(Security)
  import Foundation
  import Security
  public import SessionCore

  /// Secrets in the keychain of the device: never in a backup of another one, never synchronised, and
  /// readable after the first unlock.
  ///
  /// An app and its extensions share the items by an access group, as they share the journal. What an
  /// item holds is replaced whole or not at all; the keychain does not say when it is on the medium.
  ///
  /// With `.biometry` the token item can be read only once the user has shown who they are, by
  /// ``unlock(reason:)``. Until then reading it says *not yet*, never asks, and the session stays
  /// `loading`: nobody is logged out. It is the access token too that waits, since both are one item; a
  /// session that has its tokens in memory goes on refreshing without asking. When what is enrolled
  /// changes, the item is gone, and the session expires with `secretsMissing`. What a logout still has
  /// to tell the server is kept without it. The protection is that of the first sign-in: log out to
  /// change it.
  ///
  /// With `.biometryToRefresh` the refresh token alone is protected, as a fourth item: the session opens and
  /// serves its token without asking, and a refresh throws `locked` until ``unlock(reason:)``,
  /// after which `Session.retry()` makes up for one that was due. Nobody is logged out meanwhile. When
  /// what is enrolled changes there is no refresh token any more: the token is used to its end, and then
  /// the user signs in. An app changes between this and `.afterFirstUnlock` as it likes: the next refresh
  /// token that the server gives is stored in the new way. A logout while it cannot be read tells the
  /// server with the access token alone.
  ///
  /// - Requirement: STO-2
  public struct KeychainSecretStore: SecretStore {
    /// The names of the items' accounts.
    ///
    /// - Requirement: STO-1
    public typealias Names = FileSecretStore.Names

    private let items: KeychainItems
    private let keychain: SystemKeychain

    /// Whether the refresh token is an item of its own: with `.biometryToRefresh`.
    public var separatesRefreshToken: Bool { items.separatesRefreshToken }

    #if os(watchOS) || os(tvOS)
      /// A store of the items of one service; each account needs a service of its own.
      ///
      /// `service` is for example the app's identifier and the account's number. Apps that have the
      /// entitlement for `accessGroup` share the items. Without biometry, the items are readable after
      /// the device was unlocked once.
      ///
      /// - Requirement: STO-2
      public init(service: String, accessGroup: String? = nil, names: Names = Names()) {
        self.init(service, accessGroup, names, .afterFirstUnlock)
      }
    #else
      /// A store of the items of one service; each account needs a service of its own.
      ///
      /// `service` is for example the app's identifier and the account's number. Apps that have the
      /// entitlement for `accessGroup` share the items. watchOS and tvOS have no `protection`: they have
      /// no biometry.
      ///
      /// - Requirement: STO-2
      public init(
        service: String, accessGroup: String? = nil, names: Names = Names(),
        protection: KeychainProtection = .afterFirstUnlock
      ) {
        self.init(service, accessGroup, names, protection)
      }

      /// Asks the user to show who they are; from then on the protected item can be read.
      ///
      /// `reason` is shown to the user. Throws `unavailable` if the user did not, or cannot. watchOS and
      /// tvOS do not have it.
      public func unlock(reason: String) async throws(SecretStoreError) {
        guard await keychain.presence.ask(reason: reason) else {
          throw .unavailable(
            item: separatesRefreshToken ? .refreshToken : .token, place: "keychain")
        }
      }

      /// Forgets that the user has shown who they are.
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

    /// The item's bytes, or `nil` where there is none.
    public func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
      try items.read(item)
    }

    /// Replaces the item, whole or not at all.
    public func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
      try items.write(item, bytes)
    }

    /// Removes the item.
    public func remove(_ item: SecretItem) throws(SecretStoreError) { try items.remove(item) }

    /// Gives the item the account `<name>.unreadable`.
    public func setAside(_ item: SecretItem) throws(SecretStoreError) { try items.setAside(item) }

    /// Removes what was set aside, if anything.
    public func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
      try items.removeSetAside(item)
    }
  }

  /// The system's keychain: turns values into its dictionaries, and decides nothing.
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

    /// `nil` where the system cannot make what a value stands for.
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
