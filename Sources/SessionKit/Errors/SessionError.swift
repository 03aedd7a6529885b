@_spi(Internals) public import SessionCore
package import SessionJournal

/// Why a session could not perform a request.
///
/// Switch over `code`, with a `default`, since codes can be added. The other properties add
/// details. `status` is `nil` if no server responded. Some codes can come from a server or from
/// this library, and `status` distinguishes the two. `Specs/Errors.md` lists every combination.
///
/// Only these errors mean that the session has ended: `expired`, `loggedOut`, and
/// `accountUnavailable` with a `reason`. After every other error the session is unchanged. If the disk
/// fails, a record may be in the journal although its call failed: `description` says so.
///
/// `description` is for developers and contains paths, statuses and codes. `errorDescription` is
/// for users. Neither contains a secret.
///
/// - Requirement: LOG-3, LOG-7, LOG-8, LOG-13, STO-3
public struct SessionError: Error, Sendable {
  /// All that is known of the failure.
  ///
  /// It is stored outside the error, since a session keeps several errors that are mostly absent.
  package let row: Row

  /// The class of an error.
  ///
  /// Later versions may add more.
  public struct Code: Hashable, Sendable {
    private let name: String

    private init(_ name: String) { self.name = name }

    /// Matches a session's error by its code, as in `catch SessionError.Code.expired`.
    ///
    /// - Requirement: LOG-13
    public static func ~= (code: Code, error: any Error) -> Bool {
      (error as? SessionError)?.code == code
    }

    /// The input is malformed.
    ///
    /// `status` is `nil` if nothing was sent. It is the server's status if the server rejected the
    /// request (400, 422).
    public static let invalidInput = Code("invalidInput")
    /// No user is logged in.
    public static let notLoggedIn = Code("notLoggedIn")
    /// Another session must be logged out first.
    ///
    /// `reason` is set if that session has expired and belongs to another user.
    public static let alreadyLoggedIn = Code("alreadyLoggedIn")
    /// Another operation is in progress, or another change came first.
    ///
    /// Nothing changed.
    public static let busy = Code("busy")
    /// Changes of the user were not sent to the server.
    ///
    /// The user is still logged in.
    public static let pendingChanges = Code("pendingChanges")
    /// The stored items cannot be read until the device is unlocked or the user has proven their
    /// presence.
    public static let locked = Code("locked")
    /// The server rejects the user name, the password or the provider's token.
    public static let invalidCredentials = Code("invalidCredentials")
    /// The request is refused.
    ///
    /// `status` is `nil` if the configuration, the call or the identity provider does not allow it.
    /// Otherwise it is the status of the server: 401 for a token, 403, 404, any status for an
    /// unknown app, and every status without another code.
    public static let refused = Code("refused")
    /// The account is inactive or deleted (`accountStatus`), or locked (`status` 423).
    public static let accountUnavailable = Code("accountUnavailable")
    /// The data exists already, was changed elsewhere, or is already deleted.
    public static let conflict = Code("conflict")
    /// There were too many requests.
    ///
    /// `status` is `nil` if this device's own limit was reached. Nothing was sent then.
    public static let rateLimited = Code("rateLimited")
    /// The server, or a gateway in front of it, failed, or the server cannot access its data.
    public static let serverFailure = Code("serverFailure")
    /// The response cannot be used: it is unreadable or too large, or another server than the app's
    /// sent it.
    public static let invalidResponse = Code("invalidResponse")
    /// The server was not reached.
    ///
    /// Nothing was sent.
    public static let noConnection = Code("noConnection")
    /// The request was sent, but there was no complete response.
    ///
    /// The server may have acted on it.
    public static let noReply = Code("noReply")
    /// The server goes on only with the user, who is still logged in.
    ///
    /// ``SessionError/userNeeded`` says what it asks for.
    public static let userNeeded = Code("userNeeded")
    /// The session has expired, so its user must log in again.
    ///
    /// The user's data stays.
    public static let expired = Code("expired")
    /// The session was logged out.
    public static let loggedOut = Code("loggedOut")
    /// The session's journal or its secret store cannot be used.
    ///
    /// `underlyingError` is the reason.
    public static let storage = Code("storage")
    /// The session object was closed.
    public static let closed = Code("closed")
    /// The calling task was cancelled, or the user left the provider's page.
    public static let cancelled = Code("cancelled")

    /// All codes of this version.
    package static let all: [Code] = [
      invalidInput, notLoggedIn, alreadyLoggedIn, busy, pendingChanges, locked, invalidCredentials,
      refused, accountUnavailable, conflict, rateLimited, serverFailure, invalidResponse,
      noConnection, noReply, userNeeded, expired, loggedOut, storage, closed, cancelled,
    ]
  }
}

extension SessionError.Code: CustomStringConvertible {
  /// The name, such as `invalidCredentials`.
  public var description: String { name }
}

extension SessionError {
  /// The class of the error.
  public var code: Code { row.code }

  /// Why the session ended; `nil` if it did not end, or if the reason is not known.
  ///
  /// - Requirement: LOG-13
  public var reason: SessionEnd.Reason? { row.reason }

  /// The HTTP status of the server's response; `nil` without a response, or if this library itself
  /// refused.
  ///
  /// - Requirement: LOG-3
  public var status: Int? { row.status.flatMap { $0 == 0 ? nil : Int($0) } }

  /// The code of the server or the identity provider; `nil` if it stated none.
  ///
  /// A code that is not kept is `CODE_NOT_KEPT`, since a server may repeat a secret in its place.
  ///
  /// - Requirement: LOG-7
  public var serverCode: String? { row.serverCode }

