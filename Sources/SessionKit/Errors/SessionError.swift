@_spi(Internals) public import SessionCore

/// Why a session could not do what it was asked.
///
/// `code` is what an app switches over, with a `default`, since codes can be added. The other properties say
/// more: `status` is `nil` if no server answered, so a code that both a server and this library can give tells
/// them apart by it. `Specs/Errors.md` has every combination.
///
/// Only `expired`, `loggedOut`, and an `accountUnavailable` with a `reason` say that the session has ended.
/// After every other error the session is what it was before.
///
/// `description` is for developers: it names paths, statuses and codes. `errorDescription` is for users. None
/// of them holds a secret.
///
/// - Requirement: LOG-3, LOG-7, LOG-8, LOG-13, STO-3
public struct SessionError: Error, Sendable {
  /// What exactly happened.
  package let failure: Failure

  /// An error of what happened.
  package init(_ failure: Failure) { self.failure = failure }

  /// What happened, in few words; more codes may follow.
  public struct Code: Hashable, Sendable {
    private let name: String

    private init(_ name: String) { self.name = name }

    /// What was entered cannot be right.
    ///
    /// `status` is `nil` if nothing was sent; it is the server's if the
    /// server found the request wrong (400, 422).
    public static let invalidInput = Code("invalidInput")
    /// No user is logged in.
    public static let notLoggedIn = Code("notLoggedIn")
    /// Another session must be logged out first.
    ///
    /// `reason` is set if that session has expired and belongs to
    /// another user.
    public static let alreadyLoggedIn = Code("alreadyLoggedIn")
    /// Something else is under way, or another change came first.
    ///
    /// Nothing changed.
    public static let busy = Code("busy")
    /// Changes of the user were not sent to the server: the user is still logged in.
    public static let pendingChanges = Code("pendingChanges")
    /// What is stored cannot be read until the device is unlocked or the user has shown who they are.
    public static let locked = Code("locked")
    /// The server rejects the user name, the password or the provider's token.
    public static let invalidCredentials = Code("invalidCredentials")
    /// It is refused.
    ///
    /// `status` is `nil` if the configuration, the call or the identity provider does not allow
    /// it. It is the server's if the server refuses it: 401 of a token, 403, 404, an app that it does not know,
    /// and every status without another code.
    public static let refused = Code("refused")
    /// The account is inactive or deleted (`accountStatus`), or locked (`status` 423).
    public static let accountUnavailable = Code("accountUnavailable")
    /// It exists already, was changed elsewhere, or is deleted already.
    public static let conflict = Code("conflict")
    /// There were too many requests.
    ///
    /// `status` is `nil` if this device's own limit was reached; nothing was sent
    /// then.
    public static let rateLimited = Code("rateLimited")
    /// The server failed, or cannot reach its data.
    public static let serverFailure = Code("serverFailure")
    /// The response cannot be used: it cannot be read, is too large, or is of another server than the app's.
    public static let invalidResponse = Code("invalidResponse")
    /// The server was not reached.
    ///
    /// Nothing was sent.
    public static let noConnection = Code("noConnection")
    /// The request was sent and no whole response came.
    ///
    /// The server may have acted on it.
    public static let noReply = Code("noReply")
    /// The session has expired: its user has to log in again.
    ///
    /// The user's data stays.
    public static let expired = Code("expired")
    /// The session was logged out.
    public static let loggedOut = Code("loggedOut")
    /// The session's journal or its secret store cannot be used.
    ///
    /// `underlyingError` says why.
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
  /// What happened.
  public var code: Code { failure.code }

  /// Why the session ended; `nil` if it did not end, or if the reason is not known.
  ///
  /// - Requirement: LOG-13
  public var reason: SessionEnd.Reason? { failure.reason }

  /// The HTTP status of the server's response; `nil` if none came, or if this library refused by itself.
  ///
  /// - Requirement: LOG-3
  public var status: Int? { failure.status.flatMap { $0 == 0 ? nil : Int($0) } }

  /// The server's own code, or the identity provider's; `nil` if it gave none.
  ///
  /// A code that is not kept is `CODE_NOT_KEPT`, since a server may repeat a secret in its place.
  ///
  /// - Requirement: LOG-7
  public var serverCode: String? { failure.serverCode }

  /// How long to wait before the next attempt; `nil` if that is not known.
  ///
  /// The server said it (`Retry-After`), or this device's own limit of logins.
  ///
  /// - Requirement: LOG-2, LOG-3
  public var retryAfter: Duration? {
    failure.retryAfter.map { .milliseconds($0) }
  }

  /// How many changes of the user were not sent to the server, for `pendingChanges`; else `nil`.
  ///
  /// - Requirement: OUT-3
  public var pendingChanges: Int? {
    if case .pendingChanges(let count) = failure { count } else { nil }
  }

  /// How the account stands, for `accountUnavailable` if it is inactive or deleted; else `nil`.
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
  /// `CredentialRules.Problem`, `WebSignInProblem` or another error of a session. It is not compared by `==`.
  ///
  /// - Requirement: LOG-13
  public var underlyingError: (any Error)? { failure.underlyingError }

  /// What the app should do next.
  ///
  /// - Requirement: LOG-8
  public var advice: SessionAdvice { text.advice }
}

extension SessionError: Hashable {
  /// Whether both say the same.
  ///
  /// The underlying errors, and the paths and details that only `description` has,
  /// are not compared.
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
  /// What happened, what it means for the session, and what to do next.
  ///
  /// For developers.
  public var description: String { failure.description }
}

extension Optional where Wrapped == SessionError {
  /// What exactly happened; `nil` if nothing did.
  package var failure: SessionError.Failure? { map { error in error.failure } }
}

/// The events that were asked for are in a snapshot, and cannot be had one by one any more.
///
/// `underlyingError` of a ``SessionError`` with the code `storage`. `events(after:)` the sequence `through` goes
/// on from there, with no gap and no duplicate.
public struct CompactedEvents: Error, Hashable, Sendable {
  /// The sequence of the last record that the snapshot replaces.
  public let through: UInt64
  /// The state after that record.
  public let state: SessionState

  /// The events up to a sequence, and the state after them.
  package init(through: UInt64, state: SessionState) {
    (self.through, self.state) = (through, state)
  }
}

extension CompactedEvents: CustomStringConvertible {
  /// What happened, and what to do next.
  public var description: String {
    "The events up to seq \(through) are in a snapshot and cannot be had one by one any more. The state after "
      + "them is \(state.kind). Go on with the events after \(through)."
  }
}
