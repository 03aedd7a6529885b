import Foundation
@_spi(Internals) import SessionCore

/// Why an item cannot be decoded.
///
/// It never contains the item's bytes.
enum StoredItemError: Error, Hashable {
  case corrupt(SecretItem, problem: String)
  case newerVersion(SecretItem, found: Int)
}

/// An item in a secret store: JSON with a version and the journal to which it belongs.
///
/// The fields of each item are `Codable`, so Foundation writes and reads this JSON. An item is small, and is
/// read and written with a file or a keychain. SessionJSON has no list of these fields: a second list would
/// be one more place to keep the same.
///
/// - Requirement: RES-5
protocol StoredItem {
  associatedtype Fields: Codable

  static var item: SecretItem { get }
  /// Whether the item holds secrets that only one backend may receive.
  ///
  /// - Requirement: STO-6
  static var isBound: Bool { get }
  var journal: String { get }
  var fields: Fields { get }
  init(journal: String, fields: Fields)
}

/// An item that also contains the path of its journal.
protocol LocatedItem: StoredItem {
  var journalPath: String? { get }
}

extension StoredItem {
  static var isBound: Bool { false }

  /// Returns the bytes to store.
  ///
  /// They are the same for the same item and backend.
  func encoded(for backend: BackendIdentity? = nil) throws(StoredItemError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return Array(
        try encoder.encode(
          Envelope(
            v: storedItemVersion, journal: journal, backend: Self.isBound ? backend : nil,
            fields: fields)))
    } catch {
      throw .corrupt(Self.item, problem: "it cannot be encoded")
    }
  }

  /// Decodes a whole item of this version in one pass, and the backend that it names.
  ///
  /// Returns `nil` for all other bytes. ``init(decoding:)`` and ``BackendIdentity/init(ofItem:)`` say
  /// what is wrong with them, in further passes.
  static func read(_ bytes: [UInt8]) -> (item: Self, backend: BackendIdentity?)? {
    do {
      let envelope = try JSONDecoder().decode(Envelope<Fields>.self, from: Data(bytes))
      guard envelope.v <= storedItemVersion else { return nil }
      return (Self(journal: envelope.journal, fields: envelope.fields), envelope.backend)
    } catch {
      return nil
    }
  }

  /// Decodes an item.
  init(decoding bytes: [UInt8]) throws(StoredItemError) {
    if let whole = Self.read(bytes) {
      self = whole.item
      return
    }
    let decoder = JSONDecoder()
    let version: Version
    do {
      version = try decoder.decode(Version.self, from: Data(bytes))
    } catch {
      throw .corrupt(Self.item, problem: "it is not JSON with a version")
    }
    guard version.v <= storedItemVersion else {
      throw .newerVersion(Self.item, found: version.v)
    }
    do {
      let envelope = try decoder.decode(Envelope<Fields>.self, from: Data(bytes))
      self.init(journal: envelope.journal, fields: envelope.fields)
    } catch {
      throw .corrupt(Self.item, problem: "a field is missing or has the wrong type")
    }
  }
}

private let storedItemVersion = 1

/// Returns whether these bytes are an item of a newer version.
func isOfNewerVersion(_ bytes: [UInt8]) -> Bool {
  do {
    return try JSONDecoder().decode(Version.self, from: Data(bytes)).v > storedItemVersion
  } catch {
    return false
  }
}

private struct Version: Decodable {
  let v: Int
}

private struct Envelope<Fields: Codable>: Codable {
  let v: Int
  let journal: String
  /// Earlier versions did not write it.
  ///
  /// If it is missing, the next write binds the item.
  var backend: BackendIdentity?
  let fields: Fields
}

/// The member that names who may receive an item.
private struct Binding: Decodable {
  let backend: BackendIdentity?
}

extension BackendIdentity {
  /// Creates the identity that a stored item names; `nil` if it names none, or if the bytes are no
  /// item.
  init?(ofItem bytes: [UInt8]) {
    do {
      let binding = try JSONDecoder().decode(Binding.self, from: Data(bytes))
      guard let backend = binding.backend else { return nil }
      self = backend
    } catch {
      return nil
    }
  }
}

/// Decides which stored secrets a session may use: those of its backend, at the present or an
/// earlier address.
struct BackendBinding: Sendable {
  let backend: BackendIdentity
  let former: [BackendIdentity]

  /// Throws if an item belongs to another backend.
  ///
  /// Such an item is neither used nor changed.
  func refuse<Item: StoredItem>(_ item: Item.Type, _ bytes: [UInt8]) throws(SecretStoreError) {
    guard Item.isBound else { return }
    try refuse(item, of: BackendIdentity(ofItem: bytes))
  }

  /// Throws if an item belongs to another backend than ours; `stored` is the one that it names.
  func refuse<Item: StoredItem>(_: Item.Type, of stored: BackendIdentity?)
    throws(SecretStoreError)
  {
    guard Item.isBound, let stored, !([backend] + former).contains(where: stored.covers) else {
      return
    }
    throw .otherBackend(
      item: Item.item, stored: stored.description, configured: backend.description)
  }

  /// Returns the problem with a stored token of another backend.
  ///
  /// `nil` if the token belongs to this backend, is missing or cannot be read.
  ///
  /// Data of a revocation at another backend does not prevent a sign-in. It stays unread and is not
  /// sent.
  func problem(in store: any SecretStore) -> SecretStoreError? {
    do throws(SecretStoreError) {
      if let bytes = try store.read(.token) { try refuse(StoredToken.self, bytes) }
    } catch {
      if case .otherBackend = error { return error }
    }
    return nil
  }
}
