@_spi(Internals) package import SessionCore
package import SessionJournal

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
    SessionError(.webSignIn(value))
  }

  package static func invalidRequest(code: String?, status: UInt16 = 400) -> SessionError {
    SessionError(.invalidRequest(code: code, status: status))
  }
  package static func invalidCredentials(code: String?, status: UInt16 = 401) -> SessionError {
    SessionError(.invalidCredentials(code: code, status: status))
  }
  package static func unauthorized(code: String?, status: UInt16 = 401) -> SessionError {
    SessionError(.unauthorized(code: code, status: status))
  }
  package static func appRefused(status: UInt16, code: String) -> SessionError {
    SessionError(.appRefused(status: status, code: code))
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
