import SessionCore

/// What an `OSStatus` of the keychain means to a session (`Specs/Errors.md`).
enum KeychainStatus: Hashable, Sendable, CaseIterable {
  /// It was done.
  case done
  /// There is no such item.
  case absent
  /// There is such an item already.
  case duplicate
  /// Not now: locked, or the user has not shown who they are.
  case locked
  /// This process may not.
  case refused
  /// There is no room.
  case noSpace
  /// Something else is wrong.
  case failed

  /// Numbers, not the names that Security has for them, so that the table is the same everywhere.
  init(_ status: Int32) {
    switch status {
    case 0: self = .done
    // errSecItemNotFound
    case -25300: self = .absent
    // errSecDuplicateItem
    case -25299: self = .duplicate
    // errSecInteractionNotAllowed, errSecNotAvailable, errSecAuthFailed, errSecUserCanceled,
    // errSecInteractionRequired
    case -25308, -25291, -25293, -128, -25315: self = .locked
    // errSecNoAccessForItem, errSecReadOnly, errSecWrPerm
    case -25243, -25292, -61: self = .refused
    // errSecDiskFull
    case -34: self = .noSpace
    // Among them errSecMissingEntitlement, -34018: the app's signature lacks the access group.
    default: self = .failed
    }
  }

  /// The error of a reading that did not end well.
  static func readingError(_ status: Int32, _ item: SecretItem, at place: String)
    -> SecretStoreError
  {
    switch KeychainStatus(status) {
    case .locked, .refused: .unavailable(item: item, place: place)
    case .noSpace: .noSpace(item: item, place: place)
    case .done, .absent, .duplicate, .failed:
      .failed(item: item, place: place, operation: "read", code: status)
    }
  }

  /// The error of a change that did not end well.
  static func writingError(
    _ status: Int32, _ operation: String, _ item: SecretItem, at place: String
  ) -> SecretStoreError {
    switch KeychainStatus(status) {
    case .locked, .refused: .notWritable(item: item, place: place)
    case .noSpace: .noSpace(item: item, place: place)
    case .done, .absent, .duplicate, .failed:
      .failed(item: item, place: place, operation: operation, code: status)
    }
  }
}
