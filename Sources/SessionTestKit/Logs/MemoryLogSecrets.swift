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
  public var items: Set<SecretItem> { Set(log.storage.withLock { $0.items.items.names }) }

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
    change(item) { items in
      items.aside[item] = items.items[item]
      items.items[item] = nil
    }
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
  /// Bytes by name: a few, so that to look at each costs less than a hash.
  struct Table: Sendable {
    private var entries: [(name: SecretItem, bytes: [UInt8])] = []

    var names: [SecretItem] { entries.map(\.name) }

    subscript(name: SecretItem) -> [UInt8]? {
      get { place(of: name).map { entries[$0].bytes } }
      set {
        switch (place(of: name), newValue) {
        case (let place?, let bytes?): entries[place].bytes = bytes
        case (let place?, nil): entries.remove(at: place)
        case (nil, let bytes?): entries.append((name, bytes))
        case (nil, nil): break
        }
      }
    }

    private func place(of name: SecretItem) -> Int? {
      entries.indices.first { entries[$0].name == name }
    }
  }

  var items = Table()
  var aside = Table()

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
  private let state: Mutex<(changed: [SecretItem], items: MemoryItems)>

  init(_ items: MemoryItems, of log: MemoryLog) {
    self.log = log
    state = Mutex(([], items))
  }

  /// The items that were changed, and all items after that.
  var changes: ([SecretItem], MemoryItems) { state.withLock { $0 } }

  func change<Value: Sendable>(
    _ item: SecretItem, _ body: (inout MemoryItems) -> Value
  ) -> Value {
    state.withLock { state in
      if !state.changed.contains(item) { state.changed.append(item) }
      return body(&state.items)
    }
  }

  func read(_ item: SecretItem) -> [UInt8]? { state.withLock { $0.items.items[item] } }
}
