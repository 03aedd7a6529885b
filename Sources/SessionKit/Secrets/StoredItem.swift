@_spi(Internals) import SessionCore
import SessionJSON
import Synchronization

/// Why an item cannot be decoded.
///
/// It never contains the item's bytes.
enum StoredItemError: Error, Hashable {
  case corrupt(SecretItem, problem: String)
  case newerVersion(SecretItem, found: Int)
}

/// An item in a secret store: JSON with a version and the journal to which it belongs.
///
/// An item is read before most writes to the journal, so it is read and written by SessionJSON. Coders of
/// `Codable` took a third of the time of a session without a disk.
///
/// - Requirement: RES-5
protocol StoredItem: Sendable {
  associatedtype Fields: ItemFields

  static var item: SecretItem { get }
  /// Whether the item holds secrets that only one backend may receive.
  ///
  /// - Requirement: STO-6
  static var isBound: Bool { get }
  var journal: String { get }
  /// The journals that the item's journal continues, the newest first.
  var continues: [String] { get }
  var fields: Fields { get }
  /// Returns the item of a journal that continues these.
  func continuing(_ journals: [String]) -> Self
  init(journal: String, fields: Fields)
}

/// An item that also contains the path of its journal.
protocol LocatedItem: StoredItem {
  var journalPath: String? { get }
}

/// Fields that name the journals which the item's journal continues.
///
/// Earlier versions did not store them.
///
/// - Requirement: RES-7
protocol ContinuingFields: ItemFields {
  var continues: [String]? { get set }
}

extension StoredItem where Fields: ContinuingFields {
  var continues: [String] { fields.continues ?? [] }

  func continuing(_ journals: [String]) -> Self {
    var fields = fields
    fields.continues = journals.isEmpty ? nil : journals
    return Self(journal: journal, fields: fields)
  }
}

extension StoredItem {
  static var isBound: Bool { false }
  var continues: [String] { [] }
  func continuing(_ journals: [String]) -> Self { self }

  /// Returns the bytes to store.
  ///
  /// They are the same for the same item and backend.
  func encoded(for backend: BackendIdentity? = nil) -> [UInt8] {
    WholeItem(self, for: backend).encoded
  }

  /// Decodes an item.
  init(decoding bytes: [UInt8]) throws(StoredItemError) {
    if let whole = WholeItem<Self>(bytes) {
      self = whole.item
      return
    }
    guard let version = storedVersion(of: bytes) else {
      throw .corrupt(Self.item, problem: "it is not JSON with a version")
    }
    guard version <= storedItemVersion else {
      throw .newerVersion(Self.item, found: version)
    }
    throw .corrupt(Self.item, problem: "a field is missing or has the wrong type")
  }
}

/// An item of this version, and the backend that it names.
struct WholeItem<Item: StoredItem>: Sendable {
  let item: Item
  let backend: BackendIdentity?

  /// Creates the item as it is stored for a backend.
  init(_ item: Item, for backend: BackendIdentity?) {
    (self.item, self.backend) = (item, Item.isBound ? backend : nil)
  }

  /// Decodes an item in one pass.
  ///
  /// Returns `nil` if the bytes are no whole item of this version. ``StoredItem/init(decoding:)`` and
  /// ``BackendIdentity/init(ofItem:)`` say what is wrong with them, in further passes.
  init?(_ bytes: [UInt8]) {
    guard var reader = ItemReader(bytes) else { return nil }
    var (backend, fields, journal, version) = (BackendIdentity?.none, Item.Fields(), "", 0)
    // Earlier versions did not write the backend. Then the next write binds the item.
    reader.field("backend", &backend)
    reader.field("fields", &fields)
    reader.field("journal", &journal)
    reader.field("v", &version)
    guard !reader.isFlawed, version <= storedItemVersion else { return nil }
    (item, self.backend) = (Item(journal: journal, fields: fields), backend)
  }

  var encoded: [UInt8] {
    var writer = JSONWriter()
    writer.object { pass in
      var (backend, fields) = (backend, item.fields)
      var (journal, version) = (item.journal, storedItemVersion)
      pass.field("backend", &backend)
      pass.field("fields", &fields)
      pass.field("journal", &journal)
      pass.field("v", &version)
    }
    return Array(writer.bytes)
  }
}

private let storedItemVersion = 1

/// Returns the version of an item, also of a newer one; `nil` if the bytes are no item.
private func storedVersion(of bytes: [UInt8]) -> Int? {
  guard var reader = ItemReader(bytes) else { return nil }
  var version = 0
  reader.field("v", &version)
  return reader.isFlawed ? nil : version
}

/// Returns whether these bytes are an item of a newer version.
func isOfNewerVersion(_ bytes: [UInt8]) -> Bool {
  storedVersion(of: bytes).map { $0 > storedItemVersion } ?? false
}

extension BackendIdentity {
  /// Creates the identity that a stored item names; `nil` if it names none, or if the bytes are no
  /// item.
  init?(ofItem bytes: [UInt8]) {
    guard var reader = ItemReader(bytes) else { return nil }
    var backend: BackendIdentity?
    reader.field("backend", &backend)
    guard let backend else { return nil }
    self = backend
  }
}

extension BackendIdentity: ItemValue {
  init?(_ part: JSONPart) {
    guard var reader = ItemReader(part) else { return nil }
    var (client, origins) = (String?.none, [String]())
    reader.field("client", &client)
    reader.field("origins", &origins)
    if reader.isFlawed { return nil }
    self.init(origins: origins, client: client)
  }

  func write(to writer: inout JSONWriter) {
    writer.object { inner in
      if let client { inner.field("client", client) }
      inner.array("origins", origins) { $0.value($1) }
    }
  }
}

/// The journals that a session's journal continues, the newest first.
///
/// - Requirement: RES-7
final class ContinuedJournals: Sendable {
  private let state = Mutex<[String]>([])

  var journals: [String] { state.withLock { $0 } }

  /// Adds journals; more than eight are not kept.
  func add(_ journals: [String], to own: String) {
    guard !journals.isEmpty else { return }
    state.withLock { known in
      let new = journals.filter { $0 != own && !known.contains($0) }
      known = Array((new + known).prefix(8))
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
