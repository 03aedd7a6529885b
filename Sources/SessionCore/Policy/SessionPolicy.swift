/// Timing, retry and failure policy of a session.
///
/// Begin with a preset and change what differs in your app:
///
/// ```swift
/// var policy = SessionPolicy.standard
/// policy.refresh.beforeExpiry = .seconds(120)
/// policy.ending.inactivityLimit = .seconds(1_800)
/// ```
///
/// A policy is data: it holds no closure. A duration is rounded up to whole milliseconds. A value
/// outside its bounds counts as the nearest bound.
///
/// - Requirement: POL-1, POL-2, POL-3, POL-6
public struct SessionPolicy: Hashable, Sendable {
  /// What happens to a session that can no longer be refreshed.
  ///
  /// The default is ``keep``. To clear instead, set ``Ending/onRejection`` and
  /// ``Ending/onExhaustion`` (`Specs/Presets.md`, "Clearing").
  ///
  /// - Requirement: POL-2, POL-6
  public enum End: Hashable, Sendable {
    /// The user is logged out at once: everything is wiped.
    case clear
    /// The session is kept as expired: the user is still known, and the data stays until the
    /// logout.
    case keep
  }

  /// What happens if the server has responded to every attempt with a failure.
  ///
  /// - Requirement: POL-2
  public enum Exhaustion: Hashable, Sendable {
    /// The session stays authenticated, and the refresh is tried again after the longest delay.
    case stay
    /// The session ends.
    case end(End)
    /// The session stays while its access token is valid.
    ///
    /// The refresh is tried again after the longest delay. After the token expires, the first
    /// failure that the server responds with ends the session.
    case endAfterExpiry(End)
  }

  /// What happens if the token of a call or of a profile request is rejected, its lifetime is
  /// unknown, and there is no refresh token.
  ///
  /// Such a token has no known expiry: the rejection is the only sign that it is invalid.
  ///
  /// - Requirement: POL-7
  public enum RefusedToken: Hashable, Sendable {
    /// The caller receives the 401, and the session stays.
    case deliver
    /// The session ends as `endedByServer`, in the way that ``Ending/onRejection`` says.
    case end
  }

  /// When opening a session refreshes its token.
  ///
  /// - Requirement: POL-3
  public enum LaunchRefresh: Hashable, Sendable {
    /// If the token has expired, half a second after the opening.
    ///
    /// A caller that needs a token starts the request earlier.
    case ifExpired
    /// At once whenever there is a token, expired or not.
    case always
  }

  /// When the server is asked who the user is and whether the account is active.
  ///
  /// This requires that the backend has an endpoint for it.
  ///
  /// - Requirement: LOG-6
  public enum ProfileCheck: Hashable, Sendable {
    /// Only if the response to a login does not say who the user is.
    case whenUnknown
    /// After each login.
    case afterLogin
    /// After each login, and when a session is opened.
    case afterLoginAndLaunch
  }

  /// When a token is refreshed, and how often that is tried.
  public struct Refresh: Hashable, Sendable {
    /// How long before its expiry a token is refreshed, at least 0.
    ///
    /// A token is never refreshed in the first half of its lifetime. With `nil` a token is
    /// refreshed only on demand:
    /// - By a call that was rejected or has an expired token.
    /// - At a launch, or when the app enters the foreground.
    /// - For a switch of the context, or by the app itself.
    ///
    /// A failed refresh is tried again in both cases.
    ///
    /// - Requirement: REF-1, REF-12
    public var beforeExpiry: Duration?
    /// How many failures the server may respond with before the attempts are exhausted, at least 1.
    ///
    /// - Requirement: POL-1
    public var attempts: Int
    /// The delay before the second attempt, at least 100 ms.
    ///
    /// It doubles with each attempt, up to 5 minutes.
    ///
    /// - Requirement: POL-1
    public var firstRetryDelay: Duration
    /// When opening a session refreshes its token.
    ///
    /// - Requirement: POL-3
    public var atLaunch: LaunchRefresh
    /// How long a request to the backend may take, at least 1 ms.
    ///
    /// Other processes wait one second longer for its end.
    ///
    /// - Requirement: REF-3
    public var timeout: Duration
    /// The delay that is never exceeded, except by a server's `Retry-After`.
    package var longestRetryDelay = Duration.seconds(300)
    /// How long a rejected refresh ends nothing, after another process's request was presumed lost.
    ///
    /// That process may only be suspended, and its response may hold the only valid token.
    ///
    /// - Requirement: REF-3
    package var peerRequestGrace = Duration.seconds(60)

