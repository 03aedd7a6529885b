@_spi(Internals) import SessionCore
import SessionJournal

extension SessionError.Failure {
  /// A description of what happened, the consequence for the session, and the next step.
  package var description: String {
    switch self {
    case .invalidCredential(let problem):
      "The credential was not sent: \(problem). Correct it and log in again."
    case .notSignedIn:
      "No user is logged in. Log in first."
    case .alreadySignedIn:
      "A user is already logged in. Log out first."
    case .otherUsersSession:
      "The expired session belongs to another user, whose data is still on this device. Log in as "
        + "that user, or log out."
    case .superseded:
      "The token was replaced while the response was on its way. The response does not count, and "
        + "nothing changed. Try again."
    case .signInUnderWay:
      "A login is already in progress. Wait until it ends, or cancel its task."
    case .secretsUnavailable:
      "The stored secrets cannot be read yet. It is not known whether a user is logged in. No user "
        + "was logged out. The session tries again automatically."
    case .needsPresence:
      "The token was not refreshed. Its refresh token can be read only after the user has proven "
        + "their presence. No user was logged out, and nothing was sent. Let the user unlock the "
        + "secret store, and try again."
    case .pendingChanges(let count):
      "\(count == 1 ? "1 change has" : "\(count) changes have") not been sent yet, so no user was "
        + "logged out. Send \(count == 1 ? "it" : "them"), or log out with "
        + "discardingPendingChanges."
    case .clearingLocalData:
      "The previous user's local data is still being removed: clearLocalData has not returned "
        + "within clearLocalDataLimit. No user was logged in, and nothing was sent. Log in after "
        + "it has returned. If it never returns, restart the app."
    case .noRefreshToken:
      "The session has no refresh token. The current token is valid until it expires. Log in again "
        + "then."
    case .notOffered(let what):
      "The backend does not support the request: \(what). Nothing was sent. Configure an endpoint "
        + "for it, or do not offer it to the user."
    case .wrongAddress(let problem):
      "The address cannot be used: \(problem). Nothing was sent. Correct the address."
    case .unusableCall(let call, let problem):
      "\(call) cannot carry the token: \(problem). Nothing was sent, and the session is unchanged. "
        + "Correct the call, or mark it as plain."
    case .webSignIn(let problem):
      "No user was logged in: \(problem.reason)"
    case .expired(let cause):
      "The session has expired\(Self.words(cause)). Log in again as the same user, or log out."
    case .loggedOut(let cause):
      "The session was logged out\(Self.words(cause)). Log in again."
    case .tooManyAttempts(let wait):
      "The logins in one minute exceed this app's own limit. Nothing was sent. Try again "
        + "\(Self.moment(wait))."
    case .notStoredYet(let cause):
      "The server has responded, but the response could not be stored yet: \(cause.description) "
        + "The session tries to store it again each second. The response counts as soon as it is "
        + "stored."
    case .answerDropped(let cause):
      "The session was closed, and the server's last response could not be stored: "
        + "\(cause.description) Its token is lost. Open the session again: it continues with the "
        + "previous token. A server that replaces refresh tokens may refuse the previous one. The "
        + "user must log in again then."
    case .journal(let error):
      // After a failed sync the record may be there or not; the next opening reads what is there.
      (error.mayHaveWritten
        ? "The journal failed. A record that was being written may be in it. \(error)"
        : "The journal failed, and the session is unchanged. \(error)")
        // Without this, a header of zeros after a power failure ends at "Check the path."
        + (error.isOfUnusableFile
          ? " To go on without its records, set policy.recovery = .resume: the file is set aside."
          : "")
    case .unusableJournal(let path, let sequence, let problem):
      "\(path) cannot be folded at seq \(sequence): \(problem). Nothing was changed. "
        + "Use a newer version, or run: sessionreplay verify \(path)"
    case .eventsCompacted(let sequence, let state):
      CompactedEvents(through: sequence, state: state).description
    case .secrets(let error):
      "The secret store failed, and the session is unchanged. \(error)"
    case .secretsOfAnotherSession(let path):
      "The stored secrets belong to the session of \(path). Nothing was changed. Give each account "
        + "its own place for secrets: a folder, or a keychain service."
    case .secretsOwnerUnreadable(let path, let problem):
      "The stored secrets belong to the session of \(path). It is not known whether that journal "
        + "still has a session: \(problem) The secrets were not changed, and no user was logged "
        + "out. Let this process read that journal, or give this session its own place for secrets."
    case .closed:
      "The session object was closed. The session itself continues: open it again."
    case .cancelled:
      "The calling task was cancelled. The session continues."
    default:
      answerDescription
    }
  }

