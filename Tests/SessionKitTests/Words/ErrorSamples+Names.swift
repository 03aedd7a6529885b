import SessionChanges
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionMessages

// Switches without a default: a new case does not compile without a name.

enum SessionErrorCase: String, CaseIterable {
  case invalidCredential, notSignedIn, alreadySignedIn, otherUsersSession, superseded,
    signInUnderWay, secretsUnavailable, needsPresence, pendingChanges, clearingLocalData,
    noRefreshToken, invalidRequest, invalidCredentials, codeRefused, unauthorized, forbidden,
    userInactive,
    userDeleted, notFound, conflict, alreadyDeleted, accountLocked, rateLimited, tooManyAttempts,
    server, databaseUnavailable, unexpectedStatus, refreshRefused, unreadableAnswer, intercepted,
    gatewayFailed, noConnection,
    notTrusted, noReply, expired, loggedOut, notStoredYet, answerDropped, journal, unusableJournal,
    eventsCompacted, secrets, secretsOfAnotherSession, secretsOwnerUnreadable, closed, cancelled,
    notOffered, wrongAddress, appRefused, webSignIn, unusableCall,
    responseTooLarge, responseTooSlow
}

enum JournalErrorCase: String, CaseIterable {
  case missing, folderMissing, emptyPath, danglingLink, isDirectory, notARegularFile,
    permissionDenied, readOnlyFolder, empty, notAJournal, headerDamaged, newerFormat,
    unknownFeatures, damaged, replaced, diskFull, noRoomToCreate, io, busy, unavailable, conflict,
    poisoned, recordTooLarge, batchTooLarge, hardLinked, compactionRefused, reservedKind, closed
}

enum SecretStoreErrorCase: String, CaseIterable {
  case unavailable, accessDenied, notFound, newerVersion, notWritable, noSpace,
    noRoomForNext, obstructed, tooLarge,
    failed, otherBackend, storedElsewhere
}

enum CredentialProblemCase: String, CaseIterable {
  case emptyUserName, notAnEmail, emptyPassword, passwordTooShort, emptyProviderToken
}

enum WebSignInProblemCase: String, CaseIterable {
  case cancelledByUser, forgottenPassword, noAccount, refused, unreachable, viewFailed,
    unreadableTokens, cancelled, requestFailed, otherIssuer, noRedirect
}

enum TransportErrorCase: String, CaseIterable {
  case noConnection, notTrusted, noReply, badAddress, insecure, cancelled
}

enum ChangeLogErrorCase: String, CaseIterable {
  case sessionExpired, notSignedIn, notKnown, othersChanges, full, contentTooLong, keyInUse,
    givenUp,
    loggingOut, signInEnded, unknownKey, drainUnderWay, notAChangeLog, newerVersion, unusable,
    journal
}

extension ErrorSamples {
  static func name(of error: SessionError) -> SessionErrorCase {
    switch error.failure {
    case .invalidCredential: .invalidCredential
    case .notSignedIn: .notSignedIn
    case .alreadySignedIn: .alreadySignedIn
    case .otherUsersSession: .otherUsersSession
    case .superseded: .superseded
    case .signInUnderWay: .signInUnderWay
    case .secretsUnavailable: .secretsUnavailable
    case .needsPresence: .needsPresence
    case .pendingChanges: .pendingChanges
    case .clearingLocalData: .clearingLocalData
    case .noRefreshToken: .noRefreshToken
    case .notOffered: .notOffered
    case .wrongAddress: .wrongAddress
    case .unusableCall: .unusableCall
    case .appRefused: .appRefused
    case .webSignIn: .webSignIn
    case .invalidRequest: .invalidRequest
    case .invalidCredentials: .invalidCredentials
    case .codeRefused: .codeRefused
    case .unauthorized: .unauthorized
    case .forbidden: .forbidden
    case .userInactive: .userInactive
    case .userDeleted: .userDeleted
    case .notFound: .notFound
    case .conflict: .conflict
    case .alreadyDeleted: .alreadyDeleted
    case .accountLocked: .accountLocked
    case .rateLimited: .rateLimited
    case .tooManyAttempts: .tooManyAttempts
    case .server: .server
    case .databaseUnavailable: .databaseUnavailable
    case .unexpectedStatus: .unexpectedStatus
    case .refreshRefused: .refreshRefused
    case .unreadableAnswer: .unreadableAnswer
    case .intercepted: .intercepted
    case .gatewayFailed: .gatewayFailed
    case .noConnection: .noConnection
    case .notTrusted: .notTrusted
    case .noReply: .noReply
    case .responseTooLarge: .responseTooLarge
    case .responseTooSlow: .responseTooSlow
    case .expired: .expired
    case .loggedOut: .loggedOut
    case .notStoredYet: .notStoredYet
    case .answerDropped: .answerDropped
    case .journal: .journal
    case .unusableJournal: .unusableJournal
    case .eventsCompacted: .eventsCompacted
    case .secrets: .secrets
    case .secretsOfAnotherSession: .secretsOfAnotherSession
    case .secretsOwnerUnreadable: .secretsOwnerUnreadable
    case .closed: .closed
    case .cancelled: .cancelled
    }
  }

