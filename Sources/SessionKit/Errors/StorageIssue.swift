@_spi(Internals) import SessionCore
import SessionJournal

/// A class of storage failures, safe as a metric label: it contains no path and no number.
enum StorageIssue: String, CaseIterable, Sendable {
  /// No space is left.
  case noRoom = "noRoom"
  /// This process has no access, or not yet.
  case refused = "refused"
  /// Another process has held the lock for too long.
  case busy = "busy"
  /// The journal is gone, or another one has replaced it.
  case replaced = "replaced"
  /// The stored data cannot be read or folded.
  case unusable = "unusable"
  /// The system failed in another way.
  case failed = "failed"
}

extension StorageIssue {
  /// Creates the class of an error of a journal or a secret store.
  init(_ error: SessionError) {
    if let problem = error.journalError {
      self.init(problem)
    } else if let problem = error.secretsError {
      self.init(problem)
    } else if let cause = error.underlyingError as? SessionError {
      self.init(cause)
    } else {
      switch error.failure {
      case .unusableJournal, .movedAway: self = .unusable
      case .secretsOfAnotherSession, .secretsOwnerUnreadable: self = .refused
      default: self = .failed
      }
    }
  }

  private init(_ error: JournalError) {
    self =
      switch error {
      case .diskFull, .noRoomToCreate: .noRoom
      case .permissionDenied, .readOnlyFolder, .unavailable: .refused
      case .busy: .busy
      case .missing, .folderMissing, .replaced: .replaced
      case .damaged, .headerDamaged, .notAJournal, .empty, .newerFormat, .unknownFeatures: .unusable
      default: .failed
      }
  }

  private init(_ error: SecretStoreError) {
    self =
      switch error {
      case .noSpace, .noRoomForNext: .noRoom
      case .unavailable, .accessDenied, .notWritable, .otherBackend, .storedElsewhere: .refused
      case .newerVersion, .tooLarge: .unusable
      case .obstructed, .notFound, .failed: .failed
      }
  }
}

extension StorageCause {
  /// Creates the class of an error for the journal.
  init(_ error: SessionError) {
    self =
      switch StorageIssue(error) {
      case .noRoom: .noRoom
      case .refused: .refused
      case .busy: .busy
      case .replaced: .replaced
      case .unusable: .unusable
      case .failed: .failed
      }
  }
}
