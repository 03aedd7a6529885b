@_spi(Internals) public import SessionCore

/// Stores secrets in files that only their owner can read: mode 0600 in a folder of mode 0700.
///
/// Each item is one file. A write goes to a temporary file, which is synced and renamed to the
/// item's name. Then the folder is synced. After a crash the item is the complete old one or the
/// complete new one.
///
/// Use one folder per account, because a session refuses to open with another session's secrets.
///
/// - Requirement: STO-2
public struct FileSecretStore: SecretStore {
  /// The names of the items' files.
  ///
  /// - Requirement: STO-1
  public struct Names: Hashable, Sendable {
    /// The file of the tokens.
    public var token = "token"
    /// The file of the user's profile.
    public var user = "user"
    /// The file of the active context.
    public var context = "context"
    /// The file with the data of pending revocations.
    public var revocation = "revocation"
    /// The file of the refresh token, if it is stored separately.
    public var refreshToken = "refreshToken"

    /// Creates the default names.
    public init() {}

    subscript(item: SecretItem) -> String {
      switch item {
      case .token: token
      case .user: user
      case .context: context
      case .refreshToken: refreshToken
      default: revocation
      }
    }
  }

  /// The maximum size of a secret, in bytes.
  static let maximumSize = 1 << 20

  /// The folder that holds the files.
  public let folder: String
  /// The names of the files.
  public let names: Names

  /// Creates a store in this folder.
  ///
  /// The folder is created when the first item is written.
  public init(folder: String, names: Names = Names()) {
    self.folder = folder
    self.names = names
  }

  /// Returns the item's bytes; `nil` if there is no file of its name.
  public func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    let file = file(of: item)
    guard let descriptor = try file.open() else { return nil }
    return try descriptor.readAll(limit: Self.maximumSize)
  }

  /// Replaces the item completely or not at all.
  ///
  /// The item is durable when this returns.
  public func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    guard bytes.count <= Self.maximumSize else {
      throw .tooLarge(item: item, place: file(of: item).path, maximum: Self.maximumSize)
    }
    try file(of: item).makeFolder()
    try file(of: item).replace(with: bytes)
  }

  /// Removes the item's file.
  ///
  /// The removal is durable when this returns.
  public func remove(_ item: SecretItem) throws(SecretStoreError) {
    try file(of: item).remove()
  }

  /// Renames the item's file to `<name>.unreadable`, and replaces an earlier file of that name.
  public func setAside(_ item: SecretItem) throws(SecretStoreError) {
    try file(of: item).rename(to: names[item] + Self.asideSuffix)
  }

  /// Removes `<name>.unreadable`, if it is there.
  public func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try SecretFile(item: item, folder: folder, name: names[item] + Self.asideSuffix).remove()
  }

  private static let asideSuffix = ItemSuffix.unreadable.rawValue

  private func file(of item: SecretItem) -> SecretFile {
    SecretFile(item: item, folder: folder, name: names[item])
  }
}
