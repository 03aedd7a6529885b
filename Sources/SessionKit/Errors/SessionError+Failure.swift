@_spi(Internals) package import SessionCore
package import SessionJournal

extension SessionError {
  /// The detail of a ``SessionError/Code``, for this package only.
  ///
  /// The values are stored outside the error, since a session keeps several errors that are mostly
  /// absent.
  package indirect enum Failure: Equatable, Sendable {
    // Errors before anything is sent.
    /// The credential is malformed.
    ///
    /// Nothing was sent.
    case invalidCredential(CredentialRules.Problem)
    /// No user is logged in.
    case notSignedIn
    /// A user is logged in already.
    case alreadySignedIn
    /// The expired session belongs to another user, whose data must be handled first.
    case otherUsersSession(after: EndCause = EndCause())
    /// The token was replaced while the response was on its way, so the response does not count.
    case superseded
    /// A login is in progress already.
    case signInUnderWay
    /// This device's own limit of logins is reached.
    ///
    /// The value is the number of milliseconds to wait.
    case tooManyAttempts(retryAfter: Int64)
    /// The stored secrets cannot be read yet, so it is not known whether a user is logged in.
    case secretsUnavailable
    /// The refresh token cannot be read until the user has proven their presence.
    case needsPresence
    /// This number of the user's changes was not sent to the server.
    case pendingChanges(Int)
    /// The app has not removed the local data of the previous user within its time limit.
    case clearingLocalData
    /// There is no refresh token.
    ///
    /// The current token is valid until it expires.
    case noRefreshToken
    /// The backend has no such endpoint.
    ///
    /// The text names what is missing.
    case notOffered(String)
    /// The address cannot be used: it has no host, or no HTTPS to another machine.
    case wrongAddress(String)
    /// The call cannot carry the token.
    ///
    /// The values name the call and the reason.
    case unusableCall(call: String, problem: String)
    /// The login with an identity provider failed, but not by a request of it.
    case webSignIn(WebSignInProblem)

    // Responses of the server (LOG-3).
    /// The server reports that the request itself is wrong.
    case invalidRequest(code: String?, status: UInt16 = 400)
    /// By the rules the login is rejected, for example by a 401 or by OAuth's `invalid_grant`, but
    /// not by a 403.
    case invalidCredentials(code: String?, status: UInt16 = 401)
    /// The server does not accept an authorization code (RFC 6749 §5.2).
    ///
    /// The user entered nothing, so the texts about input do not apply.
    case codeRefused(UInt16, code: String?)
    /// A context switch is rejected, because the token is not accepted any more.
    case unauthorized(code: String?, status: UInt16 = 401)
    /// The server refuses the app and not its user, for example by OAuth's `invalid_client`.
    ///
    /// The hint says what else may be wrong.
    case appRefused(status: UInt16, code: String, hint: String? = nil)
    /// A login or a switch got the status 403.
    case forbidden(code: String?)
    /// The server reports that the account is inactive.
    case userInactive(EndCause = EndCause())
    /// The server reports that the account is deleted.
    case userDeleted(EndCause = EndCause())
    /// The status is 404.
    case notFound(code: String? = nil)
    /// The data was changed elsewhere: the status is 409, or the server's code says so.
    ///
    /// - Requirement: LOG-7
    case conflict(code: String?, status: UInt16 = 409)
    /// The data is already deleted, as the server's code says.
    ///
    /// - Requirement: LOG-7
    case alreadyDeleted(status: UInt16 = 409)
    /// The account is locked: the status is 423.
    case accountLocked(code: String? = nil)
    /// There were too many requests: the status is 429, or the server's code says so.
    ///
    /// `retryAfter` is the number of milliseconds to wait, if the server stated it.
    ///
    /// - Requirement: LOG-7
    case rateLimited(retryAfter: Int64?, status: UInt16 = 429, code: String? = nil)
    /// The server failed with a status of 500 or more.
    ///
    /// `retryAfter` is the number of milliseconds to wait, if the server stated it.
    case server(status: UInt16, code: String?, retryAfter: Int64? = nil)
    /// The server cannot access its data (`DB_UNAVAILABLE`, `DB_TIMEOUT`).
    ///
    /// - Requirement: LOG-7
    case databaseUnavailable(code: String, status: UInt16 = 503, retryAfter: Int64? = nil)
    /// The response has a status without a meaning here.
    case unexpectedStatus(UInt16, code: String? = nil)
    /// The server refused a refresh with a status that the backend's rules do not explain.
    ///
    /// The user entered nothing, so the texts about input do not apply.
    case refreshRefused(UInt16, code: String? = nil)
    /// The status reports success, but the body cannot be read.
    ///
    /// The text says what is wrong and where.
    case unreadableAnswer(String)
    /// Another machine answered in place of the server: a captive portal, a proxy or a gateway.
    case intercepted(status: UInt16)
    /// A 4xx or 5xx in another format than the server's: from the server, or from a machine before it.
    case gatewayFailed(status: UInt16)

    // Errors of the network.
    /// Nothing was sent.
    case noConnection(String)
    /// The server's certificate is not trusted. Nothing was sent.
    case notTrusted(String)
    /// The request was sent, but there was no complete response.
    ///
    /// The server may have acted.
    case noReply(String)
    /// The response to a call is larger than allowed.
    ///
    /// The rest was not read.
    ///
    /// - Requirement: INT-6
    case responseTooLarge(call: String, limit: Int)
    /// The response to a call was not complete after this time.
    ///
    /// - Requirement: INT-6
    case responseTooSlow(call: String, limit: Duration)

    // Ends of a session.
    /// The session has expired for this reason.
    case expired(EndCause)
    /// The session was logged out for this reason.
    case loggedOut(EndCause)

    // Errors of the storage.
    /// The server's response could not be stored yet, for this reason.
    ///
    /// The session tries again each second. The response may be another process's, which says so in
    /// the journal.
    case notStoredYet(because: Failure)
    /// The session was closed, and the server's last response could not be stored, for this reason.
    case answerDropped(because: Failure)
    /// The journal failed.
    case journal(JournalError)
    /// The journal has a record that this version cannot fold.
    case unusableJournal(path: String, sequence: UInt64, problem: String)
    /// A snapshot has replaced the requested events.
    case eventsCompacted(through: UInt64, state: SessionState)
    /// The secret store failed.
    case secrets(SecretStoreError)
    /// The stored secrets belong to the session of this journal, which still exists.
    ///
    /// - Requirement: RES-5
    case secretsOfAnotherSession(journal: String)
    /// The stored secrets belong to the session of this journal, which cannot be read now.
    ///
    /// - Requirement: RES-7
    case secretsOwnerUnreadable(journal: String, problem: JournalError)
    /// The session object was closed.
    case closed
    /// The calling task was cancelled.
    case cancelled
  }
}

