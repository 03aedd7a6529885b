@_spi(Internals) public import SessionCore
import Synchronization

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
  /// `nil` then. It throws `unavailable` only if an unlock helps.
  ///
  /// - Requirement: RES-3
  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]?

  /// Replaces the item completely or not at all.
  ///
  /// The item is durable when this returns.
  func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError)

  /// Whether the store can reserve room for the next write of an item; `false` by default.
  ///
  /// A store that wraps another one returns that one's value, and calls its ``reserve(_:bytes:)``.
  ///
  /// - Requirement: REF-20
  var reservesRoom: Bool { get }

  /// Reserves room, so that the next write of as many bytes to the item succeeds on a full disk.
  ///
  /// Called before a request that replaces the refresh token. If it throws, nothing is sent. A
  /// reserve that is not used is replaced by the next one, and removed with the item.
  ///
  /// - Requirement: REF-20
  func reserve(_ item: SecretItem, bytes: Int) throws(SecretStoreError)

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
  /// `false`: a response may arrive that cannot be stored.
  public var reservesRoom: Bool { false }
  /// Reserves nothing.
  public func reserve(_ item: SecretItem, bytes: Int) throws(SecretStoreError) {}
}

/// Stores secrets in memory only.
///
/// It is meant for tests.
///
/// - Requirement: STO-2
public final class MemorySecretStore: SecretStore {
  private struct State {
    var items: [SecretItem: [UInt8]] = [:]
    var aside: [SecretItem: [UInt8]] = [:]
    var isAvailable = true
  }

  private let state = Mutex(State())

  /// Creates an empty store.
  public init() {}

  /// Whether the store answers.
  ///
  /// `false` simulates a device that was not unlocked yet.
  ///
  /// - Requirement: RES-3
  public var isAvailable: Bool {
    get { state.withLock { $0.isAvailable } }
    set { state.withLock { $0.isAvailable = newValue } }
  }

  /// The items that are stored.
  public var items: Set<SecretItem> {
    state.withLock { Set($0.items.keys) }
  }

  /// Returns the bytes of the item that were moved aside.
  public func setAsideBytes(_ item: SecretItem) -> [UInt8]? {
    state.withLock { $0.aside[item] }
  }

  /// Returns the item's bytes; `nil` if there is no such item.
  public func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    try change(item) { $0.items[item] }
  }

  /// Replaces the item.
  public func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    try change(item) { $0.items[item] = bytes }
  }

  /// Removes the item.
  public func remove(_ item: SecretItem) throws(SecretStoreError) {
    try change(item) { $0.items[item] = nil }
  }

  /// Moves the item aside.
  public func setAside(_ item: SecretItem) throws(SecretStoreError) {
    try change(item) { state in
      state.aside[item] = state.items.removeValue(forKey: item)
    }
  }

  /// Removes the bytes that were moved aside.
  public func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try change(item) { $0.aside[item] = nil }
  }

  private func change<Value: Sendable>(
    _ item: SecretItem, _ body: (inout State) -> Value
  ) throws(SecretStoreError) -> Value {
    let result: Value? = state.withLock { state in state.isAvailable ? body(&state) : nil }
    guard let result else { throw .unavailable(item: item, place: "memory") }
    return result
  }
}
