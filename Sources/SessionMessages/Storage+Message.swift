public import SessionJournal
public import SessionKit

extension JournalError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage {
    switch self {
    case .missing, .folderMissing, .emptyPath, .danglingLink, .isDirectory, .notARegularFile,
      .readOnlyFolder, .notAJournal, .io, .hardLinked, .reservedKind:
      .storageUnusable
    // The system refuses a file that is protected until the first unlock with the same error as any
    // other.
    case .permissionDenied: .deviceLocked
    case .empty, .headerDamaged, .damaged: .storageDamaged
    case .newerFormat, .unknownFeatures: .newerData
    case .replaced, .poisoned: .storageLost
    case .diskFull, .noRoomToCreate: .noSpace
    case .busy, .conflict: .storageBusy
    case .recordTooLarge, .batchTooLarge: .tooLarge
    case .compactionRefused: .notTidied
    case .closed: .closed
    }
  }
}

extension SecretStoreError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage {
    switch self {
    case .unavailable: .deviceLocked
    case .notWritable, .obstructed, .failed, .otherBackend: .storageUnusable
    case .newerVersion: .newerData
    case .noSpace: .noSpace
    case .tooLarge: .tooLarge
    }
  }
}
