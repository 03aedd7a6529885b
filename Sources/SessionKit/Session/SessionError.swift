public import SessionCore
public import SessionJournal

/// Why a session could not do what it was asked; never holds a secret (STO-3).
///
/// Only `expired`, `loggedOut`, `userInactive` and `userDeleted` say that the session has ended; after
/// every other error it is what it was before. `description` is for developers and names paths, statuses
/// and codes; what a user is told is `text(in:)`, and what an app should do is `advice` (LOG-8).
public enum SessionError: Error, Equatable, Sendable {
  // Before anything is sent.
  /// The credential cannot be right; nothing was sent (LOG-1).
  case invalidCredential(CredentialRules.Problem)
  /// Nobody is signed in.
  case notSignedIn
  /// Somebody is signed in already (LOG-10).
  case alreadySignedIn
  /// The expired session belongs to another user, whose data must be settled first (STA-6).
  case otherUsersSession
  /// The token was replaced while the answer was on its way, so the answer does not count.
  case overtaken
  /// A sign-in is under way already.
  case signInUnderWay
  /// This device's own limit of sign-ins (`limits.loginsPerMinute`, LOG-2), and the milliseconds to wait.
  /// Nothing was sent.
  case tooManyAttempts(retryAfter: Int64)
  /// The stored secrets cannot be read yet; it is not known whether anybody is signed in (RES-3).
  case secretsUnavailable
  /// The refresh token cannot be read until the user has shown who they are: nobody was logged out, and the
  /// token is good to its end (STO-2).
  case needsPresence
  /// So many changes of the user were not sent to the server: nobody was logged out (OUT-3).
  case pendingChanges(Int)
  /// The app has not removed the local data of the user before within its time
  /// (``SessionConfiguration/clearLocalDataLimit``): nobody was signed in, and nothing was sent.
  case clearingLocalData
  /// There is nothing to refresh with; the current token is good until it expires.
  case noRefreshToken
  /// The wire has no endpoint for it; says what it lacks. Nothing was sent.
  case notOffered(String)
  /// The address cannot be used: no host, or no HTTPS to another machine (STO-4). Nothing was sent.
  case wrongAddress(String)
  /// The call cannot carry the token; says which call and why. Nothing was sent (INT-5).
  case unusableCall(call: String, problem: String)

  /// The sign-in with an identity provider came to nothing; says why, by a code at most (WEB-4).
  case webSignIn(WebSignInProblem)

  // What the server answered (LOG-3).
  /// 400: the server found the request itself wrong.
  case invalidRequest(code: String?)
  /// The wire's rules call a sign-in rejected, such as a 401 or OAuth's `invalid_grant`; not a 403.
  case invalidCredentials(code: String?, status: UInt16 = 401)
  /// The same at a switch: the token is not accepted any more.
  case unauthorized(code: String?, status: UInt16 = 401)
  /// The server refuses the app, not its user: OAuth's `invalid_client`, `unauthorized_client`,
  /// `unsupported_grant_type` or `invalid_scope`.
  case appRefused(status: UInt16, code: String)
  /// 403 at sign-in or switch, or the server says that the account is inactive.
  case forbidden(code: String?)
  /// The server says that the account is inactive.
  case userInactive
  /// The server says that the account is deleted.
  case userDeleted
  /// 404.
  case notFound
  /// 409, or the server's code says so: it was changed elsewhere (LOG-7).
  case conflict(code: String?)
  /// The server's code says that it is deleted already (LOG-7).
  case alreadyDeleted
  /// 423: the account is locked.
  case accountLocked
  /// 429, or the server's code says so (LOG-7); wait so many milliseconds, if the server said.
  case rateLimited(retryAfter: Int64?)
  /// 5xx; wait so many milliseconds, where the server said.
  case server(status: UInt16, code: String?, retryAfter: Int64? = nil)
  /// The server cannot reach its data (`DB_UNAVAILABLE`, `DB_TIMEOUT`, LOG-7); wait so many
  /// milliseconds, where it said.
  case databaseUnavailable(code: String, retryAfter: Int64? = nil)
  /// Another status that has no meaning here.
  case unexpectedStatus(UInt16)
  /// The status says success and the body cannot be read; says what and where.
  case unreadableAnswer(String)
  /// Something else than the server answered: a captive portal, a proxy or a gateway.
  case intercepted(status: UInt16)

