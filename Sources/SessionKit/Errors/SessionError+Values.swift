@_spi(Internals) import SessionCore
import SessionJournal

// The values of each failure that apps read.
extension SessionError.Failure {
  package var code: SessionError.Code {
    switch self {
    case .invalidCredential, .invalidRequest: .invalidInput
    case .notSignedIn: .notLoggedIn
    case .alreadySignedIn, .otherUsersSession: .alreadyLoggedIn
    case .superseded, .signInUnderWay, .clearingLocalData: .busy
    case .pendingChanges: .pendingChanges
    case .secretsUnavailable, .needsPresence, .secretsOwnerUnreadable: .locked
    case .invalidCredentials: .invalidCredentials
    case .notOffered, .wrongAddress, .unusableCall, .noRefreshToken, .unauthorized, .appRefused,
      .forbidden, .notFound, .unexpectedStatus, .refreshRefused:
      .refused
    case .userInactive, .userDeleted, .accountLocked: .accountUnavailable
    case .conflict, .alreadyDeleted: .conflict
    case .rateLimited, .tooManyAttempts: .rateLimited
    case .server, .databaseUnavailable: .serverFailure
    case .unreadableAnswer, .intercepted, .responseTooLarge: .invalidResponse
    case .noConnection, .notTrusted: .noConnection
    case .noReply, .responseTooSlow: .noReply
    case .expired: .expired
    case .loggedOut: .loggedOut
    case .notStoredYet, .answerDropped, .journal, .unusableJournal, .eventsCompacted, .secrets,
      .secretsOfAnotherSession:
      .storage
    case .closed: .closed
    case .cancelled: .cancelled
    case .webSignIn(let problem): problem.code
    }
  }

  var reason: SessionEnd.Reason? {
    if case .otherUsersSession(let cause) = self { cause.reason } else { end?.reason }
  }

  /// Why the session ended, with the data of the server; `nil` if this failure is no end of a
  /// session.
  private var end: EndCause? {
    switch self {
    case .expired(let cause), .loggedOut(let cause), .userInactive(let cause),
      .userDeleted(let cause):
      cause
    default: nil
    }
  }

  var status: UInt16? {
    switch self {
    case .invalidRequest(_, let status), .invalidCredentials(_, let status),
      .unauthorized(_, let status), .appRefused(let status, _), .conflict(_, let status),
      .alreadyDeleted(let status), .rateLimited(_, let status, _), .server(let status, _, _),
      .databaseUnavailable(_, let status, _), .unexpectedStatus(let status, _),
      .refreshRefused(let status, _), .intercepted(let status):
      status
    case .forbidden: 403
    case .notFound: 404
    case .accountLocked: 423
    default: end?.failure?.status
    }
  }

  var serverCode: String? {
    switch self {
    case .invalidRequest(let code, _), .invalidCredentials(let code, _), .unauthorized(let code, _),
      .forbidden(let code), .notFound(let code), .conflict(let code, _), .accountLocked(let code),
      .rateLimited(_, _, let code), .server(_, let code, _), .unexpectedStatus(_, let code),
      .refreshRefused(_, let code):
      code
    case .appRefused(_, let code), .databaseUnavailable(let code, _, _): code
    case .alreadyDeleted: ErrorCode.alreadyDeleted
    case .webSignIn(.refused(let code)): code?.description
    default: end?.failure?.serverCode
    }
  }

  /// The number of milliseconds to wait.
  var retryAfter: Int64? {
    switch self {
    case .tooManyAttempts(let wait): wait
    case .rateLimited(let wait, _, _), .server(_, _, let wait),
      .databaseUnavailable(_, _, let wait):
      wait
    default: nil
    }
  }

  var underlyingError: (any Error)? {
    switch self {
    case .invalidCredential(let problem): problem
    case .webSignIn(let problem): problem
    case .noConnection(let reason): BackendError.noResponse(reason, mayHaveActed: false)
    case .notTrusted(let reason): BackendError(.notTrusted, message: reason)
    case .noReply(let reason): BackendError.noResponse(reason, mayHaveActed: true)
    case .wrongAddress(let problem): BackendError(.invalidAddress, message: problem)
    case .journal(let error), .secretsOwnerUnreadable(_, let error): error
    case .secrets(let error): error
    case .notStoredYet(let cause), .answerDropped(let cause):
      SessionError(cause)
    case .eventsCompacted(let sequence, let state):
      CompactedEvents(through: sequence, state: state)
    default: nil
    }
  }
}

/// The codes of a server that have their own errors.
///
/// - Requirement: LOG-7
enum ErrorCode {
  static let alreadyDeleted = "ALREADY_DELETED"
  static let conflict = "CONFLICT"
}

extension EndCause {
  /// The one reason of the end.
  ///
  /// If the policy adds a logout to an expiry, the reason of the expiry counts.
  var reason: SessionEnd.Reason? {
    if let expiry, logout == nil || logout == .policy { return .expired(expiry) }
    return logout.map { .loggedOut($0) }
  }
}

extension WebSignInProblem {
  /// The code of a session's error for this problem.
  var code: SessionError.Code {
    switch self {
    case .cancelledByUser, .forgottenPassword, .cancelled: .cancelled
    case .noAccount: .notLoggedIn
    case .refused, .viewFailed: .refused
    case .unreachable: .noConnection
    case .unreadableTokens: .invalidResponse
    }
  }
}