  private var answerDescription: String {
    switch self {
    case .invalidRequest(let code, let status):
      "The server reports an invalid request (\(status)\(Self.suffix(code))). Check what was "
        + "entered."
    case .invalidCredentials(let code, let status):
      "The server does not accept the credential (\(status)\(Self.suffix(code))). Check it and log "
        + "in again."
    case .codeRefused(let status, let code):
      "The server does not accept the authorization code (\(status)\(Self.suffix(code))). It may "
        + "have expired, or have been used before. Log in again."
    case .unauthorized(let code, let status):
      "The server no longer accepts the token (\(status)\(Self.suffix(code))). Refresh it, and try "
        + "again."
    case .appRefused(let status, let code, let hint):
      "The server refuses the app, not its user (\(status) \(code)). Check the backend's client, "
        + "grant and scope\(hint.map { ": \($0)" } ?? "")."
    case .forbidden(let code):
      "The server does not allow the request (403\(Self.suffix(code))). Ask the service for access."
    case .userInactive:
      "The server reports that the account is inactive. Contact support."
    case .userDeleted:
      "The server reports that the account is deleted. Contact support if this is unexpected."
    case .notFound(let code):
      "The server did not find the resource (404\(Self.suffix(code))). Check the account, or the "
        + "address of the server."
    case .conflict(let code, let status):
      "The server reports a conflict (\(status)\(Self.suffix(code))). Load the current data, and "
        + "try again."
    case .alreadyDeleted(let status):
      "The server reports that the data is already deleted (\(status) "
        + "\(ErrorCode.alreadyDeleted)). No action is needed."
    case .accountLocked(let code):
      "The account is locked (423\(Self.suffix(code))). Contact support."
    case .rateLimited(let wait, let status, let code):
      "The server reports too many requests (\(status)\(Self.suffix(code))). Try again "
        + "\(Self.moment(wait))."
    case .server(let status, let code, let wait):
      "The server failed (\(status)\(Self.suffix(code))). Try again \(Self.moment(wait))."
    case .databaseUnavailable(let code, let status, let wait):
      "The server cannot access its data (\(status) \(code)). Try again \(Self.moment(wait))."
    case .unexpectedStatus(let status, let code):
      "The server responded with the unexpected status \(status)\(Self.suffix(code)). Check the "
        + "address of the server, and the path of the request."
    case .refreshRefused(let status, let code) where code == "invalid_scope":
      "The server refused the refresh (\(status) invalid_scope): it asked for more than the login was "
        + "granted. The user stays logged in. Send no scope with a refresh, and have the user log in again "
        + "for a larger one."
    case .refreshRefused(let status, let code):
      "The server refused the refresh (\(status)\(Self.suffix(code))), and no rule of the backend "
        + "explains it. The user stays logged in. If it means that the refresh token is invalid, "
        + "name the code in errorCodes or the status in failures."
    case .unreadableAnswer(let problem):
      "The server's response cannot be read: \(problem). Check the address and the version of the "
        + "server."
    case .intercepted(let status):
      "Another machine responded instead of the server (\(status)). The network may require its "
        + "own login, a proxy may have refused the request, or the address is wrong. No user was "
        + "logged out. Open a page in the browser, and try again."
    case .gatewayFailed(let status):
      "A response with the status \(status) is not in the server's format: it came from a gateway or "
        + "a firewall in front of the server, or from the server itself. No user was logged out. Try "
        + "again later, check the address, and look into the logs of both."
    case .noConnection(let reason):
      "The server could not be reached: \(reason). Nothing was sent. Check the connection and try "
        + "again."
    case .notTrusted(let reason):
      "No secure connection to the server was established: \(reason). Nothing was sent. Check the "
        + "server's certificate and the date of the device."
    case .noReply(let reason):
      "No complete response arrived: \(reason). The server may have acted on the request. Try "
        + "again."
    case .responseTooLarge(let call, let limit):
      "The response to \(call) has more than \(limit) bytes, so the rest was not read. The server "
        + "may have acted on the request, and the session is unchanged. Request less data at a "
        + "time, or raise the limit (CallRules.maximumResponseSize)."
    case .responseTooSlow(let call, let limit):
      "The response to \(call) was not complete after \(limit). The server may have acted on the "
        + "request, and the session is unchanged. Try again, or raise the limit (CallRules.timeout)."
    default:
      "The session failed."
    }
  }

  private static func words(_ cause: EndCause) -> String {
    let text = cause.description
    return text.isEmpty ? "" : " (\(text))"
  }

  private static func suffix(_ code: String?) -> String {
    code.map { " \($0)" } ?? ""
  }

  /// Converts milliseconds to seconds, rounded up so that no attempt is too early.
  package static func seconds(_ milliseconds: Int64?) -> Int? {
    milliseconds.map { Int(clamping: $0 / 1000 + ($0 % 1000 > 0 ? 1 : 0)) }
  }

  private static func moment(_ wait: Int64?) -> String {
    seconds(wait).map { "in \(max(1, $0)) s" } ?? "later"
  }
}