extension SessionError.Failure {
  /// The name of the case in scenarios.
  package var name: String {
    switch self {
    case .invalidCredential: "invalidCredential"
    case .notSignedIn: "notSignedIn"
    case .alreadySignedIn: "alreadySignedIn"
    case .otherUsersSession: "otherUsersSession"
    case .superseded: "overtaken"
    case .signInUnderWay: "signInUnderWay"
    case .tooManyAttempts: "tooManyAttempts"
    case .secretsUnavailable: "secretsUnavailable"
    case .needsPresence: "needsPresence"
    case .pendingChanges: "pendingChanges"
    case .clearingLocalData: "clearingLocalData"
    case .noRefreshToken: "noRefreshToken"
    case .notOffered: "notOffered"
    case .wrongAddress: "wrongAddress"
    case .unusableCall: "unusableCall"
    case .webSignIn: "webSignIn"
    case .invalidRequest: "invalidRequest"
    case .invalidCredentials: "invalidCredentials"
    case .codeRefused: "codeRefused"
    case .unauthorized: "unauthorized"
    case .appRefused: "appRefused"
    case .forbidden: "forbidden"
    case .userInactive: "userInactive"
    case .userDeleted: "userDeleted"
    case .notFound: "notFound"
    case .conflict: "conflict"
    case .alreadyDeleted: "alreadyDeleted"
    case .accountLocked: "accountLocked"
    case .rateLimited: "rateLimited"
    case .server: "server"
    case .databaseUnavailable: "databaseUnavailable"
    case .unexpectedStatus: "unexpectedStatus"
    case .refreshRefused: "refreshRefused"
    case .unreadableAnswer: "unreadableAnswer"
    case .intercepted: "intercepted"
    case .gatewayFailed: "gatewayFailed"
    case .noConnection: "noConnection"
    case .notTrusted: "notTrusted"
    case .noReply: "noReply"
    case .responseTooLarge: "responseTooLarge"
    case .responseTooSlow: "responseTooSlow"
    case .expired: "expired"
    case .loggedOut: "loggedOut"
    case .notStoredYet: "notStoredYet"
    case .answerDropped: "answerDropped"
    case .journal: "journal"
    case .unusableJournal: "unusableJournal"
    case .eventsCompacted: "eventsCompacted"
    case .secrets: "secrets"
    case .secretsOfAnotherSession: "secretsOfAnotherSession"
    case .secretsOwnerUnreadable: "secretsOwnerUnreadable"
    case .closed: "closed"
    case .cancelled: "cancelled"
    }
  }
}
