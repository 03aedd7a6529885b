@_spi(Internals) import SessionCore

/// Decides which stored secrets a session may use: those of its backend, at the present or an
/// earlier address.
struct BackendBinding: Sendable {
  let backend: BackendIdentity
  let former: [BackendIdentity]

  /// Throws if an item belongs to another backend.
  ///
  /// Such an item is neither used nor changed.
  func refuse<Item: StoredItem>(_: Item.Type, _ bytes: [UInt8]) throws(SecretStoreError) {
    guard Item.isBound, let stored = BackendIdentity(ofItem: bytes),
      !([backend] + former).contains(where: stored.covers)
    else { return }
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