  // What the network did.
  /// Nothing was sent.
  case noConnection(String)
  /// The server's certificate is not trusted. Nothing was sent.
  case notTrusted(String)
  /// It was sent and no whole answer came: the server may have acted.
  case noReply(String)
  /// The response to a call has more bytes than allowed, and was not read further (INT-6).
  case responseTooLarge(call: String, limit: Int)
  /// The response to a call was not complete after this time (INT-6).
  case responseTooSlow(call: String, limit: Duration)

  // How a session ended.
  /// The session has expired, for this reason: sign in again (LOG-13).
  case expired(EndCause)
  /// The session was logged out, for this reason (LOG-13).
  case loggedOut(EndCause)

  // What keeps the session.
  /// The server's answer could not be stored yet, for this reason: that is tried again each second, and
  /// it counts as soon as it is stored.
  indirect case notStoredYet(because: SessionError)
  /// The session was closed, and the server's last answer could not be stored, for this reason: its
  /// token is lost (REF-11).
  indirect case answerDropped(because: SessionError)
  /// The journal failed.
  case journal(JournalError)
  /// The journal holds a record that this version cannot fold.
  case unusableJournal(path: String, sequence: UInt64, problem: String)
  /// The events that were asked for are in a snapshot and cannot be had one by one any more.
  ///
  /// `state` is what all records up to and with the sequence `through` come to; `events(after:)` that
  /// sequence goes on from there, with no gap and no duplicate.
  case eventsCompacted(through: UInt64, state: SessionState)
  /// The secret store failed.
  case secrets(SecretStoreError)
  /// What is stored there are the secrets of the session of this journal, which still stands: each account
  /// needs a place of its own (RES-5). Nothing was touched.
  case secretsOfAnotherSession(journal: String)
  /// The stored secrets belong to the session of this journal, which cannot be read now. Nothing was
  /// touched, and nobody was logged out: they are read as soon as the journal can be (RES-7).
  case secretsOwnerUnreadable(journal: String, problem: JournalError)
  /// The session object was closed.
  case closed
  /// The calling task was cancelled.
  case cancelled
}

