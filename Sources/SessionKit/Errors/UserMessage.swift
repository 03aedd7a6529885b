@_spi(Internals) import SessionCore
import SessionJournal

/// A message for users, in one of its forms.
///
/// `ErrorText` is the form in English, and `SessionMessage` of SessionMessages has all languages.
/// Each error chooses its message once, for both forms.
package protocol UserMessage {
  static var userNameMissing: Self { get }
  static var notAnEmail: Self { get }
  static var passwordMissing: Self { get }
  static func passwordTooShort(minimumLength: Int) -> Self
  static var providerSignInMissing: Self { get }
  static var wrongCredentials: Self { get }
  static var invalidInput: Self { get }
  static var notSignedIn: Self { get }
  static var alreadySignedIn: Self { get }
  static var otherUsersSession: Self { get }
  static var signInUnderWay: Self { get }
  static var sessionExpired: Self { get }
  static var endedByService: Self { get }
  static var inactive: Self { get }
  static var storedSignInLost: Self { get }
  static var loggedOut: Self { get }
  static func changesNotSent(count: Int) -> Self
  static var notProlongable: Self { get }
  static var signInRefused: Self { get }
  static var superseded: Self { get }
  static var closed: Self { get }
  static var cancelled: Self { get }
  static var notAllowed: Self { get }
  static var accountInactive: Self { get }
  static var accountDeleted: Self { get }
  static var accountLocked: Self { get }
  static var notFound: Self { get }
  static var conflict: Self { get }
  static var alreadyDeleted: Self { get }
  static func tooManyRequests(waitSeconds: Int?) -> Self
  static func serviceTrouble(waitSeconds: Int?) -> Self
  static func dataTrouble(waitSeconds: Int?) -> Self
  static var strangeAnswer: Self { get }
  static var unreadableAnswer: Self { get }
  static var appNotSetUp: Self { get }
  static var networkSignIn: Self { get }
  static var gatewayTrouble: Self { get }
  static var noConnection: Self { get }
  static var noAnswer: Self { get }
  static var insecureConnection: Self { get }
  static var deviceLocked: Self { get }
  static var noAccess: Self { get }
  static var dataNotFound: Self { get }
  static var noSpace: Self { get }
  static func answerNotStored(because: Self) -> Self
  static func answerDropped(because: Self) -> Self
  static var storageBusy: Self { get }
  static var storageLost: Self { get }
  static var storageUnusable: Self { get }
  static var storageDamaged: Self { get }
  static var newerData: Self { get }
  static var tooLarge: Self { get }
  static var notTidied: Self { get }
  static var historySummedUp: Self { get }
  static var logoutUnderWay: Self { get }
}

extension ErrorText: UserMessage {}

/// A value that has a message for users.
package protocol MessageChoosing {
  /// Returns the message for users.
  func userMessage<Message: UserMessage>() -> Message
}

extension MessageChoosing where Self: WordedError {
  package var text: ErrorText { userMessage() }
}

extension SessionError: WordedError, MessageChoosing {
  package func userMessage<Message: UserMessage>() -> Message { failure.userMessage() }
}

extension SessionError.Failure {
  package func userMessage<Message: UserMessage>() -> Message {
    switch self {
    case .invalidCredential(let problem): problem.userMessage()
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
    case .codeRefused: .providerSignInMissing
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
    case .gatewayFailed: .gatewayTrouble
    case .noConnection: .noConnection
    case .notTrusted: .insecureConnection
    case .noReply, .responseTooSlow: .noAnswer
    case .webSignIn(let problem): problem.userMessage()
    case .expired(let cause): cause.expiry.map { $0.userMessage() } ?? .sessionExpired
    case .loggedOut: .loggedOut
    case .notStoredYet(let cause): .answerNotStored(because: cause.userMessage())
    case .answerDropped(let cause): .answerDropped(because: cause.userMessage())
    case .journal(let error): error.userMessage()
    case .unusableJournal: .newerData
    case .eventsCompacted: .historySummedUp
    case .secrets(let error): error.userMessage()
    case .secretsOfAnotherSession: .storageUnusable
    case .secretsOwnerUnreadable(_, let problem): problem.userMessage()
    case .closed: .closed
    case .cancelled: .cancelled
    }
  }
}

extension CredentialRules.Problem: WordedError, MessageChoosing {
  package func userMessage<Message: UserMessage>() -> Message {
    switch self {
    case .emptyUserName: .userNameMissing
    case .notAnEmail: .notAnEmail
    case .emptyPassword: .passwordMissing
    case .passwordTooShort(let minimum): .passwordTooShort(minimumLength: minimum)
    case .emptyProviderToken: .providerSignInMissing
    }
  }
}

extension WebSignInProblem: WordedError, MessageChoosing {
  package func userMessage<Message: UserMessage>() -> Message {
    switch self {
    case .cancelledByUser, .forgottenPassword, .cancelled: .cancelled
    case .noAccount: .notSignedIn
    case .refused, .noRedirect: .providerSignInMissing
    case .unreachable: .noConnection
    case .viewFailed, .otherIssuer: .appNotSetUp
    case .unreadableTokens: .unreadableAnswer
    case .requestFailed: SessionError.webSignIn(self).userMessage()
    }
  }
}

extension JournalError: WordedError, MessageChoosing {
  package func userMessage<Message: UserMessage>() -> Message {
    switch self {
    case .missing, .folderMissing, .emptyPath, .danglingLink, .isDirectory, .notARegularFile,
      .readOnlyFolder, .notAJournal, .io, .hardLinked, .reservedKind:
      .storageUnusable
    case .permissionDenied(_, let rights): rights == nil ? .deviceLocked : .noAccess
    case .empty, .headerDamaged, .damaged: .storageDamaged
    case .newerFormat, .unknownFeatures: .newerData
    case .replaced, .poisoned: .storageLost
    case .diskFull, .noRoomToCreate: .noSpace
    case .busy, .unavailable, .conflict: .storageBusy
    case .recordTooLarge, .batchTooLarge: .tooLarge
    case .compactionRefused: .notTidied
    case .closed: .closed
    }
  }
}

extension SecretStoreError: WordedError, MessageChoosing {
  package func userMessage<Message: UserMessage>() -> Message {
    switch self {
    case .unavailable: .deviceLocked
    case .accessDenied: .noAccess
    case .notFound: .dataNotFound
    case .notWritable, .obstructed, .failed, .otherBackend, .storedElsewhere: .storageUnusable
    case .newerVersion: .newerData
    case .noSpace, .noRoomForNext: .noSpace
    case .tooLarge: .tooLarge
    }
  }
}

extension SessionRejection: WordedError, MessageChoosing {
  package func userMessage<Message: UserMessage>() -> Message {
    SessionError(self, after: EndCause()).userMessage()
  }
}

extension ExpiryReason: MessageChoosing {
  package func userMessage<Message: UserMessage>() -> Message {
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
