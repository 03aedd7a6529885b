@_spi(Internals) import SessionCore
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
