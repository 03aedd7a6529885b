extension SessionNote {
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

/// What a secret store is asked to do with an item (STO-5).
public struct StorageOperation: Code {
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

/// Why a secret store did not do what it was asked (STO-5).
public struct StorageCause: Code {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// It cannot be read yet: locked, or access refused.
  public static let unavailable = StorageCause(rawValue: 0)
  /// A newer version wrote the item.
  public static let newerVersion = StorageCause(rawValue: 1)
  /// It cannot be written: access refused.
  public static let notWritable = StorageCause(rawValue: 2)
  /// No room is left.
  public static let noSpace = StorageCause(rawValue: 3)
  /// Something else stands in its place.
  public static let obstructed = StorageCause(rawValue: 4)
  /// It is larger than any secret.
  public static let tooLarge = StorageCause(rawValue: 5)
  /// The system failed.
  public static let failed = StorageCause(rawValue: 6)
  /// The store said that there is no such item.
  public static let missing = StorageCause(rawValue: 7)
  /// The item is another journal's, and that journal was not found.
  public static let ownerMissing = StorageCause(rawValue: 8)
  /// The item is another journal's, which cannot be read.
  public static let ownerUnreadable = StorageCause(rawValue: 9)

  /// The word for each byte, from 0.
  public static let words = [
    "unavailable", "newerVersion", "notWritable", "noSpace", "obstructed", "tooLarge", "failed",
    "missing", "ownerMissing", "ownerUnreadable",
  ]
}