  /// The time to wait before the next attempt; `nil` if it is not known.
  ///
  /// The server stated it (`Retry-After`), or it follows from this device's own limit of logins.
  ///
  /// - Requirement: LOG-2, LOG-3
  public var retryAfter: Duration? {
    row.retryAfter.map { .milliseconds($0) }
  }

  /// The number of changes that were not sent to the server, for `pendingChanges`; else `nil`.
  ///
  /// - Requirement: OUT-3
  public var pendingChanges: Int? { row.pendingChanges }

  /// What the server needs the user for, for the code `userNeeded`; else `nil`.
  ///
  /// - Requirement: STA-9
  public var userNeeded: UserNeed? { row.need }

  /// The status of the account, for `accountUnavailable` if it is inactive or deleted; else `nil`.
  ///
  /// - Requirement: LOG-6
  public var accountStatus: AccountStatus? {
    switch failure {
    case .userInactive: .inactive
    case .userDeleted: .deleted
    default: nil
    }
  }

  /// The error that led to this one; `nil` if there was none.
  ///
  /// It is a `JournalError`, ``SecretStoreError``, ``BackendError``, ``CompactedEvents``,
  /// `CredentialRules.Problem`, `WebSignInProblem` or another error of a session. `==` does not
  /// compare it.
  ///
  /// - Requirement: LOG-13
  public var underlyingError: (any Error)? { row.cause }

  /// What the app should do next.
  ///
  /// - Requirement: LOG-8
  public var advice: SessionAdvice { row.message.advice }
}

extension SessionError: Hashable {
  /// Returns whether both errors are equal for an app.
  ///
  /// It does not compare the underlying errors, or the paths and details that only `description`
  /// has.
  public static func == (one: SessionError, other: SessionError) -> Bool {
    one.failure == other.failure && one.code == other.code && one.reason == other.reason
      && one.status == other.status && one.serverCode == other.serverCode
      && one.retryAfter == other.retryAfter && one.pendingChanges == other.pendingChanges
      && one.userNeeded == other.userNeeded
      && one.advice == other.advice
  }

  /// Hashes the code.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension SessionError: CustomStringConvertible {
  /// A description of what happened, the consequence for the session, and the next step.
  ///
  /// It is for developers.
  public var description: String { row.description }
}

extension SessionError {
  /// All that is known of one failure.
  package final class Row: Sendable {
    package let failure: Failure
    let code: Code
    let message: SessionMessage
    let reason: SessionEnd.Reason?
    /// It is 0 if the failure of a request had none.
    package let status: UInt16?
    let serverCode: String?
    /// In milliseconds.
    package let retryAfter: Int64?
    let pendingChanges: Int?
    let need: UserNeed?
    let cause: (any Error)?
    /// A part of the description that decides what the session does.
    package let detail: String?
    package let description: String

    fileprivate init(
      _ failure: Failure, _ code: Code, _ message: SessionMessage, reason: SessionEnd.Reason?,
      status: UInt16?, serverCode: String?, retryAfter: Int64?, pendingChanges: Int?,
      need: UserNeed?, cause: (any Error)?, detail: String?, _ description: String
    ) {
      (self.failure, self.code, self.message, self.reason) = (failure, code, message, reason)
      (self.status, self.serverCode, self.retryAfter) = (status, serverCode, retryAfter)
      (self.pendingChanges, self.need) = (pendingChanges, need)
      (self.cause, self.detail) = (cause, detail)
      self.description = description
    }
  }

  /// Creates the error of a row; `end` brings the reason, the status and the code of a session's end.
  init(
    _ failure: Failure, _ code: Code, _ message: SessionMessage, end: EndCause? = nil,
    reason: SessionEnd.Reason? = nil, status: UInt16? = nil, serverCode: String? = nil,
    retryAfter: Int64? = nil, pendingChanges: Int? = nil, need: UserNeed? = nil,
    cause: (any Error)? = nil, detail: String? = nil, _ description: String
  ) {
    row = Row(
      failure, code, message, reason: reason ?? end?.reason,
      status: status ?? end?.failure?.status, serverCode: serverCode ?? end?.failure?.serverCode,
      retryAfter: retryAfter, pendingChanges: pendingChanges, need: need, cause: cause,
      detail: detail,
      description)
  }

  /// The name of the failure.
  package var failure: Failure { row.failure }

  /// The error of the journal, if it failed.
  package var journalError: JournalError? {
    failure == .journal ? row.cause as? JournalError : nil
  }

  /// The error of the secret store, if it failed.
  package var secretsError: SecretStoreError? { row.cause as? SecretStoreError }
}

extension Optional where Wrapped == SessionError {
  package var failure: SessionError.Failure? { map { error in error.failure } }
  package var journalError: JournalError? { flatMap { error in error.journalError } }
  package var secretsError: SecretStoreError? { flatMap { error in error.secretsError } }
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

/// A snapshot has replaced the requested events, which cannot be read one by one any more.
///
/// It is the `underlyingError` of a ``SessionError`` with the code `storage`. Continue with
/// `events(after:)` and the sequence `through`, which leaves no gap and repeats no event.
public struct CompactedEvents: Error, Hashable, Sendable {
  /// The sequence of the last record that the snapshot replaces.
  public let through: UInt64
  /// The state after that record.
  public let state: SessionState

  /// Creates an error for the events up to a sequence, with the state after them.
  package init(through: UInt64, state: SessionState) {
    (self.through, self.state) = (through, state)
  }
}

extension CompactedEvents: CustomStringConvertible {
  /// A description of what happened and what to do next.
  public var description: String {
    "A snapshot has replaced the events up to seq \(through). They cannot be read one by one any "
      + "more. The state after them is \(state.kind). Continue with the events after \(through)."
  }
}
