@_spi(Internals) public import SessionCore

/// Why a secret store failed.
///
/// It never contains data of an item.
public enum SecretStoreError: Error, Hashable, Sendable {
  /// The item cannot be read *yet*: the device is locked, or the user has not proven their presence.
  case unavailable(item: SecretItem, place: String)
  /// This process may not read the item, and no unlock changes that.
  ///
  /// `rights` has the path of a file, its owner and its mode. They may allow access, and something
  /// else deny it, such as a security module. For a keychain it says that it denies access. `code` is the
  /// `errno`, or for a keychain the `OSStatus`, which is below 0.
  case accessDenied(item: SecretItem, place: String, rights: String, code: Int32)
  /// The journal names the item, and the store does not have it.
  ///
  /// It is searched for again before it counts as missing.
  ///
  /// - Requirement: RES-7
  case notFound(item: SecretItem)
  /// Other processes store the item of this journal, and this process does not find it: it has
  /// another folder or keychain than they.
  ///
  /// The item is searched for each second, and the session does not end.
  ///
  /// - Requirement: RES-7
  case storedElsewhere(item: SecretItem)
  /// A newer version of this library wrote the item, which is neither read nor changed.
  ///
  /// - Requirement: RES-6
  case newerVersion(item: SecretItem, found: Int)
  /// The item cannot be written, because access is refused.
  case notWritable(item: SecretItem, place: String)
  /// No space is left.
  case noSpace(item: SecretItem, place: String)
  /// There is no room for the item that a response would bring, so no request was sent.
  ///
  /// `bytes` must be free at the place.
  ///
  /// - Requirement: REF-20
  case noRoomForNext(item: SecretItem, place: String, bytes: Int)
  /// Something else is at the place of the item or its folder.
  case obstructed(place: String, by: String)
  /// The item is larger than any secret should be.
  ///
  /// `maximum` is in bytes.
  case tooLarge(item: SecretItem, place: String, maximum: Int)
  /// The system refused an operation.
  ///
  /// `code` is its `errno`, or for a keychain its `OSStatus`, which is below 0.
  case failed(item: SecretItem, place: String, operation: String, code: Int32)
  /// The item belongs to another backend or client.
  ///
  /// It is neither sent nor changed.
  ///
  /// - Requirement: STO-6
  case otherBackend(item: SecretItem, stored: String, configured: String)
}

extension SecretStoreError {
  /// The error of a session that cannot read an item; `nil` if it is only locked.
  var unlessLocked: SessionError? {
    if case .unavailable = self { nil } else { .secrets(self) }
  }
}

extension SecretStoreError: CustomStringConvertible {
  /// A description of what happened, where, the consequence and the next step.
  public var description: String {
    switch self {
    case .unavailable(let item, let place):
      "The \(item) item at \(place) cannot be read yet. No user was logged out. Unlock the device."
    case .accessDenied(let item, let place, let rights, let code):
      "This process may not read the \(item) item at \(place): \(rights) "
        + "(\(code < 0 ? "status" : "errno") \(code)). No user was logged out. Give it that right."
    case .notFound(let item):
      "The \(item) item is not there, although the journal names it. No user was logged out. The "
        + "session searches for it for about four seconds, and then ends. Check what removed it, or "
        + "log out."
    case .storedElsewhere(let item):
      "The secrets of this process have no \(item) item of this journal, while "
        + "other processes store one: they use another folder or keychain. No user was logged out. "
        + "Give all processes of a journal the same secrets."
    case .newerVersion(let item, let found):
      "A newer version (\(found)) of this library wrote the \(item) item. Nothing was changed, and "
        + "no user was logged out. Use that version, or a newer one."
    case .notWritable(let item, let place):
      "The \(item) item cannot be stored at \(place): the system denies access. Nothing was "
        + "changed. Check the owner and mode of the file and its folder."
    case .noSpace(let item, let place):
      "There is no space to store the \(item) item at \(place). The old item is still there. Free "
        + "some space."
    case .noRoomForNext(let item, let place, let bytes):
      "There is no room for the next \(item) item at \(place). No request was sent, and the present "
        + "token is used while it lives. Free at least \(bytes) bytes there."
    case .obstructed(let place, let obstacle):
      "\(place) is \(obstacle). Nothing was changed. Move it away."
    case .tooLarge(let item, let place, let maximum):
      "The \(item) item at \(place) is larger than \(maximum) bytes, and no secret should be. "
        + "Nothing was changed. Check what wrote it."
    case .failed(let item, let place, let operation, let code):
      "The system refused to \(operation) the \(item) item at \(place) "
        + (code < 0
          ? "(status \(code)). Check the app's entitlements and the keychain."
          : "(errno \(code)). Check the disk, the owner and the mode.")
    case .otherBackend(let item, let stored, let configured):
      "The \(item) item belongs to the backend \(stored), but this session is configured for "
        + "\(configured). Nothing was sent or changed. Open the session with the item's backend, "
        + "or use another journal and other secrets. If the backend has moved or has an endpoint "
        + "on another host, add its earlier identity to formerBackends."
    }
  }
}
