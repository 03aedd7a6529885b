@_spi(Internals) package import SessionCore
package import SessionJournal

// The failures of a session: one row each, in this file and in SessionError+Responses.swift. A row
// has the code, the message, the description, and the values that an app reads. Nothing else names
// every failure, except the list of their names.

extension SessionError {
  /// The identity of a failure, for this package only; apps read ``SessionError/code``.
  package enum Failure: CaseIterable, Sendable {
    case invalidCredential, notSignedIn, alreadySignedIn, otherUsersSession, superseded,
      signInUnderWay, tooManyAttempts, secretsUnavailable, needsPresence, appLocked,
      pendingChanges,
      clearingLocalData, noRefreshToken, notOffered, wrongAddress, unusableCall, webSignIn,
      invalidRequest, invalidCredentials, codeRefused, unauthorized, appRefused, forbidden,
      userInactive, userDeleted, notFound, conflict, alreadyDeleted, accountLocked, rateLimited,
      server, databaseUnavailable, unexpectedStatus, refreshRefused, unreadableAnswer, intercepted,
      gatewayFailed, noConnection, notTrusted, noReply, responseTooLarge, responseTooSlow,
      userNeeded, expired,
      loggedOut, proofKeyLost, notStoredYet, answerDropped, journal, unusableJournal, movedAway,
      cannotMoveYet,
      eventsCompacted, secrets,
      secretsOfAnotherSession, secretsOwnerUnreadable, closed, cancelled

    /// The name in scenarios.
    package var name: String { self == .superseded ? "overtaken" : "\(self)" }
  }
}

// Before anything is sent.
extension SessionError {
  package static func invalidCredential(_ problem: CredentialRules.Problem) -> SessionError {
    SessionError(
      .invalidCredential, .invalidInput, problem.message, cause: problem,
      "The credential was not sent: \(problem). Correct it and log in again.")
  }
  package static let notSignedIn = SessionError(
    .notSignedIn, .notLoggedIn, .notSignedIn, "No user is logged in. Log in first.")
  package static let alreadySignedIn = SessionError(
    .alreadySignedIn, .alreadyLoggedIn, .alreadySignedIn,
    "A user is already logged in. Log out first.")
  package static func otherUsersSession(after cause: EndCause = EndCause()) -> SessionError {
    SessionError(
      .otherUsersSession, .alreadyLoggedIn, .otherUsersSession, reason: cause.reason,
      "The expired session belongs to another user, whose data is still on this device. Log in as "
        + "that user, or log out.")
  }
  package static let superseded = SessionError(
    .superseded, .busy, .superseded,
    "The token was replaced while the response was on its way. The response does not count, and "
      + "nothing changed. Try again.")
  package static let signInUnderWay = SessionError(
    .signInUnderWay, .busy, .signInUnderWay,
    "A login is already in progress. Wait until it ends, or cancel its task.")
  /// The wait is in milliseconds.
  package static func tooManyAttempts(retryAfter wait: Int64) -> SessionError {
    SessionError(
      .tooManyAttempts, .rateLimited, .tooManyRequests(waitSeconds: seconds(wait)),
      retryAfter: wait,
      "The logins in one minute exceed this app's own limit. Nothing was sent. Try again "
        + "\(moment(wait)).")
  }
  package static let secretsUnavailable = SessionError(
    .secretsUnavailable, .locked, .deviceLocked,
    "The stored secrets cannot be read yet. It is not known whether a user is logged in. No user "
      + "was logged out. The session tries again automatically.")
  package static let needsPresence = SessionError(
    .needsPresence, .locked, .deviceLocked,
    "The token was not refreshed. Its refresh token can be read only after the user has proven "
      + "their presence. No user was logged out, and nothing was sent. Let the user unlock the "
      + "secret store, and try again.")
  /// - Requirement: INT-9
  package static let proofKeyLost = SessionError(
    .proofKeyLost, .storage, .storedSignInLost, cause: ProofKeyError.gone,
    "The key that proves possession of the tokens is gone, or is another one. Nothing was sent. Create "
      + "a key, and log in again.")
  /// It has the code of a locked device: an app treats both alike, except for how it unlocks.
  package static let appLocked = SessionError(
    .appLocked, .locked, .appLocked,
    "The app has locked the session. No token is given and nothing was sent. No user was logged out. "
      + "Let the user prove their presence, with Session.unlock(after:).")
  package static func pendingChanges(_ count: Int) -> SessionError {
    SessionError(
      .pendingChanges, .pendingChanges, .changesNotSent(count: count), pendingChanges: count,
      "\(count == 1 ? "1 change has" : "\(count) changes have") not been sent yet, so no user was "
        + "logged out. Send \(count == 1 ? "it" : "them"), or log out with "
        + "discardingPendingChanges.")
  }
  package static let clearingLocalData = SessionError(
    .clearingLocalData, .busy, .logoutUnderWay,
    "The previous user's local data is still being removed: clearLocalData has not returned "
      + "within clearLocalDataLimit. No user was logged in, and nothing was sent. Log in after "
      + "it has returned. If it never returns, restart the app.")
  package static let noRefreshToken = SessionError(
    .noRefreshToken, .refused, .notProlongable,
    "The session has no refresh token. The current token is valid until it expires. Log in again "
      + "then.")
  package static func notOffered(_ what: String) -> SessionError {
    SessionError(
      .notOffered, .refused, .appNotSetUp,
      "The backend does not support the request: \(what). Nothing was sent. Configure an endpoint "
        + "for it, or do not offer it to the user.")
  }
  package static func wrongAddress(_ problem: String) -> SessionError {
    SessionError(
      .wrongAddress, .refused, .appNotSetUp,
      cause: BackendError(.invalidAddress, message: problem),
      "The address cannot be used: \(problem). Nothing was sent. Correct the address.")
  }
  package static func unusableCall(call: String, problem: String) -> SessionError {
    SessionError(
      .unusableCall, .refused, .appNotSetUp,
      "\(call) cannot carry the token: \(problem). Nothing was sent, and the session is unchanged. "
        + "Correct the call, or mark it as plain.")
  }
  package static func webSignIn(_ problem: WebSignInProblem) -> SessionError {
    webSignIn(problem, result: "No user was logged in")
  }
  package static func webSignIn(_ problem: WebSignInProblem, result: String) -> SessionError {
    if case .requestFailed(let failure, let detail) = problem {
      return SessionError(redeeming: failure, detail: detail)
    }
    let (code, message, reason) = problem.row
    var serverCode: String?
    if case .refused(let code) = problem { serverCode = code?.description }
    return SessionError(
      .webSignIn, code, message, serverCode: serverCode, cause: problem,
      "\(result): \(reason)")
  }
}

