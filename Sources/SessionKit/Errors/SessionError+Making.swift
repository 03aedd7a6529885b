@_spi(Internals) public import SessionCore
import SessionJournal

extension SessionError {
  /// Whether every further attempt would fail in the same way.
  var isLasting: Bool {
    if case .tooLarge? = secretsError { return true }
    switch journalError {
    case .recordTooLarge, .batchTooLarge, .replaced: return true
    default: return failure == .unreadableAnswer
    }
  }

  /// Whether the same call may succeed after the disk has space again, or after a peer releases the
  /// lock.
  var isPassing: Bool {
    switch journalError {
    case .diskFull, .busy, .unavailable: true
    default: false
    }
  }

  /// Creates the error of a waiting caller whose session ended.
  package init(endedIn state: SessionState.Kind, by cause: EndCause) {
    switch cause.failure?.kind {
    case .userInactive: self = .userInactive(cause)
    case .userDeleted: self = .userDeleted(cause)
    default: self = state == .expired ? .expired(cause) : .loggedOut(cause)
    }
  }

  /// Creates the error of a command that the core rejected, after a session that ended with this
  /// cause.
  package init(_ rejection: SessionRejection, after cause: EndCause) {
    switch rejection.reason {
    case .notAuthenticated: self = .notSignedIn
    case .alreadyAuthenticated: self = .alreadySignedIn
    case .expired: self = .expired(cause)
    case .differentUser: self = .otherUsersSession(after: cause)
    case .staleGeneration: self = .superseded
    }
  }

  /// Creates the error of a failed request.
  ///
  /// `detail` is a text for the description.
  package init(_ failure: RequestFailure, detail: String?, isSignIn: Bool) {
    switch failure.kind {
    case .noConnection where failure.serverCode == RequestFailure.notOffered:
      self = .notOffered(detail ?? "the backend has no endpoint for it")
    case .noConnection where failure.serverCode == RequestFailure.wrongAddress:
      self = .wrongAddress(detail ?? "no request can be sent to it")
    case .noConnection where failure.serverCode == RequestFailure.notTrusted:
      self = .notTrusted(detail ?? "the server's certificate is not trusted")
    case .noConnection: self = .noConnection(detail ?? "there is no connection")
    case .noReply:
      self = .noReply(
        detail
          ?? (failure.status == 0
            ? "the server did not answer"
            : failure.status == 408
              ? "the server did not get the whole request in time (408)"
              : "the status is \(failure.status)"))
    case .server:
      if let code = failure.serverCode, code.hasPrefix("DB_") {
        self = .databaseUnavailable(
          code: code, status: failure.status, retryAfter: failure.retryAfterMilliseconds)
      } else {
        self = .server(
          status: failure.status, code: failure.serverCode,
          retryAfter: failure.retryAfterMilliseconds)
      }
    case .rateLimited:
      self = .rateLimited(
        retryAfter: failure.retryAfterMilliseconds, status: failure.status, code: failure.serverCode
      )
    case .unreadable: self = .unreadableAnswer(detail ?? "its content is unexpected")
    case .noRefreshToken: self = .noRefreshToken
    case .secretsUnavailable: self = .secretsUnavailable
    case .proofKeyLost: self = .proofKeyLost
    // A network asks for its sign-in by a redirect, a 200, a 407 (RFC 9110 §15.5.8) or a 511
    // (RFC 6585 §6). With other errors the service, or a firewall or gateway in front of it, answers.
    case .intercepted
    where (400...599).contains(failure.status) && ![407, 511].contains(failure.status):
      self = .gatewayFailed(status: failure.status)
    case .intercepted: self = .intercepted(status: failure.status)
    case .userInactive: self = .userInactive(EndCause(failure: failure))
    case .userDeleted: self = .userDeleted(EndCause(failure: failure))
    case .otherUser: self = .unreadableAnswer("it belongs to a user other than the session's")
    // The rules decide about a sign-in: at any status, this is a wrong credential. For other
    // requests, 403 means that the user is not allowed to do it.
    case .rejected where isSignIn || failure.status != 403:
      self =
        isSignIn
        ? .invalidCredentials(code: failure.serverCode, status: failure.status)
        : .unauthorized(code: failure.serverCode, status: failure.status)
    // Without a status, the failure is not from the backend but from the identity provider.
    case .unexpected where failure.status == 0:
      self = .webSignIn(.refused(failure.serverCode.flatMap { IdentityCode($0) }))
    default:
      if let code = failure.serverCode, Self.clientCodes.contains(code) {
        self = .appRefused(status: failure.status, code: code, hint: detail)
        return
      }
      self.init(status: failure.status, code: failure.serverCode, isSignIn: isSignIn)
    }
  }

