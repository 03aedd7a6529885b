public import SessionKit
import Synchronization

/// The secrets of a ``MemoryLog``: what a decision writes becomes durable together with its records.
///
/// Outside a transaction each change counts at once.
///
/// - Requirement: SCL-1
public struct MemoryLogSecrets: SecretStore {
  let log: MemoryLog

  /// The items that are stored.
  public var items: Set<SecretItem> { Set(log.storage.withLock { $0.items.items.keys }) }

  /// Returns the item's bytes; `nil` if there is no such item.
  public func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    if let transaction = MemoryTransaction.current, transaction.log === log {
      return transaction.read(item)
    }
    return log.storage.withLock { $0.items.items[item] }
  }

  /// Replaces the item.
  public func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    change(item) { $0.items[item] = bytes }
  }

  /// Removes the item.
  public func remove(_ item: SecretItem) throws(SecretStoreError) {
    change(item) { $0.items[item] = nil }
  }

  /// Moves the item aside.
  public func setAside(_ item: SecretItem) throws(SecretStoreError) {
    change(item) { $0.aside[item] = $0.items.removeValue(forKey: item) }
  }

  /// Removes the bytes that were moved aside.
  public func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    change(item) { $0.aside[item] = nil }
  }

  private func change<Value: Sendable>(
    _ item: SecretItem, _ body: (inout MemoryItems) -> Value
  ) -> Value {
    if let transaction = MemoryTransaction.current, transaction.log === log {
      return transaction.change(item, body)
    }
    return log.storage.withLock { body(&$0.items) }
  }
}

/// The secrets of a log in memory.
struct MemoryItems: Sendable {
  var items: [SecretItem: [UInt8]] = [:]
  var aside: [SecretItem: [UInt8]] = [:]

  /// Takes over what a transaction has changed.
  mutating func merge(_ transaction: MemoryTransaction) {
    let (changed, new) = transaction.changes
    for item in changed { (items[item], aside[item]) = (new.items[item], new.aside[item]) }
  }
}

/// The secrets as the transaction of this thread sees them, until it ends.
final class MemoryTransaction: Sendable {
  @TaskLocal static var current: MemoryTransaction?

  let log: MemoryLog
  private let state: Mutex<(changed: Set<SecretItem>, items: MemoryItems)>

  init(_ items: MemoryItems, of log: MemoryLog) {
    self.log = log
    state = Mutex(([], items))
  }

  /// The items that were changed, and all items after that.
  var changes: (Set<SecretItem>, MemoryItems) { state.withLock { $0 } }

  func change<Value: Sendable>(
    _ item: SecretItem, _ body: (inout MemoryItems) -> Value
  ) -> Value {
    state.withLock { state in
      state.changed.insert(item)
      return body(&state.items)
    }
  }

  func read(_ item: SecretItem) -> [UInt8]? { state.withLock { $0.items.items[item] } }
}
