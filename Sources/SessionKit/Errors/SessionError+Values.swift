@_spi(Internals) package import SessionCore
package import SessionJournal

// The values of each failure that apps read.
extension SessionError.Failure {
  package var code: SessionError.Code {
    switch self {
    case .invalidCredential, .invalidRequest: .invalidInput
    case .notSignedIn: .notLoggedIn
    case .alreadySignedIn, .otherUsersSession: .alreadyLoggedIn
    case .superseded, .signInUnderWay, .clearingLocalData: .busy
    case .pendingChanges: .pendingChanges
    case .secretsUnavailable, .needsPresence,
      .secretsOwnerUnreadable(_, .permissionDenied(_, nil)):
      .locked
    case .invalidCredentials: .invalidCredentials
    case .notOffered, .wrongAddress, .unusableCall, .noRefreshToken, .unauthorized, .appRefused,
      .forbidden, .notFound, .unexpectedStatus, .refreshRefused, .codeRefused:
      .refused
    case .userInactive, .userDeleted, .accountLocked: .accountUnavailable
    case .conflict, .alreadyDeleted: .conflict
    case .rateLimited, .tooManyAttempts: .rateLimited
    case .server, .databaseUnavailable, .gatewayFailed: .serverFailure
    case .unreadableAnswer, .intercepted, .responseTooLarge: .invalidResponse
    case .noConnection, .notTrusted: .noConnection
    case .noReply, .responseTooSlow: .noReply
    case .expired: .expired
    case .loggedOut: .loggedOut
    case .notStoredYet, .answerDropped, .journal, .unusableJournal, .eventsCompacted, .secrets,
      .secretsOfAnotherSession, .secretsOwnerUnreadable:
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
      .unauthorized(_, let status), .appRefused(let status, _, _), .conflict(_, let status),
      .alreadyDeleted(let status), .rateLimited(_, let status, _), .server(let status, _, _),
      .databaseUnavailable(_, let status, _), .unexpectedStatus(let status, _),
      .refreshRefused(let status, _), .codeRefused(let status, _), .intercepted(let status),
      .gatewayFailed(let status):
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
      .refreshRefused(_, let code), .codeRefused(_, let code):
      code
    case .appRefused(_, let code, _), .databaseUnavailable(let code, _, _): code
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
    case .refused, .viewFailed, .otherIssuer: .refused
    case .unreachable: .noConnection
    case .unreadableTokens: .invalidResponse
    case .noRedirect: .noReply
    case .requestFailed: SessionError.webSignIn(self).code
    }
  }
}

// Shorthands such as `throw .notSignedIn`, for this package only. Apps read `code`.
extension SessionError {
  package static func invalidCredential(_ value: CredentialRules.Problem) -> SessionError {
    SessionError(.invalidCredential(value))
  }
  package static let notSignedIn = SessionError(.notSignedIn)
  package static let alreadySignedIn = SessionError(.alreadySignedIn)
  package static let otherUsersSession = SessionError(.otherUsersSession())
  package static func otherUsersSession(after: EndCause) -> SessionError {
    SessionError(.otherUsersSession(after: after))
  }
  package static let superseded = SessionError(.superseded)
  package static let signInUnderWay = SessionError(.signInUnderWay)
  package static func tooManyAttempts(retryAfter: Int64) -> SessionError {
    SessionError(.tooManyAttempts(retryAfter: retryAfter))
  }
  package static let secretsUnavailable = SessionError(.secretsUnavailable)
  package static let needsPresence = SessionError(.needsPresence)
  package static func pendingChanges(_ value: Int) -> SessionError {
    SessionError(.pendingChanges(value))
  }
  package static let clearingLocalData = SessionError(.clearingLocalData)
  package static let noRefreshToken = SessionError(.noRefreshToken)
  package static func notOffered(_ value: String) -> SessionError {
    SessionError(.notOffered(value))
  }
  package static func wrongAddress(_ value: String) -> SessionError {
    SessionError(.wrongAddress(value))
  }
  package static func unusableCall(call: String, problem: String) -> SessionError {
    SessionError(.unusableCall(call: call, problem: problem))
  }
  package static func webSignIn(_ value: WebSignInProblem) -> SessionError {
    guard case .requestFailed(let failure, let detail) = value else {
      return SessionError(.webSignIn(value))
    }
    return SessionError(redeeming: failure, detail: detail)
  }