    /// Creates rules of refreshing; the defaults are those of ``SessionPolicy/standard``.
    public init(
      beforeExpiry: Duration? = .seconds(600), attempts: Int = 5,
      firstRetryDelay: Duration = .seconds(2), atLaunch: LaunchRefresh = .ifExpired,
      timeout: Duration = .seconds(30)
    ) {
      self.beforeExpiry = beforeExpiry
      self.attempts = attempts
      self.firstRetryDelay = firstRetryDelay
      self.atLaunch = atLaunch
      self.timeout = timeout
    }
  }

  /// What ends a session, and what remains of it.
  public struct Ending: Hashable, Sendable {
    /// What a rejected refresh results in.
    ///
    /// - Requirement: POL-2, POL-6
    public var onRejection: End
    /// What exhausted attempts result in.
    ///
    /// - Requirement: POL-2
    public var onExhaustion: Exhaustion
    /// What a rejected token without a known lifetime results in.
    ///
    /// - Requirement: POL-7
    public var onRefusedToken: RefusedToken
    /// How long a session may be unused before it expires, at least a second; `nil` for no limit.
    ///
    /// Reading a token, making a call and entering the foreground are uses. The time is measured by
    /// the clock that never jumps, and after a reboot by the civil clock. If a process is killed,
    /// its last minute of use may be lost, or a tenth of the limit if that is less. For a session
    /// that is older than its limit, the time begins with its first opening with the limit.
    ///
    /// - Requirement: POL-5
    public var inactivityLimit: Duration?
    /// How long a session may last after its login, at least a second; `nil` for no limit.
    ///
    /// Use and refreshes do not prolong it; a new login does. The time is measured by the clock
    /// that never jumps, and after a reboot by the civil clock. A session that is older than its
    /// limit has expired when it is opened. The session ends as `lifetimeEnded`, in the way that
    /// ``onRejection`` says.
    ///
    /// - Requirement: POL-10
    public var absoluteLifetime: Duration?
    /// How long the revocation of a logout's tokens may take.
    ///
    /// The caller waits no longer. It is tried again while the process lives, and when the session
    /// is opened.
    ///
    /// - Requirement: OUT-1
    package var revocationTimeout = Duration.seconds(10)

    /// Creates rules of ending; the defaults are those of ``SessionPolicy/standard``.
    public init(
      onRejection: End = .keep, onExhaustion: Exhaustion = .stay,
      onRefusedToken: RefusedToken = .end, inactivityLimit: Duration? = nil,
      absoluteLifetime: Duration? = nil
    ) {
      // The default is `keep`. Clearing removes the app's data with the session, and the next screen
      // knows no reason. An app whose requirements ask for it says so.
      self.onRejection = onRejection
      self.onExhaustion = onExhaustion
      // The default is `end`. Without it such a session never ends: each call receives a 401, and
      // the user stays logged in.
      self.onRefusedToken = onRefusedToken
      self.inactivityLimit = inactivityLimit
      self.absoluteLifetime = absoluteLifetime
    }
  }

  /// When a session locks itself, and what goes on while it is locked; see `Session.lock()`.
  ///
  /// - Requirement: ACC-2
  public struct Lock: Hashable, Sendable {
    /// How long a session may be unused before it is locked, at least a second; `nil` for no limit.
    ///
    /// Uses and the time are those of ``Ending/inactivityLimit``, also across a restart. If the last use is
    /// not known when a session is opened, it is locked.
    public var afterUnused: Duration?
    /// Whether each opening locks the session.
    ///
    /// All processes of a journal share the lock. So set this in the app, and not in its extensions.
    public var atLaunch: Bool
    /// Whether the token is refreshed in the background while the session is locked.
    public var allowsRefresh: Bool

    /// Creates rules of locking; by default, only the app locks a session.
    public init(afterUnused: Duration? = nil, atLaunch: Bool = false, allowsRefresh: Bool = true) {
      self.afterUnused = afterUnused
      self.atLaunch = atLaunch
      self.allowsRefresh = allowsRefresh
    }
  }