  /// Creates the error of a call whose proof could not be made.
  init(_ error: ProofKeyError) {
    self.init(BackendError(error).failure(), detail: error.description, isSignIn: false)
  }

  /// Creates the error of a request that redeems an authorization code.
  ///
  /// It is that of a login. But the user entered nothing that a text could ask to correct.
  ///
  /// - Requirement: LOG-20
  package init(redeeming failure: RequestFailure, detail: String?) {
    let (status, code) = (failure.status, failure.serverCode)
    switch failure.kind {
    case .rejected: self = .codeRefused(status, code: code)
    case .unexpected where [400, 401, 404, 409, 422].contains(status):
      guard let code, RequestFailure.standardCodes.contains(code) else {
        self = .unexpectedStatus(status, code: code)
        return
      }
      // These codes concern the app. Others, such as `interaction_required`, concern this login.
      let isOfApp = code == "invalid_request" || Self.clientCodes.contains(code)
      self =
        isOfApp
        ? .appRefused(status: status, code: code, hint: detail) : .codeRefused(status, code: code)
    default: self.init(failure, detail: detail, isSignIn: false)
    }
  }

  /// Creates the error of a sign-in whose credential was accepted, but whose user could not be
  /// determined.
  ///
  /// - Requirement: LOG-6
  package init(unidentified failure: RequestFailure, detail: String?) {
    // If a new token is refused at once, the user's input is not the cause.
    guard failure.kind != .rejected || failure.status != 401 else {
      self = .unexpectedStatus(failure.status, code: failure.serverCode)
      return
    }
    self.init(failure, detail: detail, isSignIn: false)
  }

  private init(status: UInt16, code: String?, isSignIn: Bool) {
    switch code {
    case ErrorCode.alreadyDeleted: self = .alreadyDeleted(status: status)
    case ErrorCode.conflict: self = .conflict(code: code, status: status)
    default: self.init(answeredWith: status, code: code, isSignIn: isSignIn)
    }
  }

  private init(answeredWith status: UInt16, code: String?, isSignIn: Bool) {
    switch status {
    case 400, 422: self = .invalidRequest(code: code, status: status)
    case 401: self = isSignIn ? .invalidCredentials(code: code) : .unauthorized(code: code)
    case 403: self = .forbidden(code: code)
    // Frameworks answer an address that they do not have with 404 and no code of their own. The
    // user entered nothing wrong then.
    case 404 where isSignIn && (code == nil || code == RequestFailure.codeNotKept):
      self = .unexpectedStatus(404, code: code)
    case 404: self = .notFound(code: code)
    case 409: self = .conflict(code: code)
    case 423: self = .accountLocked(code: code)
    default: self = .unexpectedStatus(status, code: code)
    }
  }

  /// The codes of OAuth for a request of the app that is wrong for every user.
  private static let clientCodes: Set<String> = [
    "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
  ]
}

