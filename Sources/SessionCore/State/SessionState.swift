/// The state of a session: the fold of its events, and of nothing else.
///
/// ```
///                login                    sessionExpired
/// unauthenticated ─────▶ authenticated ──────────────────▶ expired
///        ▲                │  ▲  ↺ refreshSucceeded           │ │
///        │     logout     │  │    refreshFailed              │ │
///        ├────────────────┘  │    contextSwitched            │ │
///        │                   └───────────────────────────────┘ │
///        │                       login, the same user          │
///        └─────────────────────────────────────────────────────┘
///                                logout
/// ```
///
/// Every other pair of state and event is rejected; the table is `Specs/Transitions.md`.
///
/// - Requirement: STA-2
public enum SessionState: Hashable, Sendable {
  /// No user is logged in.
  case unauthenticated
  /// A user is logged in.
  case authenticated(Authenticated)
  /// The session is no longer usable, and its user's data is not settled yet.
  case expired(Expired)

  /// The session of a logged-in user.
  public struct Authenticated: Hashable, Sendable {
    /// The user.
    public let user: Identifier
    /// How the user logged in.
    public let method: LoginMethod
    /// When the user logged in.
    public let since: Timestamp
    /// The current token.
    public internal(set) var token: TokenMetadata
    /// The active context; `nil` if there is none.
    public internal(set) var context: ActiveContext?
    /// The refreshes that failed since the last token.
    public internal(set) var failures: RefreshFailures

    /// Creates a session from its parts.
    package init(
      user: Identifier, method: LoginMethod, since: Timestamp, token: TokenMetadata,
      context: ActiveContext?, failures: RefreshFailures
    ) {
      self.user = user
      self.method = method
      self.since = since
      self.token = token
      self.context = context
      self.failures = failures
    }
  }

  /// A session that has expired.
  public struct Expired: Hashable, Sendable {
    /// The user to whom it belongs until the logout.
    public let user: Identifier
    /// The context that was active.
    public internal(set) var context: ActiveContext?
    /// Why it expired.
    public let reason: ExpiryReason
    /// When it expired.
    public let since: Timestamp

    /// Creates an expired session from its parts.
    package init(
      user: Identifier, context: ActiveContext?, reason: ExpiryReason, since: Timestamp
    ) {
      self.user = user
      self.context = context
      self.reason = reason
      self.since = since
    }
  }

  /// The number of consecutive failed refreshes.
  public struct RefreshFailures: Hashable, Sendable {
    /// All failures.
    public internal(set) var total: UInt32 = 0
    /// The failures that a server responded with: only they count towards a policy's attempts.
    ///
    /// - Requirement: REF-6
    public internal(set) var answered: UInt32 = 0
    /// The last failure.
    public internal(set) var last: RequestFailure?

    /// Creates a count without failures.
    public init() {}

    /// Creates a count from its parts.
    package init(total: UInt32, answered: UInt32, last: RequestFailure?) {
      self.total = total
      self.answered = answered
      self.last = last
    }
  }

  /// The name of a state, without its payload.
  public enum Kind: String, CaseIterable, Sendable, CustomStringConvertible {
    /// No user is logged in.
    case unauthenticated = "unauthenticated"
    /// A user is logged in.
    case authenticated = "authenticated"
    /// The session is no longer usable.
    case expired = "expired"

    /// The name, as in the code and in the journal's tools.
    public var description: String { rawValue }
  }

  /// The name of the state.
  public var kind: Kind {
    switch self {
    case .unauthenticated: .unauthenticated
    case .authenticated: .authenticated
    case .expired: .expired
    }
  }

  /// The user of the session: logged in, or expired and not settled.
  public var user: Identifier? {
    switch self {
    case .unauthenticated: nil
    case .authenticated(let session): session.user
    case .expired(let session): session.user
    }
  }

  /// The metadata of the current token; `nil` unless authenticated.
  public var token: TokenMetadata? {
    guard case .authenticated(let session) = self else { return nil }
    return session.token
  }

  /// The active context; `nil` unless authenticated.
  public var activeContext: ActiveContext? {
    guard case .authenticated(let session) = self else { return nil }
    return session.context
  }
}

/// The current activity of this process for the session; never journaled.
///
/// - Requirement: STA-3
public enum SessionActivity: Hashable, Sendable {
  /// It is not known yet whether a user is logged in.
  case loading
  /// No activity.
  case idle
  /// A login is under way.
  case authenticating
  /// The token is being refreshed.
  case refreshing
  /// The context is being switched.
  case switching
  /// The last login failed, and the app has not cleared that.
  ///
  /// `loginError` of the session's status says why.
  case failed
  /// Another journal has replaced the journal of this object, which can do nothing any more.
  ///
  /// Close this object and open the session again: the new journal says who is logged in.
  ///
  /// - Requirement: RES-6
  case replaced
}

extension SessionState {
  /// Returns the state after `event`, or throws a rejection that names both.
  ///
  /// Defined for all 3 states and 6 events; reads no clock and never traps.
  ///
  /// - Requirement: STA-2
  public func evolved(by event: SessionEvent, at time: Timestamp) throws(SessionRejection)
    -> SessionState
  {
    var foldState = FoldState(self)
    try foldState.apply(event, at: time)
    return foldState.state
  }

  /// Changes to the state after `event`; if it throws, nothing changes.
  public mutating func evolve(_ event: SessionEvent, at time: Timestamp) throws(SessionRejection) {
    self = try evolved(by: event, at: time)
  }

  /// Whether `event` is allowed in this state.
  public func allows(_ event: SessionEvent) -> Bool {
    do {
      _ = try evolved(by: event, at: Timestamp(milliseconds: 0))
      return true
    } catch {
      return false
    }
  }
}

/// An event or command that is not allowed in the session's state.
public struct SessionRejection: Error, Hashable, Sendable, CustomStringConvertible {
  /// Why the event is not allowed.
  public enum Reason: String, CaseIterable, Sendable {
    /// No user is logged in.
    case notAuthenticated = "notAuthenticated"
    /// A user is already logged in.
    case alreadyAuthenticated = "alreadyAuthenticated"
    /// The session has expired.
    case expired = "expired"
    /// The expired session belongs to another user, whose data must be settled first.
    ///
    /// - Requirement: STA-6
    case differentUser = "differentUser"
    /// The event names a token that is not the current one, or announces one that is not newer.
    case staleGeneration = "staleGeneration"
  }

  /// The state of the session.
  public let state: SessionState.Kind
  /// The event that was rejected.
  public let event: SessionEvent.Kind
  /// Why the event was rejected.
  public let reason: Reason

  /// Creates a rejection.
  public init(state: SessionState.Kind, event: SessionEvent.Kind, reason: Reason) {
    self.state = state
    self.event = event
    self.reason = reason
  }

  /// A sentence with state, event and reason.
  public var description: String {
    let because =
      switch reason {
      case .notAuthenticated: "no user is logged in"
      case .alreadyAuthenticated: "a user is already logged in; log out first"
      case .expired: "the session has expired; log in again or log out"
      case .differentUser:
        "the expired session belongs to another user, whose data must be handled first; log out"
      case .staleGeneration: "it does not refer to the current token"
      }
    return "\(event) is not possible while \(state): \(because)"
  }
}
