import Foundation
@_spi(Internals) import SessionCore
import Synchronization

/// The items that were decoded or written last, with their bytes.
///
/// The store is asked each time. If it returns the same bytes, they are not decoded again: one logout
/// reads the token item four times. Nothing is kept between two runs of the engine's loop, so that a secret
/// which was removed does not stay here.
///
/// - Requirement: STO-3
final class ItemMemory: Sendable {
  // Decoding the token item four times took 200,000 of the 4.9 million instructions of a logout.
  // The store is asked nevertheless, so a secret that another process changed is noticed with the
  // next read.
  private struct Entry: Sendable {
    let item: SecretItem
    let bytes: [UInt8]
    let whole: any Sendable
  }

  private struct State {
    var isOpen = false
    var entries: [Entry] = []
    var continues: [String] = []
  }

  private let state = Mutex(State())

  /// The items that are kept.
  var items: Set<SecretItem> { state.withLock { Set($0.entries.map(\.item)) } }

  /// Begins to keep items.
  func open() { state.withLock { $0.isOpen = true } }

  /// Forgets all items, and keeps no further ones.
  func close() { state.withLock { ($0.isOpen, $0.entries) = (false, []) } }

  /// The journals that this one continues, the newest first.
  var continues: [String] { state.withLock { $0.continues } }

  /// Adds journals that this one continues; more than eight are not kept.
  func add(continued journals: [String], to own: String) {
    guard !journals.isEmpty else { return }
    state.withLock { state in
      let new = journals.filter { $0 != own && !state.continues.contains($0) }
      state.continues = Array((new + state.continues).prefix(8))
    }
  }

  /// Decodes an item; `nil` if the bytes are no whole item of this version.
  func read<Item: StoredItem>(_: Item.Type, _ bytes: [UInt8]) -> WholeItem<Item>? {
    let known = state.withLock { state in state.entries.first { $0.item == Item.item } }
    if let known, known.bytes.isEqual(to: bytes), let whole = known.whole as? WholeItem<Item> {
      return whole
    }
    guard let whole = WholeItem<Item>(bytes) else { return nil }
    keep(whole, bytes)
    return whole
  }

  /// Keeps an item that was written with these bytes.
  func keep<Item: StoredItem>(_ whole: WholeItem<Item>, _ bytes: [UInt8]) {
    state.withLock { state in
      guard state.isOpen else { return }
      let entry = Entry(item: Item.item, bytes: bytes, whole: whole)
      if let place = state.entries.firstIndex(where: { $0.item == Item.item }) {
        state.entries[place] = entry
      } else {
        state.entries.append(entry)
      }
    }
  }
}

extension [UInt8] {
  /// Returns whether the bytes are the same; `==` compares them one by one.
  fileprivate func isEqual(to other: [UInt8]) -> Bool {
    count == other.count
      && withUnsafeBytes { own in
        other.withUnsafeBytes { other in
          guard let own = own.baseAddress, let place = other.baseAddress else { return true }
          return memcmp(own, place, other.count) == 0
        }
      }
  }
}
