public import SessionChanges
@_spi(Internals) public import SessionCore
public import SessionJournal
public import SessionKit

extension SessionError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage { failure.message }
}

extension SessionError.Failure {
  var message: SessionMessage {
    switch self {
    case .invalidCredential(let problem): problem.message
    case .notSignedIn: .notSignedIn
    case .alreadySignedIn: .alreadySignedIn
    case .otherUsersSession: .otherUsersSession
    case .superseded: .superseded
    case .signInUnderWay: .signInUnderWay
    case .secretsUnavailable, .needsPresence: .deviceLocked
    case .pendingChanges(let count): .changesNotSent(count: count)
    case .clearingLocalData: .logoutUnderWay
    case .noRefreshToken: .notProlongable
    case .notOffered, .wrongAddress, .unusableCall, .appRefused: .appNotSetUp
    case .invalidRequest: .invalidInput
    case .invalidCredentials: .wrongCredentials
    case .unauthorized: .signInRefused
    case .forbidden: .notAllowed
    case .userInactive: .accountInactive
    case .userDeleted: .accountDeleted
    case .notFound: .notFound
    case .conflict: .conflict
    case .alreadyDeleted: .alreadyDeleted
    case .accountLocked: .accountLocked
    case .rateLimited(let wait, _, _): .tooManyRequests(waitSeconds: Self.seconds(wait))
    case .tooManyAttempts(let wait): .tooManyRequests(waitSeconds: Self.seconds(wait))
    case .server(_, _, let wait): .serviceTrouble(waitSeconds: Self.seconds(wait))
    case .databaseUnavailable(_, _, let wait): .dataTrouble(waitSeconds: Self.seconds(wait))
    case .unexpectedStatus, .refreshRefused, .responseTooLarge: .strangeAnswer
    case .unreadableAnswer: .unreadableAnswer
    case .intercepted: .networkSignIn
    case .noConnection: .noConnection
    case .notTrusted: .insecureConnection
    case .noReply, .responseTooSlow: .noAnswer
    case .webSignIn(let problem): problem.message
    case .expired(let cause): cause.expiry?.message ?? .sessionExpired
    case .loggedOut: .loggedOut
    case .notStoredYet(let cause): .answerNotStored(because: cause.message)
    case .answerDropped(let cause): .answerDropped(because: cause.message)
    case .journal(let error): error.message
    case .unusableJournal: .newerData
    case .eventsCompacted: .historySummedUp
    case .secrets(let error): error.message
    case .secretsOfAnotherSession: .storageUnusable
    case .secretsOwnerUnreadable: .deviceLocked
    case .closed: .closed
    case .cancelled: .cancelled
    }
  }
}

extension SessionAdvice {
  /// Returns the advice as a sentence for the user; empty for `nothing`.
  public func text(in language: SessionLanguage = .preferred) -> String {
    switch language {
    case .english: inEnglish
    case .spanish: inSpanish
    case .portuguese: inPortuguese
    }
  }
}

extension WebSignInProblem: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage {
    switch self {
    case .cancelledByUser, .forgottenPassword, .cancelled: .cancelled
    case .noAccount: .notSignedIn
    case .refused: .providerSignInMissing
    case .unreachable: .noConnection
    case .viewFailed: .appNotSetUp
    case .unreadableTokens: .unreadableAnswer
    }
  }
}

extension ChangeLogError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage {
    switch self {
    case .sessionExpired: .sessionExpired
    case .notSignedIn, .signInEnded: .notSignedIn
    case .loggingOut: .logoutUnderWay
    case .notKnown: .closed
    case .othersChanges(let count): .othersChanges(count: count)
    case .full(let count, _): .changesFull(count: count)
    case .contentTooLong: .changeTooLong
    case .keyInUse: .storageUnusable
    case .givenUp: .changeGivenUp
    case .unknownKey: .changeNotWaiting
    case .drainUnderWay: .changesBeingSent
    case .notAChangeLog: .storageUnusable
    case .newerVersion: .newerData
    case .unusable: .storageDamaged
    case .journal(let error): error.message
    }
  }
}

extension SyncGateClosed: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage { .notSignedIn }
}

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