// The end of a session or of its object.
extension SessionError {
  package static func expired(_ cause: EndCause) -> SessionError {
    SessionError(
      .expired, .expired, cause.expiry?.message ?? .sessionExpired, end: cause,
      "The session has expired\(words(cause)). Log in again as the same user, or log out.")
  }
  package static func loggedOut(_ cause: EndCause) -> SessionError {
    SessionError(
      .loggedOut, .loggedOut, .loggedOut, end: cause,
      "The session was logged out\(words(cause)). Log in again.")
  }
  package static let closed = SessionError(
    .closed, .closed, .closed,
    "The session object was closed. The session itself continues: open it again.")
  package static let cancelled = SessionError(
    .cancelled, .cancelled, .cancelled, "The calling task was cancelled. The session continues.")

  private static func words(_ cause: EndCause) -> String {
    let text = cause.description
    return text.isEmpty ? "" : " (\(text))"
  }
}

// The storage.
extension SessionError {
  /// The response may be another process's, which says so in the journal.
  package static func notStoredYet(because cause: SessionError) -> SessionError {
    SessionError(
      .notStoredYet, .storage, .answerNotStored(because: cause.message), cause: cause,
      "The server has responded, but the response could not be stored yet: \(cause.description) "
        + "The session tries to store it again each second. The response counts as soon as it is "
        + "stored.")
  }
  package static func answerDropped(because cause: SessionError) -> SessionError {
    SessionError(
      .answerDropped, .storage, .answerDropped(because: cause.message), cause: cause,
      "The session was closed, and the server's last response could not be stored: "
        + "\(cause.description) Its token is lost. Open the session again: it continues with the "
        + "previous token. A server that replaces refresh tokens may refuse the previous one. The "
        + "user must log in again then.")
  }
  package static func journal(_ error: JournalError) -> SessionError {
    SessionError(
      .journal, .storage, error.message, cause: error,
      // After a failed sync the record may be there or not; the next opening reads what is there.
      (error.mayHaveWritten
        ? "The journal failed. A record that was being written may be in it. \(error)"
        : "The journal failed, and the session is unchanged. \(error)")
        // Without this, a header of zeros after a power failure ends at "Check the path."
        + (error.isOfUnusableFile
          ? " To go on without its records, set policy.recovery = .resume: the file is set aside."
          : ""))
  }
  /// The journal has a record that this version cannot fold.
  package static func unusableJournal(
    path: String, sequence: UInt64, problem: String
  ) -> SessionError {
    SessionError(
      .unusableJournal, .storage, .newerData, detail: problem,
      "\(path) cannot be folded at seq \(sequence): \(problem). Nothing was changed. "
        + "Use a newer version, or run: sessionreplay verify \(path)")
  }
  /// The session of this journal goes on at another place.
  ///
  /// - Requirement: ACC-3
  package static func movedAway(from path: String) -> SessionError {
    SessionError(
      .movedAway, .storage, .storageLost,
      "The session was moved away from \(path). Nothing was changed. Close it, and open it with the "
        + "configuration of its new place.")
  }
  /// The session stays at its former place until a later opening.
  package static func cannotMoveYet(from path: String, because reason: String) -> SessionError {
    SessionError(
      .cannotMoveYet, .storage, .storageBusy,
      "The session stays at \(path), because \(reason). The next opening tries to move it again.")
  }
  package static func eventsCompacted(through: UInt64, state: SessionState) -> SessionError {
    let cause = CompactedEvents(through: through, state: state)
    return SessionError(
      .eventsCompacted, .storage, .historySummedUp, cause: cause, cause.description)
  }
  package static func secrets(_ error: SecretStoreError) -> SessionError {
    SessionError(
      .secrets, .storage, error.message, cause: error,
      "The secret store failed, and the session is unchanged. \(error)")
  }
  /// The session of this journal still exists.
  ///
  /// - Requirement: RES-5
  package static func secretsOfAnotherSession(journal path: String) -> SessionError {
    SessionError(
      .secretsOfAnotherSession, .storage, .storageUnusable,
      "The stored secrets belong to the session of \(path). Nothing was changed. Give each account "
        + "its own place for secrets: a folder, or a keychain service.")
  }
  /// This journal cannot be read now.
  ///
  /// - Requirement: RES-7
  package static func secretsOwnerUnreadable(
    journal path: String, problem: JournalError
  ) -> SessionError {
    var code = Code.storage
    if case .permissionDenied(_, nil) = problem { code = .locked }
    return SessionError(
      .secretsOwnerUnreadable, code, problem.message, cause: problem,
      "The stored secrets belong to the session of \(path). It is not known whether that journal "
        + "still has a session: \(problem) The secrets were not changed, and no user was logged "
        + "out. Let this process read that journal, or give this session its own place for secrets."
    )
  }
}