extension SessionError: CustomStringConvertible {
  /// What happened, what it means for the session, and what to do next.
  public var description: String {
    switch self {
    case .invalidCredential(let problem):
      "The credential was not sent: \(problem). Correct it and sign in again."
    case .notSignedIn:
      "Nobody is signed in. Sign in first."
    case .alreadySignedIn:
      "Somebody is signed in already. Log out first."
    case .otherUsersSession:
      "The session that expired belongs to another user, whose data is not settled yet. Sign in as "
        + "that user, or log out."
    case .overtaken:
      "The token was replaced while the answer was on its way, so the answer does not count and "
        + "nothing changed. Try again."
    case .signInUnderWay:
      "A sign-in is under way already. Wait for it to end, or cancel its task."
    case .secretsUnavailable:
      "The stored secrets cannot be read yet, so it is not known whether anybody is signed in. "
        + "Nobody was logged out; it is tried again by itself."
    case .needsPresence:
      "The token was not refreshed: its refresh token can be read only once the user has shown who they "
        + "are. Nobody was logged out, and nothing was sent. Let the user unlock the secret store, and "
        + "try again."
    case .pendingChanges(let count):
      "\(count == 1 ? "1 change was" : "\(count) changes were") not sent yet, so nobody was logged out. "
        + "Send \(count == 1 ? "it" : "them"), or log out with "
        + "discardingPendingChanges."
    case .clearingLocalData:
      "The local data of the user before is still being removed: clearLocalData has not returned within "
        + "clearLocalDataLimit. Nobody was signed in, and nothing was sent. Sign in when it has returned; if "
        + "it never does, start the app anew."
    case .noRefreshToken:
      "There is no refresh token. The current token is good until it expires; then sign in again."
    case .notOffered(let what):
      "The wire does not offer it: \(what). Nothing was sent. Give the wire an endpoint, or do not "
        + "offer it to the user."
    case .wrongAddress(let problem):
      "The address cannot be used: \(problem). Nothing was sent. Correct the address."
    case .unusableCall(let call, let problem):
      "\(call) cannot carry the token: \(problem). Nothing was sent, and the session is what it was. "
        + "Correct the call, or mark it as plain."
    case .webSignIn(let problem):
      "Nobody was signed in: \(problem.reason)"
    case .expired(let cause):
      "The session has expired\(Self.reason(cause)). Sign in again as the same user, or log out."
    case .loggedOut(let cause):
      "The session was logged out\(Self.reason(cause)). Sign in again."
    case .tooManyAttempts(let wait):
      "There were more sign-ins in a minute than this app's own limit allows. Nothing was sent. Try again "
        + "\(Self.moment(wait))."
    case .notStoredYet(let cause):
      "The server has answered, and the answer could not be stored yet: \(cause) Storing it is tried again "
        + "each second, and it counts as soon as it is stored."
    case .answerDropped(let cause):
      "The session was closed, and the server's last answer could not be stored: \(cause) Its token is lost. "
        + "Open the session again: it goes on with the token before, which a server that replaces refresh "
        + "tokens may refuse; the user has to sign in again then."
    case .journal(let error):
      "The journal failed and the session is what it was. \(error)"
    case .unusableJournal(let path, let sequence, let problem):
      "\(path) cannot be folded at seq \(sequence): \(problem). Nothing was changed. "
        + "Use a newer version, or run: sessionreplay verify \(path)"
    case .eventsCompacted(let sequence, let state):
      "The events up to seq \(sequence) are in a snapshot and cannot be had one by one any more; they "
        + "came to \(state.kind). Go on with the events after \(sequence)."
    case .secrets(let error):
      "The secret store failed and the session is what it was. \(error)"
    case .secretsOfAnotherSession(let path):
      "The stored secrets are those of the session of \(path). Nothing was touched. Give each account a "
        + "place of its own for its secrets: a folder, or a keychain service."
    case .secretsOwnerUnreadable(let path, let problem):
      "The stored secrets belong to the session of \(path), and it cannot be told whether that journal "
        + "still stands: \(problem) The secrets were not touched, and nobody was logged out. Let this "
        + "process read that journal, or give this session a place of its own for its secrets."
    case .closed:
      "The session object was closed. The session itself goes on: open it again."
    case .cancelled:
      "The calling task was cancelled. The session goes on."
    default:
      answerDescription
    }
  }

