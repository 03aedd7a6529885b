@_spi(Internals) import SessionCore
import SessionJournal

// The text for users of each error, in English.

extension SessionError: WordedError {
  package var text: ErrorText { failure.text }
}

extension SessionError.Failure {
  var text: ErrorText {
    switch self {
    case .invalidCredential(let problem): problem.text
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
    case .webSignIn(let problem): problem.text
    case .expired(let cause): cause.expiry?.text ?? .sessionExpired
    case .loggedOut: .loggedOut
    case .notStoredYet(let cause): .answerNotStored(because: cause.text)
    case .answerDropped(let cause): .answerDropped(because: cause.text)
    case .journal(let error): error.text
    case .unusableJournal: .newerData
    case .eventsCompacted: .historySummedUp
    case .secrets(let error): error.text
    case .secretsOfAnotherSession: .storageUnusable
    case .secretsOwnerUnreadable: .deviceLocked
    case .closed: .closed
    case .cancelled: .cancelled
    }
  }
}

extension CredentialRules.Problem: WordedError {
  package var text: ErrorText {
    switch self {
    case .emptyUserName: .userNameMissing
    case .notAnEmail: .notAnEmail
    case .emptyPassword: .passwordMissing
    case .passwordTooShort(let minimum): .passwordTooShort(minimumLength: minimum)
    case .emptyProviderToken: .providerSignInMissing
    }
  }
}

extension WebSignInProblem: WordedError {
  package var text: ErrorText {
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

extension JournalError: WordedError {
  package var text: ErrorText {
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

extension SecretStoreError: WordedError {
  package var text: ErrorText {
    switch self {
    case .unavailable: .deviceLocked
    case .notWritable, .obstructed, .failed, .otherBackend: .storageUnusable
    case .newerVersion: .newerData
    case .noSpace: .noSpace
    case .tooLarge: .tooLarge
    }
  }
}

extension SessionRejection: WordedError {
  package var text: ErrorText { SessionError(self, after: EndCause()).text }
}

extension ExpiryReason {
  package var text: ErrorText {
    switch self {
    case .refreshRejected, .endedByServer: .endedByService
    case .attemptsExhausted: .serviceTrouble(waitSeconds: nil)
    case .secretsMissing, .corruptStorage, .secretsOutdated, .secretsNewer: .storedSignInLost
    case .userInactive: .accountInactive
    case .inactivity: .inactive
    default: .sessionExpired
    }
  }
}
