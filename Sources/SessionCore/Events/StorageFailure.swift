@_spi(Internals) extension SessionNote {
  /// The payload of `storageFailed`: an operation that the secret store failed to do.
  ///
  /// It holds no secret and no path.
  public struct StorageFailed: Hashable, Sendable {
    /// The item that the operation was for.
    public let item: SecretItem
    /// The operation that failed.
    public let operation: StorageOperation
    /// Why it failed.
    public let cause: StorageCause
    /// The system's error number: an errno, or below 0 the status of a keychain; 0 for none.
    public let number: Int64

    /// Creates a failure.
    public init(
      item: SecretItem, operation: StorageOperation, cause: StorageCause, number: Int64 = 0
    ) {
      self.item = item
      self.operation = operation
      self.cause = cause
      self.number = number
    }
  }

  /// The payload of `storageRecovered`: an operation that succeeds again.
  public struct StorageRecovered: Hashable, Sendable {
    /// The item that the operation is for.
    public let item: SecretItem
    /// The operation that succeeds again.
    public let operation: StorageOperation

    /// Creates a recovery.
    public init(item: SecretItem, operation: StorageOperation) {
      self.item = item
      self.operation = operation
    }
  }
}

/// An operation of a secret store on an item.
///
/// - Requirement: STO-5
@_spi(Internals) public struct StorageOperation: OpenEnum {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Read the item.
  public static let read = StorageOperation(rawValue: 0)
  /// Replace the item.
  public static let write = StorageOperation(rawValue: 1)
  /// Remove the item, or a copy that was moved aside.
  public static let remove = StorageOperation(rawValue: 2)
  /// Move an unusable item aside.
  public static let setAside = StorageOperation(rawValue: 3)
  /// Find an item, or its owner, that must exist according to the journal.
  public static let find = StorageOperation(rawValue: 4)
  /// Reserve room for the item that a response will bring.
  public static let reserve = StorageOperation(rawValue: 5)

  /// The name of each byte, from 0.
  public static let words = ["read", "write", "remove", "setAside", "find", "reserve"]
}

extension SecretItem {
  /// Whether the item has the access token or the refresh token.
  package var isToken: Bool { self == .token || self == .refreshToken }
}

extension SessionNote.StorageFailed {
  /// Whether a token could not be written, which happens only after a response.
  package var isTokenWrite: Bool { operation == .write && item.isToken }
}