  private var answerDescription: String {
    switch self {
    case .invalidRequest(let code):
      "The server found the request wrong (400\(Self.suffix(code))). Check what was entered."
    case .invalidCredentials(let code, let status):
      "The server does not accept the credential (\(status)\(Self.suffix(code))). Check it and sign in "
        + "again."
    case .unauthorized(let code, let status):
      "The server does not accept the token any more (\(status)\(Self.suffix(code))). Refresh, and try "
        + "again."
    case .appRefused(let status, let code):
      "The server refuses the app, not its user (\(status) \(code)). Check the wire's client, grant and "
        + "scope."
    case .forbidden(let code):
      "The server does not allow it (403\(Self.suffix(code))). Ask whoever grants access."
    case .userInactive:
      "The server says that the account is inactive. Contact support."
    case .userDeleted:
      "The server says that the account is deleted. Contact support if that is a surprise."
    case .notFound:
      "The server does not know it (404). Check the account, or the address of the server."
    case .conflict(let code):
      "The server reports a conflict (\(code ?? "409")). Load what is there and try again."
    case .alreadyDeleted:
      "The server says that it is deleted already (ALREADY_DELETED). Nothing is left to do."
    case .accountLocked:
      "The account is locked (423). Contact support."
    case .rateLimited(let wait):
      "Too many requests (429). Try again \(Self.moment(wait))."
    case .server(let status, let code, let wait):
      "The server failed (\(status)\(Self.suffix(code))). Try again \(Self.moment(wait))."
    case .databaseUnavailable(let code, let wait):
      "The server cannot reach its data (\(code)). Try again \(Self.moment(wait))."
    case .unexpectedStatus(let status):
      "The server answered with status \(status), which has no meaning here. Check the address of "
        + "the server."
    case .unreadableAnswer(let problem):
      "The server's answer cannot be read: \(problem). Check the address and the version of the "
        + "server."
    case .intercepted(let status):
      "Something else than the server answered (\(status)): the network may want a sign-in of its own, a "
        + "gateway may be in trouble, or the address is wrong. Nobody was logged out. Open a page in "
        + "the browser, and try again."
    case .noConnection(let reason):
      "The server could not be reached: \(reason). Nothing was sent. Check the connection and try "
        + "again."
    case .notTrusted(let reason):
      "No secure connection to the server: \(reason). Nothing was sent. Check the server's certificate and "
        + "the date of the device."
    case .noReply(let reason):
      "The server did not answer: \(reason). It may have acted on the request. Try again."
    case .responseTooLarge(let call, let limit):
      "The response to \(call) has more than \(limit) bytes, and was not read further. The server may "
        + "have acted on the request; the session is what it was. Ask for less at a time, or raise the "
        + "limit (CallRules.limits)."
    case .responseTooSlow(let call, let limit):
      "The response to \(call) was not complete after \(limit). The server may have acted on the "
        + "request; the session is what it was. Try again, or raise the limit (CallRules.limits)."
    default:
      "The session failed."
    }
  }

  private static func reason(_ cause: EndCause) -> String {
    let text = cause.description
    return text.isEmpty ? "" : " (\(text))"
  }

  private static func suffix(_ code: String?) -> String {
    code.map { " \($0)" } ?? ""
  }

  /// Rounded up, so that nobody comes back too early.
  package static func seconds(_ milliseconds: Int64?) -> Int? {
    milliseconds.map { Int(clamping: $0 / 1000 + ($0 % 1000 > 0 ? 1 : 0)) }
  }

  private static func moment(_ wait: Int64?) -> String {
    seconds(wait).map { "in \(max(1, $0)) s" } ?? "later"
  }
}

extension SessionError {
  /// Whether the same would happen again however often it is tried.
  var isLasting: Bool {
    switch self {
    case .journal(.recordTooLarge), .journal(.batchTooLarge), .journal(.replaced),
      .secrets(.tooLarge),
      .unreadableAnswer:
      true
    default: false
    }
  }

  /// Whether the same may succeed later with nothing mended but the room on the disk.
  var isPassing: Bool {
    switch self {
    case .journal(.diskFull), .journal(.busy): true
    default: false
    }
  }

  /// How the session of a waiting caller ended.
  package init(endedIn state: SessionState.Kind, by cause: EndCause) {
    switch cause.failure?.kind {
    case .userInactive: self = .userInactive
    case .userDeleted: self = .userDeleted
    default: self = state == .expired ? .expired(cause) : .loggedOut(cause)
    }
  }

  /// What a rejection by the core means to the caller, after a session that ended so.
  package init(_ rejection: SessionRejection, after cause: EndCause) {
    switch rejection.reason {
    case .notAuthenticated: self = .notSignedIn
    case .alreadyAuthenticated: self = .alreadySignedIn
    case .expired: self = .expired(cause)
    case .differentUser: self = .otherUsersSession
    case .staleGeneration: self = .overtaken
    }
  }

