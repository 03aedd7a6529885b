/// A past-tense fact that changes a session's state: the only thing that is folded.
///
/// There are six. Everything durable about a session is the fold of those.
///
/// - Requirement: STA-1
public enum SessionEvent: Hashable, Sendable {
  /// A user signed in.
  case login(Login)
  /// The session got a newer token.
  case refreshSucceeded(RefreshSucceeded)
  /// An attempt to get a newer token failed.
  case refreshFailed(RefreshFailed)
  /// The user acts in another context.
  case contextSwitched(ContextSwitched)
  /// The session is no longer usable; who the user was is still known.
  case sessionExpired(SessionExpired)
  /// The session was closed for good.
  case logout(Logout)

  /// Which of the six, without its payload.
  public enum Kind: UInt8, CaseIterable, Sendable, CustomStringConvertible {
    /// A user signed in.
    case login = 1
    /// The session got a newer token.
    case refreshSucceeded = 2
    /// An attempt to get a newer token failed.
    case refreshFailed = 3
    /// The user acts in another context.
    case contextSwitched = 4
    /// The session is no longer usable.
    case sessionExpired = 5
    /// The session was closed for good.
    case logout = 6

    /// The name as code and journal tools spell it.
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

  /// Which of the six this is.
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

  /// The facts of the token that this event announces; `nil` where it announces none.
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
    /// The user, by the server's identifier only; the profile lives in the user item.
    ///
    /// - Requirement: STO-3
    public let user: Identifier
    /// The way in.
    public let method: LoginMethod
    /// The first token.
    public let token: TokenMetadata
    /// The context that the session begins in, where the backend has contexts.
    public let context: ActiveContext?

    /// A login.
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
    /// What made the refresh start.
    public let trigger: RefreshTrigger
    /// Which attempt since the last success, from 1.
    public let attempt: UInt32
    /// Whether the server sent a new refresh token, which replaced the old one.
    ///
    /// - Requirement: REF-5
    public let isRotated: Bool
    /// The sequence of the note that says when the request was sent; 0 where there is none.
    public let request: UInt64

    /// A refresh that succeeded.
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
    /// The token that was to be replaced.
    public let generation: Generation
    /// What made the refresh start.
    public let trigger: RefreshTrigger
    /// Which attempt since the last success, from 1.
    public let attempt: UInt32
    /// How it failed.
    public let failure: RequestFailure
    /// When it is tried again; `nil` where it is not.
    public let retryAt: Timestamp?
    /// The sequence of the note that says when the request was sent; 0 where none was sent.
    public let request: UInt64
    /// What the server's code means, if only the configuration says so; `nil` for a code that every
    /// reader knows, and for a code without a meaning.
    ///
    /// - Requirement: POL-8
    public let configuredMeaning: ErrorMeaning?

    /// What the server's code means.
    public var meaning: ErrorMeaning? {
      configuredMeaning ?? failure.serverCode.flatMap { ErrorMeaning(code: $0) }
    }

    /// A refresh that failed.
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
    /// The token that came with it; `nil` where the current one stays, as the `refreshSucceeded`
    /// before it in the same batch announced it.
    public let token: TokenMetadata?
    /// Who changed it.
    public let trigger: SwitchTrigger
    /// The sequence of the note that says when the request was sent; 0 where there is none.
    public let request: UInt64

    /// A change of context.
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
    /// Why.
    public let reason: ExpiryReason

    /// An expiry.
    public init(reason: ExpiryReason) {
      self.reason = reason
    }
  }

  /// The payload of `logout`.
  public struct Logout: Hashable, Sendable {
    /// Why.
    public let reason: LogoutReason

    /// A logout.
    public init(reason: LogoutReason) {
      self.reason = reason
    }
  }
}