  static func name(of error: JournalError) -> JournalErrorCase {
    switch error {
    case .missing: .missing
    case .folderMissing: .folderMissing
    case .emptyPath: .emptyPath
    case .danglingLink: .danglingLink
    case .isDirectory: .isDirectory
    case .notARegularFile: .notARegularFile
    case .permissionDenied: .permissionDenied
    case .readOnlyFolder: .readOnlyFolder
    case .empty: .empty
    case .notAJournal: .notAJournal
    case .headerDamaged: .headerDamaged
    case .newerFormat: .newerFormat
    case .unknownFeatures: .unknownFeatures
    case .damaged: .damaged
    case .replaced: .replaced
    case .diskFull: .diskFull
    case .noRoomToCreate: .noRoomToCreate
    case .io: .io
    case .busy: .busy
    case .unavailable: .unavailable
    case .conflict: .conflict
    case .poisoned: .poisoned
    case .recordTooLarge: .recordTooLarge
    case .batchTooLarge: .batchTooLarge
    case .hardLinked: .hardLinked
    case .compactionRefused: .compactionRefused
    case .reservedKind: .reservedKind
    case .closed: .closed
    }
  }

  static func name(of error: SecretStoreError) -> SecretStoreErrorCase {
    switch error {
    case .unavailable: .unavailable
    case .accessDenied: .accessDenied
    case .notFound: .notFound
    case .newerVersion: .newerVersion
    case .notWritable: .notWritable
    case .noSpace: .noSpace
    case .noRoomForNext: .noRoomForNext
    case .obstructed: .obstructed
    case .tooLarge: .tooLarge
    case .failed: .failed
    case .otherBackend: .otherBackend
    case .storedElsewhere: .storedElsewhere
    }
  }

  static func name(of error: CredentialRules.Problem) -> CredentialProblemCase {
    switch error {
    case .emptyUserName: .emptyUserName
    case .notAnEmail: .notAnEmail
    case .emptyPassword: .emptyPassword
    case .passwordTooShort: .passwordTooShort
    case .emptyProviderToken: .emptyProviderToken
    }
  }

  static func name(of error: WebSignInProblem) -> WebSignInProblemCase {
    switch error {
    case .cancelledByUser: .cancelledByUser
    case .forgottenPassword: .forgottenPassword
    case .noAccount: .noAccount
    case .refused: .refused
    case .unreachable: .unreachable
    case .viewFailed: .viewFailed
    case .unreadableTokens: .unreadableTokens
    case .cancelled: .cancelled
    case .requestFailed: .requestFailed
    case .otherIssuer: .otherIssuer
    case .noRedirect: .noRedirect
    }
  }

  static func name(of error: TransportError) -> TransportErrorCase {
    switch error {
    case .noConnection: .noConnection
    case .notTrusted: .notTrusted
    case .noReply: .noReply
    case .badAddress: .badAddress
    case .insecure: .insecure
    case .cancelled: .cancelled
    }
  }

  static func name(of error: ChangeLogError) -> ChangeLogErrorCase {
    switch error {
    case .sessionExpired: .sessionExpired
    case .notSignedIn: .notSignedIn
    case .notKnown: .notKnown
    case .keyInUse: .keyInUse
    case .givenUp: .givenUp
    case .loggingOut: .loggingOut
    case .signInEnded: .signInEnded
    case .othersChanges: .othersChanges
    case .full: .full
    case .contentTooLong: .contentTooLong
    case .unknownKey: .unknownKey
    case .drainUnderWay: .drainUnderWay
    case .notAChangeLog: .notAChangeLog
    case .newerVersion: .newerVersion
    case .unusable: .unusable
    case .journal: .journal
    }
  }
}