extension WebSignInProblem {
  /// The code and the message of a session's error for this problem, and what happened and what to
  /// do, for developers.
  var row: (code: SessionError.Code, message: SessionMessage, reason: String) {
    switch self {
    case .cancelledByUser: (.cancelled, .cancelled, "the user left the page. No action is needed.")
    case .forgottenPassword:
      (
        .cancelled, .cancelled,
        "the user has forgotten the password. Show the page that sets a new one, and log in again."
      )
    case .noAccount:
      (
        .notLoggedIn, .notSignedIn,
        "the identity provider has no account that can log in without a page. Log in with a page."
      )
    case .refused(let code):
      (
        .refused, .providerSignInMissing,
        "the identity provider refused the request\(code.map { " (\($0))" } ?? ""). Look up the code "
          + "at the provider, or try again."
      )
    case .unreachable:
      (
        .noConnection, .noConnection,
        "the identity provider was not reached. Check the connection and try again."
      )
    case .viewFailed:
      (
        .refused, .appNotSetUp,
        "the app could not create or show its view. Check the error that the view threw."
      )
    case .unreadableTokens:
      (
        .invalidResponse, .unreadableAnswer,
        "the identity provider returned no valid token, or did not identify the user. Check the "
          + "backend's sources of the user, and the request to the provider."
      )
    case .cancelled:
      (.cancelled, .cancelled, "the calling task was cancelled. No action is needed.")
    case .requestFailed: SessionError.webSignIn(self).pageRow
    case .otherIssuer(let expected, let found):
      (
        .refused, .appNotSetUp,
        "the redirect names "
          + (found.map { "the issuer \($0)" } ?? "no issuer that is an HTTPS address")
          + ", and the app expects \(expected). They must be equal byte by byte (RFC 9207). Set the "
          + "issuer that the server's metadata states."
      )
    case .identityToken(let error):
      (
        .invalidResponse, .unreadableAnswer,
        "\(error) (OpenID Connect Core §3.1.3.7). Check the issuer and the client, and the provider."
      )
    case .noRedirect(let limit):
      (
        .noReply, .providerSignInMissing,
        "no redirect reached the app within \(limit). If the user has left the page, log in again. "
          + "A page that sees this throws WebSignInProblem.cancelledByUser. Pass each redirect from "
          + "outside to Session.handle(_:)."
      )
    case .noPage(let reason): (.refused, .appNotSetUp, "no page can be shown: \(reason)")
    }
  }
}

extension SessionError {
  fileprivate var pageRow: (Code, SessionMessage, String) { (code, message, description) }
}
