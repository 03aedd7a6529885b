/// A past-tense fact that changes a session's state: one of six.
///
/// The state of a session is the fold of its events.
///
/// - Requirement: STA-1
public enum SessionEvent: Hashable, Sendable {
  // An event has no time; its record has one. Events of one batch share it, and a test that builds
  // events need not invent times that nothing reads. Every payload begins with the time, so a
  // reader can date a record of a kind that it does not know. `state.evolve(event)` without a time
  // was rejected, because a state knows since when its user is logged in. Six cases and no seventh
  // for "something is missing here": an app that forgets such a branch has a silent gap. A
  // subscriber receives an error instead (`CompactedEvents`).

  /// A user logged in.
  case login(Login)
  /// The session received a newer token.
  case refreshSucceeded(RefreshSucceeded)
  /// An attempt to refresh the token failed.
  case refreshFailed(RefreshFailed)
  /// The user switched to another context.
  case contextSwitched(ContextSwitched)
  /// The session is no longer usable, but its user is still known.
  case sessionExpired(SessionExpired)
  /// The session was closed permanently.
  case logout(Logout)

  /// The type of an event, without its payload.
  public enum Kind: UInt8, CaseIterable, Sendable, CustomStringConvertible {
    /// A user logged in.
    case login = 1
    /// The session received a newer token.
    case refreshSucceeded = 2
    /// An attempt to refresh the token failed.
    case refreshFailed = 3
    /// The user switched to another context.
    case contextSwitched = 4
    /// The session is no longer usable.
    case sessionExpired = 5
    /// The session was closed permanently.
    case logout = 6

    /// The name, as in the code and in the journal's tools.
    public var description: String {
      switch self {
      case .login: "login"
      case .refreshSucceeded: "refreshSucceeded"
      case .refreshFailed: "refreshFailed"
      case .contextSwitched: "contextSwitched"
      case .sessionExpired: "sessionExpired"
      case .logout: "logout"
      }
    }
  }

  /// The type of the event.
  public var kind: Kind {
    switch self {
    case .login: .login
    case .refreshSucceeded: .refreshSucceeded
    case .refreshFailed: .refreshFailed
    case .contextSwitched: .contextSwitched
    case .sessionExpired: .sessionExpired
    case .logout: .logout
    }
  }

  /// The metadata of the token that this event announces; `nil` if it announces none.
  public var announcedToken: TokenMetadata? {
    switch self {
    case .login(let login): login.token
    case .refreshSucceeded(let refresh): refresh.token
    case .contextSwitched(let change): change.token
    case .refreshFailed, .sessionExpired, .logout: nil
    }
  }
}

extension SessionEvent {
  /// The payload of `login`.
  public struct Login: Hashable, Sendable {
    /// The user, by the server's identifier only; the user item holds the profile.
    ///
    /// - Requirement: STO-3
    public let user: Identifier
    /// How the user logged in.
    public let method: LoginMethod
    /// The first token.
    public let token: TokenMetadata
    /// The first context of the session; `nil` if the backend has no contexts.
    public let context: ActiveContext?

    /// Creates a login.
    @inlinable
    public init(
      user: Identifier, method: LoginMethod, token: TokenMetadata, context: ActiveContext? = nil
    ) {
      self.user = user
      self.method = method
      self.token = token
      self.context = context
    }
  }

  /// The payload of `refreshSucceeded`.
  public struct RefreshSucceeded: Hashable, Sendable {
    /// The new token.
    public let token: TokenMetadata
    /// What started the refresh.
    public let trigger: RefreshTrigger
    /// The number of the attempt since the last success, from 1.
    public let attempt: UInt32
    /// Whether the server sent a new refresh token, which replaces the old one.
    ///
    /// - Requirement: REF-5
    public let isRotated: Bool
    /// The sequence of the `requestSent` note; 0 if there is none.
    public let request: UInt64

    /// Creates the payload of a successful refresh.
    @inlinable
    public init(
      token: TokenMetadata, trigger: RefreshTrigger, attempt: UInt32, isRotated: Bool,
      request: UInt64
    ) {
      self.token = token
      self.trigger = trigger
      self.attempt = attempt
      self.isRotated = isRotated
      self.request = request
    }
  }

  /// The payload of `refreshFailed`.
  public struct RefreshFailed: Hashable, Sendable {
    /// The token that the refresh should replace.
    public let generation: Generation
    /// What started the refresh.
    public let trigger: RefreshTrigger
    /// The number of the attempt since the last success, from 1.
    public let attempt: UInt32
    /// How the refresh failed.
    public let failure: RequestFailure
    /// When it is tried again; `nil` if it is not.
    public let retryAt: Timestamp?
    /// The sequence of the `requestSent` note; 0 if no request was sent.
    public let request: UInt64
    /// The meaning of the server's code, if only the configuration knows it.
    ///
    /// `nil` for a code that every reader knows, and for a code without a meaning.
    ///
    /// - Requirement: POL-8
    public let configuredMeaning: ErrorMeaning?

    /// The meaning of the server's code; `nil` if it has none.
    public var meaning: ErrorMeaning? {
      configuredMeaning ?? failure.serverCode.flatMap { ErrorMeaning(code: $0) }
    }

    /// Creates the payload of a failed refresh.
    @inlinable
    public init(
      generation: Generation, trigger: RefreshTrigger, attempt: UInt32, failure: RequestFailure,
      retryAt: Timestamp?, request: UInt64, configuredMeaning: ErrorMeaning? = nil
    ) {
      self.configuredMeaning = configuredMeaning
      self.generation = generation
      self.trigger = trigger
      self.attempt = attempt
      self.failure = failure
      self.retryAt = retryAt
      self.request = request
    }
  }

  /// The payload of `contextSwitched`.
  public struct ContextSwitched: Hashable, Sendable {
    /// The context from now on.
    public let context: ActiveContext
    /// The token for the context; `nil` if the current one stays.
    ///
    /// The current one may have been announced by a `refreshSucceeded` before it in the same batch.
    public let token: TokenMetadata?
    /// What changed the context.
    public let trigger: SwitchTrigger
    /// The sequence of the `requestSent` note; 0 if there is none.
    public let request: UInt64

    /// Creates a change of context.
    @inlinable
    public init(
      context: ActiveContext, token: TokenMetadata?, trigger: SwitchTrigger, request: UInt64
    ) {
      self.context = context
      self.token = token
      self.trigger = trigger
      self.request = request
    }
  }

  /// The payload of `sessionExpired`.
  public struct SessionExpired: Hashable, Sendable {
    /// Why the session expired.
    public let reason: ExpiryReason

    /// Creates an expiry.
    @inlinable
    public init(reason: ExpiryReason) {
      self.reason = reason
    }
  }

  /// The payload of `logout`.
  public struct Logout: Hashable, Sendable {
    /// Why the session was closed.
    public let reason: LogoutReason

    /// Creates a logout.
    @inlinable
    public init(reason: LogoutReason) {
      self.reason = reason
    }
  }
}
