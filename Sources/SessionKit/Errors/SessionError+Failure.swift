@_spi(Internals) package import SessionCore
package import SessionJournal

extension SessionError {
  /// What exactly happened: the detail of a ``SessionError/Code``, for this package alone.
  package enum Failure: Equatable, Sendable {
    // Before anything is sent.
    /// The credential cannot be right; nothing was sent.
    case invalidCredential(CredentialRules.Problem)
    /// No user is logged in.
    case notSignedIn
    /// A user is logged in already.
    case alreadySignedIn
    /// The expired session belongs to another user, whose data must be settled first.
    case otherUsersSession(after: EndCause = EndCause())
    /// The token was replaced while the response was on its way, so the response does not count.
    case superseded
    /// A login is under way already.
    case signInUnderWay
    /// This device's own limit of logins, and the milliseconds to wait.
    case tooManyAttempts(retryAfter: Int64)
    /// The stored secrets cannot be read yet; it is not known whether a user is logged in.
    case secretsUnavailable
    /// The refresh token cannot be read until the user has shown who they are.
    case needsPresence
    /// This number of the user's changes was not sent to the server.
    case pendingChanges(Int)
    /// The app has not removed the local data of the user before within its time.
    case clearingLocalData
    /// There is nothing to refresh with; the current token is good until it expires.
    case noRefreshToken
    /// The backend has no endpoint for it; says what it lacks.
    case notOffered(String)
    /// The address cannot be used: no host, or no HTTPS to another machine.
    case wrongAddress(String)
    /// The call cannot carry the token; says which call and why.
    case unusableCall(call: String, problem: String)
    /// The login with an identity provider brought nothing.
    case webSignIn(WebSignInProblem)

    // What the server answered (LOG-3).
    /// The server found the request itself wrong.
    case invalidRequest(code: String?, status: UInt16 = 400)
    /// The rules call a login rejected, such as a 401 or OAuth's `invalid_grant`; not a 403.
    case invalidCredentials(code: String?, status: UInt16 = 401)
    /// The same at a switch: the token is not accepted any more.
    case unauthorized(code: String?, status: UInt16 = 401)
    /// The server refuses the app, not its user, such as by OAuth's `invalid_client`.
    case appRefused(status: UInt16, code: String)
    /// 403 at a login or a switch.
    case forbidden(code: String?)
    /// The server says that the account is inactive.
    case userInactive(EndCause = EndCause())
    /// The server says that the account is deleted.
    case userDeleted(EndCause = EndCause())
    /// 404.
    case notFound(code: String? = nil)
    /// 409, or the server's code says so: it was changed elsewhere.
    ///
    /// - Requirement: LOG-7
    case conflict(code: String?, status: UInt16 = 409)
    /// The server's code says that it is deleted already.
    ///
    /// - Requirement: LOG-7
    case alreadyDeleted(status: UInt16 = 409)
    /// 423: the account is locked.
    case accountLocked(code: String? = nil)
    /// 429, or the server's code says so; the milliseconds to wait, if the server said.
    ///
    /// - Requirement: LOG-7
    case rateLimited(retryAfter: Int64?, status: UInt16 = 429, code: String? = nil)
    /// 5xx; the milliseconds to wait, if the server said.
    case server(status: UInt16, code: String?, retryAfter: Int64? = nil)
    /// The server cannot reach its data (`DB_UNAVAILABLE`, `DB_TIMEOUT`).
    ///
    /// - Requirement: LOG-7
    case databaseUnavailable(code: String, status: UInt16 = 503, retryAfter: Int64? = nil)
    /// Another status that has no meaning here.
    case unexpectedStatus(UInt16, code: String? = nil)
    /// The status says success and the body cannot be read; says what and where.
    case unreadableAnswer(String)
    /// Another machine than the server answered: a captive portal, a proxy or a gateway.
    case intercepted(status: UInt16)

    // What the network did.
    /// Nothing was sent.
    case noConnection(String)
    /// The server's certificate is not trusted. Nothing was sent.
    case notTrusted(String)
    /// It was sent and no whole response came: the server may have acted.
    case noReply(String)
    /// The response to a call has more bytes than allowed, and was not read further.
    ///
    /// - Requirement: INT-6
    case responseTooLarge(call: String, limit: Int)
    /// The response to a call was not complete after this time.
    ///
    /// - Requirement: INT-6
    case responseTooSlow(call: String, limit: Duration)

    // How a session ended.
    /// The session has expired, for this reason.
    case expired(EndCause)
    /// The session was logged out, for this reason.
    case loggedOut(EndCause)

    // What keeps the session.
    /// The server's response could not be stored yet, for this reason. That is tried again each second.
    indirect case notStoredYet(because: Failure)
    /// The session was closed, and the server's last response could not be stored, for this reason.
    indirect case answerDropped(because: Failure)
    /// The journal failed.
    case journal(JournalError)
    /// The journal holds a record that this version cannot fold.
    case unusableJournal(path: String, sequence: UInt64, problem: String)
    /// The events that were asked for are in a snapshot.
    case eventsCompacted(through: UInt64, state: SessionState)
    /// The secret store failed.
    case secrets(SecretStoreError)
    /// The stored secrets are those of the session of this journal, which still stands.
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
  /// The name of the case, as scenarios spell it.
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
    case .unreadableAnswer: "unreadableAnswer"
    case .intercepted: "intercepted"
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