/// The cases of the messages, by name.
enum MessageCase: String, CaseIterable {
  case userNameMissing, notAnEmail, passwordMissing, passwordTooShort, providerSignInMissing,
    wrongCredentials, invalidInput, notSignedIn, alreadySignedIn, otherUsersSession, signInUnderWay,
    sessionExpired,
    endedByService, inactive, storedSignInLost, loggedOut, changesNotSent, notProlongable,
    signInRefused, superseded,
    closed, cancelled, notAllowed, accountInactive, accountDeleted, accountLocked, notFound,
    conflict, alreadyDeleted, tooManyRequests, serviceTrouble, dataTrouble, strangeAnswer,
    unreadableAnswer,
    appNotSetUp,
    networkSignIn, gatewayTrouble, noConnection, noAnswer, insecureConnection, deviceLocked,
    noAccess, dataNotFound, noSpace,
    answerNotStored, answerDropped, storageBusy, storageLost, storageUnusable, storageDamaged,
    newerData, tooLarge,
    notTidied, historySummedUp, othersChanges, changesFull, changeTooLong, changeGivenUp,
    changeNotWaiting, changesBeingSent, logoutUnderWay, serviceNotToldYet, notClearedYet,
    nowLoggedOut

  init(_ message: SessionMessage) {
    switch message {
    case .userNameMissing: self = .userNameMissing
    case .notAnEmail: self = .notAnEmail
    case .passwordMissing: self = .passwordMissing
    case .passwordTooShort: self = .passwordTooShort
    case .providerSignInMissing: self = .providerSignInMissing
    case .changesNotSent: self = .changesNotSent
    case .wrongCredentials: self = .wrongCredentials
    case .invalidInput: self = .invalidInput
    case .notSignedIn: self = .notSignedIn
    case .alreadySignedIn: self = .alreadySignedIn
    case .otherUsersSession: self = .otherUsersSession
    case .signInUnderWay: self = .signInUnderWay
    case .sessionExpired: self = .sessionExpired
    case .endedByService: self = .endedByService
    case .inactive: self = .inactive
    case .storedSignInLost: self = .storedSignInLost
    case .loggedOut: self = .loggedOut
    case .notProlongable: self = .notProlongable
    case .signInRefused: self = .signInRefused
    case .superseded: self = .superseded
    case .closed: self = .closed
    case .cancelled: self = .cancelled
    case .notAllowed: self = .notAllowed
    case .accountInactive: self = .accountInactive
    case .accountDeleted: self = .accountDeleted
    case .accountLocked: self = .accountLocked
    case .notFound: self = .notFound
    case .conflict: self = .conflict
    case .alreadyDeleted: self = .alreadyDeleted
    case .tooManyRequests: self = .tooManyRequests
    case .serviceTrouble: self = .serviceTrouble
    case .dataTrouble: self = .dataTrouble
    case .strangeAnswer: self = .strangeAnswer
    case .unreadableAnswer: self = .unreadableAnswer
    case .appNotSetUp: self = .appNotSetUp
    case .networkSignIn: self = .networkSignIn
    case .gatewayTrouble: self = .gatewayTrouble
    case .noConnection: self = .noConnection
    case .noAnswer: self = .noAnswer
    case .insecureConnection: self = .insecureConnection
    case .deviceLocked: self = .deviceLocked
    case .noAccess: self = .noAccess
    case .dataNotFound: self = .dataNotFound
    case .noSpace: self = .noSpace
    case .answerNotStored: self = .answerNotStored
    case .answerDropped: self = .answerDropped
    case .storageBusy: self = .storageBusy
    case .storageLost: self = .storageLost
    case .storageUnusable: self = .storageUnusable
    case .storageDamaged: self = .storageDamaged
    case .newerData: self = .newerData
    case .tooLarge: self = .tooLarge
    case .notTidied: self = .notTidied
    case .historySummedUp: self = .historySummedUp
    case .othersChanges: self = .othersChanges
    case .changesFull: self = .changesFull
    case .changeTooLong: self = .changeTooLong
    case .changeGivenUp: self = .changeGivenUp
    case .changeNotWaiting: self = .changeNotWaiting
    case .changesBeingSent: self = .changesBeingSent
    case .logoutUnderWay: self = .logoutUnderWay
    case .serviceNotToldYet: self = .serviceNotToldYet
    case .notClearedYet: self = .notClearedYet
    case .nowLoggedOut: self = .nowLoggedOut
    }
  }
}

/// The cases of the advice, by name.
enum AdviceCase: String, CaseIterable {
  case retry, wait, correctInput, sendOrDiscard, signIn, logOut, unlock, freeSpace, reopen, update,
    contactSupport
  case nothing

  init(_ advice: SessionAdvice) {
    switch advice {
    case .retry: self = .retry
    case .wait: self = .wait
    case .correctInput: self = .correctInput
    case .sendOrDiscard: self = .sendOrDiscard
    case .signIn: self = .signIn
    case .logOut: self = .logOut
    case .unlock: self = .unlock
    case .freeSpace: self = .freeSpace
    case .reopen: self = .reopen
    case .update: self = .update
    case .contactSupport: self = .contactSupport
    case .nothing: self = .nothing
    }
  }
}
