@_spi(Internals) extension SessionNote {
  /// The payload of `storageFailed`: what the secret store did not do; it holds no secret and no path.
  public struct StorageFailed: Hashable, Sendable {
    /// The item that it was about.
    public let item: SecretItem
    /// What the store was asked to do.
    public let operation: StorageOperation
    /// Why it did not.
    public let cause: StorageCause
    /// The system's number of the error: an errno, or below 0 the status of a keychain; 0 for none.
    public let number: Int64

    /// A failure.
    public init(
      item: SecretItem, operation: StorageOperation, cause: StorageCause, number: Int64 = 0
    ) {
      self.item = item
      self.operation = operation
      self.cause = cause
      self.number = number
    }
  }

  /// The payload of `storageRecovered`: the store does again what it did not.
  public struct StorageRecovered: Hashable, Sendable {
    /// The item that it is about.
    public let item: SecretItem
    /// What the store does again.
    public let operation: StorageOperation

    /// A recovery.
    public init(item: SecretItem, operation: StorageOperation) {
      self.item = item
      self.operation = operation
    }
  }
}

/// What a secret store is asked to do with an item.
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
  /// Remove the item, or what was set aside of it.
  public static let remove = StorageOperation(rawValue: 2)
  /// Move an item aside that cannot be used.
  public static let setAside = StorageOperation(rawValue: 3)
  /// Find an item, or an owner of it, that the journal says is there.
  public static let find = StorageOperation(rawValue: 4)

  /// The word for each byte, from 0.
  public static let words = ["read", "write", "remove", "setAside", "find"]
}
