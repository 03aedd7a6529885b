/// The folded state of a session: the fold of its events, and of nothing else.
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
/// Every other pair of state and event is a named rejection; the table is `Specs/Transitions.md`.
///
/// - Requirement: STA-2
public enum SessionState: Hashable, Sendable {
  /// Nobody is signed in.
  case unauthenticated
  /// A user is signed in.
  case authenticated(Authenticated)
  /// The session is no longer usable, and its user's data is not settled yet.
  case expired(Expired)

  /// A signed-in user's session.
  public struct Authenticated: Hashable, Sendable {
    /// The user.
    public let user: Identifier
    /// How the user came in.
    public let method: LoginMethod
    /// When.
    public let since: Timestamp
    /// The current token.
    public internal(set) var token: TokenMetadata
    /// The active context, where there is one.
    public internal(set) var context: ActiveContext?
    /// The refreshes that failed since the last token.
    public internal(set) var failures: RefreshFailures

    /// A session of these parts.
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

  /// A session that expired.
  public struct Expired: Hashable, Sendable {
    /// The user that it belongs to until logout.
    public let user: Identifier
    /// The context that was active.
    public internal(set) var context: ActiveContext?
    /// Why it expired.
    public let reason: ExpiryReason
    /// When.
    public let since: Timestamp

    /// An expired session of these parts.
    package init(
      user: Identifier, context: ActiveContext?, reason: ExpiryReason, since: Timestamp
    ) {
      self.user = user
      self.context = context
      self.reason = reason
      self.since = since
    }
  }

  /// Counts of the refreshes that failed in a row.
  public struct RefreshFailures: Hashable, Sendable {
    /// All of them.
    public internal(set) var total: UInt32 = 0
    /// Those that a server answered: only they count towards a policy's attempts.
    ///
    /// - Requirement: REF-6
    public internal(set) var answered: UInt32 = 0
    /// The last one.
    public internal(set) var last: RequestFailure?

    /// No failure.
    public init() {}

    /// Counts as these parts say.
    package init(total: UInt32, answered: UInt32, last: RequestFailure?) {
      self.total = total
      self.answered = answered
      self.last = last
    }
  }

  /// Which state, without its payload.
  public enum Kind: String, CaseIterable, Sendable, CustomStringConvertible {
    /// Nobody is signed in.
    case unauthenticated = "unauthenticated"
    /// A user is signed in.
    case authenticated = "authenticated"
    /// The session is no longer usable.
    case expired = "expired"

    /// The name as code and journal tools spell it.
    public var description: String { rawValue }
  }

  /// Which of the three this is.
  public var kind: Kind {
    switch self {
    case .unauthenticated: .unauthenticated
    case .authenticated: .authenticated
    case .expired: .expired
    }
  }

  /// The user that the session belongs to: signed in, or expired and not settled.
  public var user: Identifier? {
    switch self {
    case .unauthenticated: nil
    case .authenticated(let session): session.user
    case .expired(let session): session.user
    }
  }

  /// The current token's facts; `nil` unless authenticated.
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
