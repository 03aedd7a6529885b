@_spi(Internals) public import SessionCore
import SessionJournal

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
    self.init(given.failure(code))
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

    func failure(_ code: Code) -> Failure {
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

    private var refused: Failure {
      switch status {
      case nil: .notOffered("the backend has no endpoint for it")
      case 401: .unauthorized(code: serverCode)
      case 403: .forbidden(code: serverCode)
      case 404: .notFound(code: serverCode)
      case let status?: .unexpectedStatus(status, code: serverCode)
      }
    }

    private var accountUnavailable: Failure {
      if status == 423 { return .accountLocked(code: serverCode) }
      return reason == .loggedOut(.userDeleted) ? .userDeleted(end) : .userInactive(end)
    }

    private var storage: Failure {
      switch cause {
      case let error as SecretStoreError: .secrets(error)
      case let error as CompactedEvents:
        .eventsCompacted(through: error.through, state: error.state)
      default: .journal(cause as? JournalError ?? .diskFull(path: "session.journal"))
      }
    }
  }
}
