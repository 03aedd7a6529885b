public import SessionCore
import Synchronization

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