  /// The error of a request that failed; `detail` says what the failure's numbers cannot.
  package init(_ failure: RequestFailure, detail: String?, isSignIn: Bool) {
    switch failure.kind {
    case .noConnection where failure.serverCode == RequestFailure.notOffered:
      self = .notOffered(detail ?? "there is no endpoint")
    case .noConnection where failure.serverCode == RequestFailure.wrongAddress:
      self = .wrongAddress(detail ?? "there is no way to it")
    case .noConnection where failure.serverCode == RequestFailure.notTrusted:
      self = .notTrusted(detail ?? "the server's certificate is not trusted")
    case .noConnection: self = .noConnection(detail ?? "no connection")
    case .noReply:
      self = .noReply(detail ?? (failure.status == 0 ? "no reply" : "it says \(failure.status)"))
    case .server:
      if let code = failure.serverCode, code.hasPrefix("DB_") {
        self = .databaseUnavailable(code: code, retryAfter: failure.retryAfter)
      } else {
        self = .server(
          status: failure.status, code: failure.serverCode, retryAfter: failure.retryAfter)
      }
    case .rateLimited: self = .rateLimited(retryAfter: failure.retryAfter)
    case .unreadable: self = .unreadableAnswer(detail ?? "it is not what was expected")
    case .noRefreshToken: self = .noRefreshToken
    case .secretsUnavailable: self = .secretsUnavailable
    case .intercepted: self = .intercepted(status: failure.status)
    case .userInactive: self = .userInactive
    case .userDeleted: self = .userDeleted
    case .otherUser: self = .unreadableAnswer("it names another user than the session's")
    // The rules have the last word on a sign-in: at any status, this is a wrong credential. Elsewhere, 403
    // says that this user may not do it.
    case .rejected where isSignIn || failure.status != 403:
      self =
        isSignIn
        ? .invalidCredentials(code: failure.serverCode, status: failure.status)
        : .unauthorized(code: failure.serverCode, status: failure.status)
    // No server of the wire has answered: it was the identity provider, which has no status.
    case .unexpected where failure.status == 0:
      self = .webSignIn(.refused(failure.serverCode.flatMap { IdentityCode($0) }))
    default:
      if let code = failure.serverCode, Self.clientCodes.contains(code) {
        self = .appRefused(status: failure.status, code: code)
        return
      }
      self.init(status: failure.status, code: failure.serverCode, isSignIn: isSignIn)
    }
  }

  /// The error of a sign-in whose credential was accepted, and whose user could not be learnt (LOG-6).
  package init(unidentified failure: RequestFailure, detail: String?) {
    // A token that is refused at once says nothing of what the user entered.
    guard failure.kind != .rejected || failure.status != 401 else {
      self = .unexpectedStatus(failure.status)
      return
    }
    self.init(failure, detail: detail, isSignIn: false)
  }

  private init(status: UInt16, code: String?, isSignIn: Bool) {
    switch code {
    case "ALREADY_DELETED": self = .alreadyDeleted
    case "CONFLICT": self = .conflict(code: code)
    default: self.init(answeredWith: status, code: code, isSignIn: isSignIn)
    }
  }

  private init(answeredWith status: UInt16, code: String?, isSignIn: Bool) {
    switch status {
    case 400, 422: self = .invalidRequest(code: code)
    case 401: self = isSignIn ? .invalidCredentials(code: code) : .unauthorized(code: code)
    case 403: self = .forbidden(code: code)
    case 404: self = .notFound
    case 409: self = .conflict(code: code)
    case 423: self = .accountLocked
    default: self = .unexpectedStatus(status)
    }
  }

  /// What OAuth says where the request of the app itself is wrong, whoever its user is.
  private static let clientCodes: Set<String> = [
    "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
  ]
}
