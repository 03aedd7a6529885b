// Responses of the server, or none (LOG-3). The statuses are the server's, and each wait is in
// milliseconds.
extension SessionError {
  package static func invalidRequest(code: String?, status: UInt16 = 400) -> SessionError {
    SessionError(
      .invalidRequest, .invalidInput, .invalidInput, status: status, serverCode: code,
      "The server reports an invalid request (\(status)\(suffix(code))). Check what was entered.")
  }
  package static func invalidCredentials(code: String?, status: UInt16 = 401) -> SessionError {
    SessionError(
      .invalidCredentials, .invalidCredentials, .wrongCredentials, status: status,
      serverCode: code,
      "The server does not accept the credential (\(status)\(suffix(code))). Check it and log in "
        + "again.")
  }
  /// The user entered nothing, so the texts about input do not apply (RFC 6749 §5.2).
  package static func codeRefused(_ status: UInt16, code: String?) -> SessionError {
    SessionError(
      .codeRefused, .refused, .providerSignInMissing, status: status, serverCode: code,
      "The server does not accept the authorization code (\(status)\(suffix(code))). It may have "
        + "expired, or have been used before. Log in again.")
  }
  package static func unauthorized(code: String?, status: UInt16 = 401) -> SessionError {
    SessionError(
      .unauthorized, .refused, .signInRefused, status: status, serverCode: code,
      "The server no longer accepts the token (\(status)\(suffix(code))). Refresh it, and try "
        + "again.")
  }
  /// OAuth's `invalid_client` and the like; the hint says what else may be wrong.
  package static func appRefused(
    status: UInt16, code: String, hint: String? = nil
  ) -> SessionError {
    SessionError(
      .appRefused, .refused, .appNotSetUp, status: status, serverCode: code,
      "The server refuses the app, not its user (\(status) \(code)). Check the backend's client, "
        + "grant and scope\(hint.map { ": \($0)" } ?? "").")
  }
  package static func forbidden(code: String?) -> SessionError {
    SessionError(
      .forbidden, .refused, .notAllowed, status: 403, serverCode: code,
      "The server does not allow the request (403\(suffix(code))). Ask the service for access.")
  }
  package static func userInactive(_ cause: EndCause = EndCause()) -> SessionError {
    SessionError(
      .userInactive, .accountUnavailable, .accountInactive, end: cause,
      "The server reports that the account is inactive. Contact support.")
  }
  package static func userDeleted(_ cause: EndCause = EndCause()) -> SessionError {
    SessionError(
      .userDeleted, .accountUnavailable, .accountDeleted, end: cause,
      "The server reports that the account is deleted. Contact support if this is unexpected.")
  }
  /// - Requirement: STA-9
  package static func userNeeded(_ need: UserNeed) -> SessionError {
    let what =
      need.source == .call
      ? "takes the call only after the user has authenticated again"
      : "renews the session only with the user"
    return SessionError(
      .userNeeded, .userNeeded, .userNeeded, serverCode: need.serverCode, need: need,
      "The server \(what)\(suffix(need.serverCode)). The user stays logged in\(need.asked). Let the user "
        + "authenticate with reauthenticate(_:).")
  }
  package static func notFound(code: String? = nil) -> SessionError {
    SessionError(
      .notFound, .refused, .notFound, status: 404, serverCode: code,
      "The server did not find the resource (404\(suffix(code))). Check the account, or the "
        + "address of the server.")
  }
  /// - Requirement: LOG-7
  package static func conflict(code: String?, status: UInt16 = 409) -> SessionError {
    SessionError(
      .conflict, .conflict, .conflict, status: status, serverCode: code,
      "The server reports a conflict (\(status)\(suffix(code))). Load the current data, and try "
        + "again.")
  }
  /// - Requirement: LOG-7
  package static func alreadyDeleted(status: UInt16 = 409) -> SessionError {
    SessionError(
      .alreadyDeleted, .conflict, .alreadyDeleted, status: status,
      serverCode: ErrorCode.alreadyDeleted,
      "The server reports that the data is already deleted (\(status) "
        + "\(ErrorCode.alreadyDeleted)). No action is needed.")
  }
  package static func accountLocked(code: String? = nil) -> SessionError {
    SessionError(
      .accountLocked, .accountUnavailable, .accountLocked, status: 423, serverCode: code,
      "The account is locked (423\(suffix(code))). Contact support.")
  }
  /// - Requirement: LOG-7
  package static func rateLimited(
    retryAfter wait: Int64?, status: UInt16 = 429, code: String? = nil
  ) -> SessionError {
    SessionError(
      .rateLimited, .rateLimited, .tooManyRequests(waitSeconds: seconds(wait)), status: status,
      serverCode: code, retryAfter: wait,
      "The server reports too many requests (\(status)\(suffix(code))). Try again "
        + "\(moment(wait)).")
  }
  package static func server(
    status: UInt16, code: String?, retryAfter wait: Int64? = nil
  ) -> SessionError {
    SessionError(
      .server, .serverFailure, .serviceTrouble(waitSeconds: seconds(wait)), status: status,
      serverCode: code, retryAfter: wait,
      "The server failed (\(status)\(suffix(code))). Try again \(moment(wait)).")
  }
  /// - Requirement: LOG-7
  package static func databaseUnavailable(
    code: String, status: UInt16 = 503, retryAfter wait: Int64? = nil
  ) -> SessionError {
    SessionError(
      .databaseUnavailable, .serverFailure, .dataTrouble(waitSeconds: seconds(wait)),
      status: status, serverCode: code, retryAfter: wait,
      "The server cannot access its data (\(status) \(code)). Try again \(moment(wait)).")
  }
  package static func unexpectedStatus(_ status: UInt16, code: String? = nil) -> SessionError {
    SessionError(
      .unexpectedStatus, .refused, .strangeAnswer, status: status, serverCode: code,
      "The server responded with the unexpected status \(status)\(suffix(code)). Check the "
        + "address of the server, and the path of the request.")
  }
  /// The user entered nothing, so the texts about input do not apply.
  package static func refreshRefused(_ status: UInt16, code: String? = nil) -> SessionError {
    SessionError(
      .refreshRefused, .refused, .strangeAnswer, status: status, serverCode: code,
      code == "invalid_scope"
        ? "The server refused the refresh (\(status) invalid_scope): it asked for more than the login was "
          + "granted. The user stays logged in. Send no scope with a refresh, and have the user log in again "
          + "for a larger one."
        : "The server refused the refresh (\(status)\(suffix(code))), and no rule of the backend "
          + "explains it. The user stays logged in. If it means that the refresh token is invalid, "
          + "name the code in errorCodes or the status in failures.")
  }
  package static func unreadableAnswer(_ problem: String) -> SessionError {
    SessionError(
      .unreadableAnswer, .invalidResponse, .unreadableAnswer,
      "The server's response cannot be read: \(problem). Check the address and the version of the "
        + "server.")
  }
  /// A captive portal, a proxy or a gateway answered.
  package static func intercepted(status: UInt16) -> SessionError {
    SessionError(
      .intercepted, .invalidResponse, .networkSignIn, status: status,
      "Another machine responded instead of the server (\(status)). The network may require its "
        + "own login, a proxy may have refused the request, or the address is wrong. No user was "
        + "logged out. Open a page in the browser, and try again.")
  }
  package static func gatewayFailed(status: UInt16) -> SessionError {
    SessionError(
      .gatewayFailed, .serverFailure, .gatewayTrouble, status: status,
      "A response with the status \(status) is not in the server's format: it came from a gateway or "
        + "a firewall in front of the server, or from the server itself. No user was logged out. Try "
        + "again later, check the address, and look into the logs of both.")
  }
  package static func noConnection(_ reason: String) -> SessionError {
    SessionError(
      .noConnection, .noConnection, .noConnection,
      cause: BackendError.noResponse(reason, mayHaveActed: false),
      "The server could not be reached: \(reason). Nothing was sent. Check the connection and try "
        + "again.")
  }
  package static func notTrusted(_ reason: String) -> SessionError {
    SessionError(
      .notTrusted, .noConnection, .insecureConnection,
      cause: BackendError(.notTrusted, message: reason),
      "No secure connection to the server was established: \(reason). Nothing was sent. Check the "
        + "server's certificate and the date of the device.")
  }
  package static func noReply(_ reason: String) -> SessionError {
    SessionError(
      .noReply, .noReply, .noAnswer, cause: BackendError.noResponse(reason, mayHaveActed: true),
      "No complete response arrived: \(reason). The server may have acted on the request. Try "
        + "again.")
  }
  /// - Requirement: INT-6
  package static func responseTooLarge(call: String, limit: Int) -> SessionError {
    SessionError(
      .responseTooLarge, .invalidResponse, .strangeAnswer,
      "The response to \(call) has more than \(limit) bytes, so the rest was not read. The server "
        + "may have acted on the request, and the session is unchanged. Request less data at a "
        + "time, or raise the limit (CallRules.maximumResponseSize).")
  }
  /// - Requirement: INT-6
  package static func responseTooSlow(call: String, limit: Duration) -> SessionError {
    SessionError(
      .responseTooSlow, .noReply, .noAnswer,
      "The response to \(call) was not complete after \(limit). The server may have acted on the "
        + "request, and the session is unchanged. Try again, or raise the limit (CallRules.timeout)."
    )
  }

  private static func suffix(_ code: String?) -> String { code.map { " \($0)" } ?? "" }

  /// Converts milliseconds to seconds, rounded up so that no attempt is too early.
  package static func seconds(_ milliseconds: Int64?) -> Int? {
    milliseconds.map { Int(clamping: $0 / 1000 + ($0 % 1000 > 0 ? 1 : 0)) }
  }

  static func moment(_ wait: Int64?) -> String {
    seconds(wait).map { "in \(max(1, $0)) s" } ?? "later"
  }
}

/// The codes of a server that have their own errors.
///
/// - Requirement: LOG-7
enum ErrorCode {
  static let alreadyDeleted = "ALREADY_DELETED"
  static let conflict = "CONFLICT"
}

extension UserNeed {
  /// What the server asks for, as the end of a sentence.
  fileprivate var asked: String {
    let words = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    return words.isEmpty ? "" : ", and the server asks for \(words.joined(separator: ", "))"
  }
}
