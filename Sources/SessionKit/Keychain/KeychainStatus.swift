import SessionCore

/// The meaning of an `OSStatus` of the keychain for a session (`Specs/Errors.md`).
enum KeychainStatus: Hashable, Sendable, CaseIterable {
  /// The call succeeded.
  case done
  /// There is no such item.
  case absent
  /// There already is such an item.
  case duplicate
  /// The item is not available now: it is locked, or the user has not proven their presence.
  case locked
  /// This process has no access.
  case refused
  /// There is no space.
  case noSpace
  /// Another failure occurred.
  case failed

  /// Creates the meaning of a status.
  ///
  /// It uses numbers instead of names of Security, so that all platforms share the table.
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
    // They include errSecMissingEntitlement, -34018: the app's signature lacks the access group.
    default: self = .failed
    }
  }

  /// Returns the error of a failed read.
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

  /// Returns the error of a failed change.
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
