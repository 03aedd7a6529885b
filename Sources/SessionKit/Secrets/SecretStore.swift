@_spi(Internals) public import SessionCore

/// Where a session's secrets are kept, outside the journal.
///
/// Called on a thread that may wait, one call at a time, and while the journal's lock is held.
///
/// - Requirement: STO-1, STO-2
public protocol SecretStore: Sendable {
  /// Whether the refresh token is stored as an item of its own, `refreshToken`, which may ask for more than
  /// the others do; `false` where a store does not say.
  ///
  /// Such an item is read when a refresh is about to begin, and when a logout is; `unavailable` means
  /// that the user has to show who they are first.
  ///
  /// - Requirement: STO-2
  var separatesRefreshToken: Bool { get }

  /// The item's bytes, or `nil` where there is none.
  ///
  /// A store that cannot tell (locked, refused) throws: that is never "none".
  ///
  /// - Requirement: RES-3
  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]?

  /// Replaces the item, whole or not at all; durable when it returns.
  func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError)

  /// Removes the item; one that is not there is fine.
  func remove(_ item: SecretItem) throws(SecretStoreError)

  /// Moves an item that cannot be used out of the way, so that it then reads as absent, and keeps
  /// its bytes for diagnosis as safely as the item.
  ///
  /// - Requirement: RES-2
  func setAside(_ item: SecretItem) throws(SecretStoreError)

  /// Removes what was set aside of the item, if anything: the user has logged out.
  ///
  /// - Requirement: STO-3
  func removeSetAside(_ item: SecretItem) throws(SecretStoreError)
}

extension SecretStore {
  /// Access and refresh token are one item.
  public var separatesRefreshToken: Bool { false }
}

/// Why a secret store failed; never holds what an item holds.
public enum SecretStoreError: Error, Hashable, Sendable {
  /// The item cannot be read *yet*: locked, or access refused.
  case unavailable(item: SecretItem, place: String)
  /// A newer version of this library wrote the item: it is not read, and not touched.
  ///
  /// - Requirement: RES-6
  case newerVersion(item: SecretItem, found: Int)
  /// The item cannot be written: access refused.
  case notWritable(item: SecretItem, place: String)
  /// No room is left.
  case noSpace(item: SecretItem, place: String)
  /// Something else stands where the item or its folder should.
  case obstructed(place: String, by: String)
  /// The item is larger than any secret has reason to be; sizes in bytes.
  case tooLarge(item: SecretItem, place: String, maximum: Int)
  /// The system refused an operation; `code` is its errno, or of a keychain its `OSStatus`, below 0.
  case failed(item: SecretItem, place: String, operation: String, code: Int32)
  /// The item is of another backend or client: it is not sent, and not touched.
  ///
  /// - Requirement: STO-6
  case otherBackend(item: SecretItem, stored: String, configured: String)
}

extension SecretStoreError: CustomStringConvertible {
  /// What happened, where, what it means and what to do next.
  public var description: String {
    switch self {
    case .unavailable(let item, let place):
      "The \(item) item at \(place) cannot be read yet. Nobody was logged out. Unlock the device, "
        + "or check the owner and mode of the file and its folder."
    case .newerVersion(let item, let found):
      "The \(item) item was written by a newer version (\(found)) of this library. Nothing was "
        + "changed, and nobody was logged out. Use that version, or a newer one."
    case .notWritable(let item, let place):
      "The \(item) item cannot be stored at \(place): access is refused. Nothing was changed. Check "
        + "the owner and mode of the file and its folder."
    case .noSpace(let item, let place):
      "There is no room to store the \(item) item at \(place); the old one is still there. Free "
        + "some space."
    case .obstructed(let place, let obstacle):
      "\(place) is \(obstacle). Nothing was changed. Move it away."
    case .tooLarge(let item, let place, let maximum):
      "The \(item) item at \(place) is larger than \(maximum) bytes, which no secret has reason "
        + "to be. Nothing was changed. Look at what wrote it."
    case .failed(let item, let place, let operation, let code):
      "The system refused to \(operation) the \(item) item at \(place) "
        + (code < 0
          ? "(status \(code)). Check the app's entitlements and the keychain."
          : "(errno \(code)). Check the disk, the owner and the mode.")
    case .otherBackend(let item, let stored, let configured):
      "The \(item) item belongs to the backend \(stored), and this session is configured for "
        + "\(configured). Nothing was sent or changed. Open it with the backend it belongs to, or use "
        + "another journal and other secrets. If the backend has moved or has an endpoint on a further host, "
        + "name its earlier identity in formerBackends."
    }
  }
}
