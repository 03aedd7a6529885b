public import SessionJournal
public import SessionKit

extension JournalError: UserFacingError {
  /// What a user is told of it.
  public var message: SessionMessage {
    switch self {
    case .missing, .folderMissing, .emptyPath, .danglingLink, .isDirectory, .notARegularFile,
      .readOnlyFolder, .notAJournal, .io, .hardLinked, .reservedKind:
      .storageUnusable
    // A file that the system protects until the first unlock is refused like any other.
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
  /// What a user is told of it.
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