extension SessionError {
  /// Creates an error as a session throws it, for tests and previews of an app.
  ///
  /// A value that an error with this code does not have is ignored. An error that always has a
  /// status gets the usual one by default: 401 for `invalidCredentials`, 409 for `conflict`, 500
  /// for `serverFailure`.
  ///
  /// - Parameters:
  ///   - code: The class of the error.
  ///   - status: The HTTP status of the server's response.
  ///   - serverCode: The server's own code.
  ///   - retryAfter: The time to wait.
  ///   - pendingChanges: The number of changes that were not sent; 1 by default.
  ///   - reason: Why the session ended.
  ///   - underlyingError: A `JournalError` or ``SecretStoreError`` for `storage`, a
  ///     `CredentialRules.Problem` for `invalidInput`.
  public init(
    _ code: Code, status: Int? = nil, serverCode: String? = nil, retryAfter: Duration? = nil,
    pendingChanges: Int? = nil, reason: SessionEnd.Reason? = nil,
    underlyingError: (any Error)? = nil
  ) {
    let given = Given(
      status: status.map { UInt16(clamping: $0) }, serverCode: serverCode,
      retryAfter: retryAfter.map { $0.milliseconds(atLeast: 0) },
      pendingChanges: pendingChanges, reason: reason, cause: underlyingError)
    self = given.error(code)
  }

  /// The values that an app gives for an error.
  private struct Given {
    var status: UInt16?
    var serverCode: String?
    var retryAfter: Int64?
    var pendingChanges: Int?
    var reason: SessionEnd.Reason?
    var cause: (any Error)?

    var end: EndCause {
      var end = EndCause()
      switch reason {
      case .expired(let expiry)?: end.expiry = expiry
      case .loggedOut(let logout)?: end.logout = logout
      case nil: break
      }
      if status != nil || serverCode != nil {
        end.failure = RequestFailure(
          kind: .rejected, status: status ?? 0, serverCode: serverCode)
      }
      return end
    }

    func error(_ code: Code) -> SessionError {
      switch code {
      case .invalidInput:
        status.map { .invalidRequest(code: serverCode, status: $0) }
          ?? .invalidCredential(cause as? CredentialRules.Problem ?? .emptyUserName)
      case .notLoggedIn: .notSignedIn
      case .alreadyLoggedIn: reason == nil ? .alreadySignedIn : .otherUsersSession(after: end)
      case .busy: .signInUnderWay
      case .pendingChanges: .pendingChanges(pendingChanges ?? 1)
      case .locked: .secretsUnavailable
      case .invalidCredentials: .invalidCredentials(code: serverCode, status: status ?? 401)
      case .userNeeded:
        .userNeeded(
          UserNeed(
            OpenNeed(
              SessionNote.UserNeeded(
                generation: .none, isOfCall: true,
                failure: RequestFailure(kind: .userNeeded, serverCode: serverCode)),
              since: Timestamp(milliseconds: 0)), tokenStillWorks: true))
      case .refused: refused
      case .accountUnavailable: accountUnavailable
      case .conflict:
        serverCode == ErrorCode.alreadyDeleted
          ? .alreadyDeleted(status: status ?? 409)
          : .conflict(code: serverCode, status: status ?? 409)
      case .rateLimited:
        status.map { .rateLimited(retryAfter: retryAfter, status: $0, code: serverCode) }
          ?? .tooManyAttempts(retryAfter: retryAfter ?? 0)
      case .serverFailure:
        .server(status: status ?? 500, code: serverCode, retryAfter: retryAfter)
      case .invalidResponse:
        status.map { .intercepted(status: $0) } ?? .unreadableAnswer("its content is unexpected")
      case .noConnection: .noConnection("there is no connection")
      case .noReply: .noReply("the server did not answer")
      case .expired: .expired(end)
      case .loggedOut: .loggedOut(end)
      case .storage: storage
      case .closed: .closed
      default: .cancelled
      }
    }

    private var refused: SessionError {
      switch status {
      case nil: .notOffered("the backend has no endpoint for it")
      case 401: .unauthorized(code: serverCode)
      case 403: .forbidden(code: serverCode)
      case 404: .notFound(code: serverCode)
      case let status?: .unexpectedStatus(status, code: serverCode)
      }
    }

    private var accountUnavailable: SessionError {
      if status == 423 { return .accountLocked(code: serverCode) }
      return reason == .loggedOut(.userDeleted) ? .userDeleted(end) : .userInactive(end)
    }

    private var storage: SessionError {
      switch cause {
      case let error as SecretStoreError: .secrets(error)
      case let error as CompactedEvents:
        .eventsCompacted(through: error.through, state: error.state)
      default: .journal(cause as? JournalError ?? .diskFull(path: "session.journal"))
      }
    }
  }
}
