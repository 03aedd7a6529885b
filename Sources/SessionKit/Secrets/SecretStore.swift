@_spi(Internals) public import SessionCore

/// Stores a session's secrets outside the journal.
///
/// The session calls it on a thread that may block, one call at a time, and while it holds the
/// journal's lock.
///
/// - Requirement: STO-1, STO-2
public protocol SecretStore: Sendable {
  /// Whether the refresh token is an item of its own, `refreshToken`, with stricter protection;
  /// `false` by default.
  ///
  /// Such an item is read directly before a refresh or a logout. If reading throws `unavailable`,
  /// the user must prove their presence first.
  ///
  /// - Requirement: STO-2
  var separatesRefreshToken: Bool { get }

  /// Returns the item's bytes; `nil` if there is no such item.
  ///
  /// A store that cannot know, because it is locked or refuses access, throws. It never returns
  /// `nil` then.
  ///
  /// - Requirement: RES-3
  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]?

  /// Replaces the item completely or not at all.
  ///
  /// The item is durable when this returns.
  func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError)

  /// Removes the item.
  ///
  /// A missing item is no error.
  func remove(_ item: SecretItem) throws(SecretStoreError)

  /// Moves an item that cannot be used aside, so that it reads as absent afterwards.
  ///
  /// It keeps the bytes for diagnosis, as protected as the item.
  ///
  /// - Requirement: RES-2
  func setAside(_ item: SecretItem) throws(SecretStoreError)

  /// Removes the bytes of the item that were moved aside, if any.
  ///
  /// Called after the user has logged out.
  ///
  /// - Requirement: STO-3
  func removeSetAside(_ item: SecretItem) throws(SecretStoreError)
}

extension SecretStore {
  /// `false`: the access token and the refresh token are one item.
  public var separatesRefreshToken: Bool { false }
}