  /// What a login must fulfil, and when the profile is requested.
  public struct Limits: Hashable, Sendable {
    /// What a credential must look like before it is sent.
    ///
    /// - Requirement: LOG-1
    public var credentials: CredentialRules
    /// How many logins may be tried in any minute, at least 1; `nil` for no limit.
    ///
    /// The limit prevents that the server locks the account or receives a flood of requests. A
    /// login over the limit throws an error with the time to wait. The process counts on the clock
    /// that never jumps. Opening the session again begins a new count.
    ///
    /// - Requirement: LOG-2
    public var loginsPerMinute: Int?
    /// When the server is asked who the user is and whether the account is active.
    ///
    /// - Requirement: LOG-6
    public var profileCheck: ProfileCheck
    /// The stored items that are required to restore a session; the token is always required.
    ///
    /// - Requirement: RES-1
    package var requiredItems: Set<SecretItem> = [.token]

    /// Creates limits; the defaults are those of ``SessionPolicy/standard``.
    public init(
      credentials: CredentialRules = .none, loginsPerMinute: Int? = 5,
      profileCheck: ProfileCheck = .afterLogin
    ) {
      self.credentials = credentials
      self.loginsPerMinute = loginsPerMinute
      self.profileCheck = profileCheck
    }
  }

  /// When a token is refreshed, and how often that is tried.
  public var refresh: Refresh
  /// What ends a session, and what remains of it.
  public var ending: Ending
  /// When a session locks itself.
  public var lock: Lock
  /// What a login must fulfil, and when the profile is requested.
  public var limits: Limits
  /// What happens if the journal cannot be used, or if secrets outlive their journal.
  ///
  /// - Requirement: RES-5, RES-6
  public var recovery: Recovery
  /// A name for the reports of tests.
  package var name = "standard"

  /// Creates a policy; the defaults are those of ``standard``.
  public init(
    refresh: Refresh = Refresh(), ending: Ending = Ending(), limits: Limits = Limits(),
    recovery: Recovery = .strict, lock: Lock = Lock()
  ) {
    self.lock = lock
    self.refresh = refresh
    self.ending = ending
    self.limits = limits
    self.recovery = recovery
  }
}

extension SessionPolicy {
  /// The default: 600 s before expiry, 5 attempts, first delay 2 s, 5 logins a minute.
  ///
  /// A rejected refresh expires the session. The user stays known, and the app's data stays. These
  /// values are for production.
  ///
  /// - Requirement: POL-1, POL-6, LOG-2
  public static let standard = SessionPolicy()

  /// ``standard`` for a development server: refreshes often, and retries often.
  ///
  /// Its values are 60 s before expiry, 10 attempts, first delay 500 ms and 60 logins a minute.
  ///
  /// - Requirement: POL-1, LOG-2
  public static let development = SessionPolicy.standard.named("development") {
    $0.refresh.beforeExpiry = .seconds(60)
    $0.refresh.attempts = 10
    $0.refresh.firstRetryDelay = .milliseconds(500)
    $0.limits.loginsPerMinute = 60
  }

  /// ``standard`` for a staging server: 300 s before expiry, 3 attempts, first delay 1 s, 20 logins a minute.
  ///
  /// - Requirement: POL-1, LOG-2
  public static let staging = SessionPolicy.standard.named("staging") {
    $0.refresh.beforeExpiry = .seconds(300)
    $0.refresh.attempts = 3
    $0.refresh.firstRetryDelay = .seconds(1)
    $0.limits.loginsPerMinute = 20
  }

  /// For an app whose data lives on the device: one attempt, 300 s before expiry, first delay 1 s.
  ///
  /// A failing server ends no session whose access token is valid. A session that ends is kept as
  /// expired, and its data stays. The server is asked at each login and launch whether the account
  /// is active.
  ///
  /// - Requirement: POL-1, POL-2
  public static let offlineFirst = SessionPolicy.standard.named("offlineFirst") {
    $0.refresh.beforeExpiry = .seconds(300)
    $0.refresh.attempts = 1
    $0.refresh.firstRetryDelay = .seconds(1)
    $0.ending.onExhaustion = .endAfterExpiry(.keep)
    $0.limits.profileCheck = .afterLoginAndLaunch
  }

  /// ``standard``, except that a rejected refresh logs the user out and wipes everything.
  ///
  /// A failing server still ends nothing.
  ///
  /// - Requirement: POL-2
  public static let clearOnRefusal = SessionPolicy.standard.named("clearOnRefusal") {
    $0.ending.onRejection = .clear
  }

  /// Returns this policy with another name and some changes.
  package func named(_ name: String, _ change: (inout SessionPolicy) -> Void = { _ in })
    -> SessionPolicy
  {
    var policy = self
    policy.name = name
    change(&policy)
    return policy
  }
}
