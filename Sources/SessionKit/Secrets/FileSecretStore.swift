@_spi(Internals) public import SessionCore

/// Secrets in files that only their owner can read: mode 0600 in a folder of mode 0700.
///
/// Each item is one file. A write goes to a temporary file, is synced, takes the item's name, and
/// the folder is synced: after a crash the item is the old one or the new one, whole.
///
/// One folder per account, as one journal: a session refuses to open on another one's secrets.
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
    /// The file of what a revocation still needs.
    public var revocation = "revocation"
    /// The file of the refresh token, where it is kept apart.
    public var refreshToken = "refreshToken"

    /// The default names.
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

  /// No secret is larger, in bytes.
  static let maximumSize = 1 << 20

  /// The folder that holds the files.
  public let folder: String
  /// The names of the files.
  public let names: Names

  /// A store in this folder, which is made when the first item is written.
  public init(folder: String, names: Names = Names()) {
    self.folder = folder
    self.names = names
  }

  /// The item's bytes, or `nil` where there is no file of its name.
  public func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    let file = file(of: item)
    guard let descriptor = try file.open() else { return nil }
    return try descriptor.readAll(limit: Self.maximumSize)
  }

  /// Replaces the item, whole or not at all; durable when it returns.
  public func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    guard bytes.count <= Self.maximumSize else {
      throw .tooLarge(item: item, place: file(of: item).path, maximum: Self.maximumSize)
    }
    try file(of: item).makeFolder()
    try file(of: item).replace(with: bytes)
  }

  /// Removes the item's file; durable when it returns.
  public func remove(_ item: SecretItem) throws(SecretStoreError) {
    try file(of: item).remove()
  }

  /// Renames the item's file to `<name>.unreadable`, over an earlier one.
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
