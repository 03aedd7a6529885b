@_spi(Internals) public import SessionCore

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
  /// The exact failure.
  package let failure: Failure

  /// Creates the error of a failure.
  package init(_ failure: Failure) { self.failure = failure }

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
      noConnection, noReply, expired, loggedOut, storage, closed, cancelled,
    ]
  }
}

extension SessionError.Code: CustomStringConvertible {
  /// The name, such as `invalidCredentials`.
  public var description: String { name }
}

extension SessionError {
  /// The class of the error.
  public var code: Code { failure.code }

  /// Why the session ended; `nil` if it did not end, or if the reason is not known.
  ///
  /// - Requirement: LOG-13
  public var reason: SessionEnd.Reason? { failure.reason }

  /// The HTTP status of the server's response; `nil` without a response, or if this library itself
  /// refused.
  ///
  /// - Requirement: LOG-3
  public var status: Int? { failure.status.flatMap { $0 == 0 ? nil : Int($0) } }

  /// The code of the server or the identity provider; `nil` if it stated none.
  ///
  /// A code that is not kept is `CODE_NOT_KEPT`, since a server may repeat a secret in its place.
  ///
  /// - Requirement: LOG-7
  public var serverCode: String? { failure.serverCode }

  /// The time to wait before the next attempt; `nil` if it is not known.
  ///
  /// The server stated it (`Retry-After`), or it follows from this device's own limit of logins.
  ///
  /// - Requirement: LOG-2, LOG-3
  public var retryAfter: Duration? {
    failure.retryAfter.map { .milliseconds($0) }
  }

  /// The number of changes that were not sent to the server, for `pendingChanges`; else `nil`.
  ///
  /// - Requirement: OUT-3
  public var pendingChanges: Int? {
    if case .pendingChanges(let count) = failure { count } else { nil }
  }

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
  public var underlyingError: (any Error)? { failure.underlyingError }

  /// What the app should do next.
  ///
  /// - Requirement: LOG-8
  public var advice: SessionAdvice { text.advice }
}

extension SessionError: Hashable {
  /// Returns whether both errors are equal for an app.
  ///
  /// It does not compare the underlying errors, or the paths and details that only `description`
  /// has.
  public static func == (one: SessionError, other: SessionError) -> Bool {
    one.failure.name == other.failure.name && one.code == other.code && one.reason == other.reason
      && one.status == other.status && one.serverCode == other.serverCode
      && one.retryAfter == other.retryAfter && one.pendingChanges == other.pendingChanges
      && one.advice == other.advice
  }

  /// Hashes the code.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension SessionError: CustomStringConvertible {
  /// A description of what happened, the consequence for the session, and the next step.
  ///
  /// It is for developers.
  public var description: String { failure.description }
}

extension Optional where Wrapped == SessionError {
  /// The exact failure; `nil` if there is no error.
  package var failure: SessionError.Failure? { map { error in error.failure } }
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