  package static func invalidRequest(code: String?, status: UInt16 = 400) -> SessionError {
    SessionError(.invalidRequest(code: code, status: status))
  }
  package static func invalidCredentials(code: String?, status: UInt16 = 401) -> SessionError {
    SessionError(.invalidCredentials(code: code, status: status))
  }
  package static func codeRefused(_ status: UInt16, code: String?) -> SessionError {
    SessionError(.codeRefused(status, code: code))
  }
  package static func unauthorized(code: String?, status: UInt16 = 401) -> SessionError {
    SessionError(.unauthorized(code: code, status: status))
  }
  package static func appRefused(
    status: UInt16, code: String, hint: String? = nil
  ) -> SessionError {
    SessionError(.appRefused(status: status, code: code, hint: hint))
  }
  package static func forbidden(code: String?) -> SessionError {
    SessionError(.forbidden(code: code))
  }
  package static let userInactive = SessionError(.userInactive())
  package static func userInactive(_ value: EndCause) -> SessionError {
    SessionError(.userInactive(value))
  }
  package static let userDeleted = SessionError(.userDeleted())
  package static func userDeleted(_ value: EndCause) -> SessionError {
    SessionError(.userDeleted(value))
  }
  package static let notFound = SessionError(.notFound())
  package static func notFound(code: String?) -> SessionError {
    SessionError(.notFound(code: code))
  }
  package static func conflict(code: String?, status: UInt16 = 409) -> SessionError {
    SessionError(.conflict(code: code, status: status))
  }
  package static let alreadyDeleted = SessionError(.alreadyDeleted())
  package static func alreadyDeleted(status: UInt16) -> SessionError {
    SessionError(.alreadyDeleted(status: status))
  }
  package static let accountLocked = SessionError(.accountLocked())
  package static func accountLocked(code: String?) -> SessionError {
    SessionError(.accountLocked(code: code))
  }
  package static func rateLimited(
    retryAfter: Int64?, status: UInt16 = 429, code: String? = nil
  ) -> SessionError {
    SessionError(.rateLimited(retryAfter: retryAfter, status: status, code: code))
  }
  package static func server(status: UInt16, code: String?, retryAfter: Int64? = nil)
    -> SessionError
  {
    SessionError(.server(status: status, code: code, retryAfter: retryAfter))
  }
  package static func databaseUnavailable(
    code: String, status: UInt16 = 503, retryAfter: Int64? = nil
  ) -> SessionError {
    SessionError(.databaseUnavailable(code: code, status: status, retryAfter: retryAfter))
  }
  package static func unexpectedStatus(_ value: UInt16, code: String? = nil) -> SessionError {
    SessionError(.unexpectedStatus(value, code: code))
  }
  package static func refreshRefused(_ status: UInt16, code: String? = nil) -> SessionError {
    SessionError(.refreshRefused(status, code: code))
  }
  package static func unreadableAnswer(_ value: String) -> SessionError {
    SessionError(.unreadableAnswer(value))
  }
  package static func intercepted(status: UInt16) -> SessionError {
    SessionError(.intercepted(status: status))
  }
  package static func gatewayFailed(status: UInt16) -> SessionError {
    SessionError(.gatewayFailed(status: status))
  }

  package static func noConnection(_ value: String) -> SessionError {
    SessionError(.noConnection(value))
  }
  package static func notTrusted(_ value: String) -> SessionError {
    SessionError(.notTrusted(value))
  }
  package static func noReply(_ value: String) -> SessionError {
    SessionError(.noReply(value))
  }
  package static func responseTooLarge(call: String, limit: Int) -> SessionError {
    SessionError(.responseTooLarge(call: call, limit: limit))
  }
  package static func responseTooSlow(call: String, limit: Duration) -> SessionError {
    SessionError(.responseTooSlow(call: call, limit: limit))
  }

  package static func expired(_ value: EndCause) -> SessionError {
    SessionError(.expired(value))
  }
  package static func loggedOut(_ value: EndCause) -> SessionError {
    SessionError(.loggedOut(value))
  }

  package static func notStoredYet(because: SessionError) -> SessionError {
    SessionError(.notStoredYet(because: because.failure))
  }
  package static func answerDropped(because: SessionError) -> SessionError {
    SessionError(.answerDropped(because: because.failure))
  }
  package static func journal(_ value: JournalError) -> SessionError {
    SessionError(.journal(value))
  }
  package static func unusableJournal(path: String, sequence: UInt64, problem: String)
    -> SessionError
  {
    SessionError(.unusableJournal(path: path, sequence: sequence, problem: problem))
  }
  package static func eventsCompacted(through: UInt64, state: SessionState) -> SessionError {
    SessionError(.eventsCompacted(through: through, state: state))
  }
  package static func secrets(_ value: SecretStoreError) -> SessionError {
    SessionError(.secrets(value))
  }
  package static func secretsOfAnotherSession(journal: String) -> SessionError {
    SessionError(.secretsOfAnotherSession(journal: journal))
  }
  package static func secretsOwnerUnreadable(journal: String, problem: JournalError) -> SessionError
  {
    SessionError(.secretsOwnerUnreadable(journal: journal, problem: problem))
  }
  package static let closed = SessionError(.closed)
  package static let cancelled = SessionError(.cancelled)
}

extension WebSignInProblem {
  /// A description of what happened and what to do, for developers.
  var reason: String {
    switch self {
    case .cancelledByUser: "the user left the page. No action is needed."
    case .forgottenPassword:
      "the user has forgotten the password. Show the page that sets a new one, and log in again."
    case .noAccount:
      "the identity provider has no account that can log in without a page. Log in with a page."
    case .refused(let code):
      "the identity provider refused the request\(code.map { " (\($0))" } ?? ""). Look up the code "
        + "at the provider, or try again."
    case .unreachable: "the identity provider was not reached. Check the connection and try again."
    case .viewFailed:
      "the app could not create or show its view. Check the error that the view threw."
    case .unreadableTokens:
      "the identity provider returned no valid token, or did not identify the user. Check the "
        + "backend's sources of the user, and the request to the provider."
    case .cancelled: "the calling task was cancelled. No action is needed."
    case .requestFailed: SessionError.webSignIn(self).description
    case .otherIssuer(let expected, let found):
      "the redirect names "
        + (found.map { "the issuer \($0)" } ?? "no issuer that is an HTTPS address")
        + ", and the app expects \(expected). They must be equal byte by byte (RFC 9207). Set the "
        + "issuer that the server's metadata states."
    case .noRedirect(let limit):
      "the page returned without a redirect, and none reached the app within \(limit). A page "
        + "that the user leaves must throw WebSignInProblem.cancelledByUser. Pass each other "
        + "redirect to Session.handle(_:)."
    }
  }
}
