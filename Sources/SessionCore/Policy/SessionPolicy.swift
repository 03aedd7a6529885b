/// What the apps disagree about, as a value (POL): pure data, no behaviour hidden in it.
///
/// Durations are in milliseconds.
public struct SessionPolicy: Hashable, Sendable {
  /// What happens to a session that can no longer be refreshed (POL-2).
  ///
  /// ``keep`` is the default. An app that wants to clear says so, in ``SessionPolicy/onRejection`` and
  /// ``SessionPolicy/onExhaustion`` (`Specs/Presets.md`, "Clearing").
  ///
  /// - Requirement: POL-6
  public enum End: Hashable, Sendable {
    /// It is logged out at once: everything is wiped.
    case clear
    /// It stays as expired: the user is still known, and the data is the user's until logout.
    case keep
  }

  /// What happens when the server has answered every attempt with a failure (POL-2).
  public enum Exhaustion: Hashable, Sendable {
    /// The session stays authenticated and is tried again after the longest delay.
    case stay
    /// The session ends.
    case end(End)
    /// The session stays while its access token is good, and is tried again after the longest delay.
    ///
    /// The first failure that the server answers after that ends it.
    case endAfterExpiry(End)
  }

  /// What happens if a call's token is refused, its lifetime is not known, and there is no refresh token.
  ///
  /// Such a token has no end of its own: the refusal is the only sign that it is over.
  ///
  /// - Requirement: POL-7
  public enum RefusedToken: Hashable, Sendable {
    /// The caller receives the 401, and the session stays.
    case deliver
    /// The session ends as `endedByServer`, as ``SessionPolicy/onRejection`` says.
    case end
  }

  /// When opening a session refreshes its token (POL-3).
  public enum LaunchRefresh: Hashable, Sendable {
    /// If the token has expired.
    case ifExpired
    /// Whenever there is a token.
    case always
  }

  /// When the server is asked how the user stands, where it has an endpoint for that (LOG-6).
  public enum ProfileCheck: Hashable, Sendable {
    /// Where an answer to a login does not say who the user is, and else never.
    case whenUnknown
    /// With each login.
    case afterLogin
    /// With each login, and when a session is opened.
    case afterLoginAndLaunch
  }

  /// What happens to secrets whose journal is not there, such as a keychain's that outlived its app,
  /// where this journal has never had a token (RES-5).
  public enum StraySecrets: Hashable, Sendable {
    /// They are wiped, and that is noted.
    case wipe
    /// The session goes on with them: a `login` by adoption, behind a note of where they are from.
    case adopt
  }

  /// A name for people; printed, never compared.
  public var name: String
  /// What a credential must look like before it is sent (LOG-1).
  public var credentials: CredentialRules
  /// How often signing in may be tried; `nil` leaves that to the server (LOG-2).
  public var signInLimit: SignInLimit?
  /// Whether a token is refreshed before it expires; `true` if not said (REF-1).
  ///
  /// If not, a refresh needs a reason: a call that was refused or that has an expired token, a launch, the
  /// foreground, a switch of the context, or the app. A refresh that failed is tried again in both cases.
  ///
  /// - Requirement: REF-12
  public var refreshesBeforeExpiry = true
  /// How long before its expiry a token is refreshed, if it is (REF-1).
  public var refreshThreshold: Int64
  /// How many failures a server may answer before the attempts are exhausted; at least 1.
  public var maximumAttempts: UInt32
  /// The delay before the second attempt; it doubles with each.
  public var firstRetryDelay: Int64
  /// The delay that is never exceeded, but by a server's `Retry-After`.
  public var longestRetryDelay: Int64
  /// When opening refreshes.
  public var launchRefresh: LaunchRefresh
  /// When the server is asked how the user stands.
  public var profileCheck: ProfileCheck
  /// How long a session may be unused before it expires, at least a second; `nil` for any time (POL-5).
  ///
  /// Used is what gives out a token, makes a call or comes to the foreground. After a reboot it is measured
  /// by the civil time, else on the clock that never jumps; of a process that was killed the last minute of
  /// use may be forgotten, or a tenth of the limit where that is less. A session from before there was a
  /// limit counts from its first opening with one.
  public var inactivityLimit: Int64? {
    didSet { inactivityLimit = inactivityLimit.map { max(1_000, $0) } }
  }
  /// What a refused refresh leads to.
  public var onRejection: End
  /// What exhausted attempts lead to.
  public var onExhaustion: Exhaustion
  /// What a refused token without a known lifetime leads to; `end` if not said (POL-7).
  public var onRefusedToken = RefusedToken.end
  /// The stored items without which a session is not restored; the token always is (RES-1).
  public var requiredItems: Set<SecretItem>
  /// How long a request for a token may take; others wait a second longer for its end.
  public var requestTimeout: Int64
  /// How long a refused refresh ends nothing, after another process's request was taken for lost
  /// whose process may only be suspended: its answer may hold the one good token (REF-3).
  public var overtakenGrace: Int64
  /// How long telling the server of a logout may take: the caller waits for no longer, and it is tried
  /// again while the process lives and when the session is opened (OUT-1).
  public var revocationTimeout: Int64
  /// What happens to secrets whose journal is not there; `wipe` if not said (RES-5).
  public var orphanedSecrets = StraySecrets.wipe

  /// A policy; the defaults are those of `production`.
  public init(
    name: String, credentials: CredentialRules = .none, refreshThreshold: Int64 = 600_000,
    maximumAttempts: UInt32 = 5, firstRetryDelay: Int64 = 2_000,
    longestRetryDelay: Int64 = 300_000, launchRefresh: LaunchRefresh = .ifExpired,
    onRejection: End = .keep, onExhaustion: Exhaustion = .stay,
    requiredItems: Set<SecretItem> = [.token], requestTimeout: Int64 = 30_000,
    overtakenGrace: Int64 = 60_000, revocationTimeout: Int64 = 10_000,
    signInLimit: SignInLimit? = nil, profileCheck: ProfileCheck = .afterLogin,
    inactivityLimit: Int64? = nil
  ) {
    self.name = name
    self.credentials = credentials
    self.signInLimit = signInLimit
    self.refreshThreshold = max(0, refreshThreshold)
    self.maximumAttempts = max(1, maximumAttempts)
    self.firstRetryDelay = max(0, firstRetryDelay)
    self.longestRetryDelay = max(0, longestRetryDelay)
    self.launchRefresh = launchRefresh
    self.profileCheck = profileCheck
    self.inactivityLimit = inactivityLimit.map { max(1_000, $0) }
    self.onRejection = onRejection
    self.onExhaustion = onExhaustion
    self.requiredItems = requiredItems.union([.token])
    self.requestTimeout = max(1, requestTimeout)
    self.overtakenGrace = max(0, overtakenGrace)
    self.revocationTimeout = max(1, revocationTimeout)
  }
}

extension SessionPolicy {
  /// 60 s before expiry, 10 attempts, first delay 500 ms (POL-1); 60 sign-ins a minute (LOG-2).
  public static let development = SessionPolicy(
    name: "development", refreshThreshold: 60_000, maximumAttempts: 10, firstRetryDelay: 500,
    signInLimit: SignInLimit(perMinute: 60))

  /// 300 s before expiry, 3 attempts, first delay 1 s (POL-1); 20 sign-ins a minute (LOG-2).
  public static let staging = SessionPolicy(
    name: "staging", refreshThreshold: 300_000, maximumAttempts: 3, firstRetryDelay: 1_000,
    signInLimit: SignInLimit(perMinute: 20))

  /// 600 s before expiry, 5 attempts, first delay 2 s (POL-1); 5 sign-ins a minute (LOG-2).
  public static let production = SessionPolicy(
    name: "production", signInLimit: .production)

  /// The policy of a school app with contexts on top of an environment's figures: e-mail and a
  /// password of 8 characters, all three items required, cleared when refused (LOG-1, RES-1).
  public static func edu(_ environment: SessionPolicy = .production) -> SessionPolicy {
    var policy = environment
    policy.name = "EDU \(environment.name)"
    policy.credentials = .emailAndPassword(minimumLength: 8)
    policy.requiredItems = [.token, .user, .context]
    policy.onRejection = .clear
    policy.onExhaustion = .stay
    return policy
  }

  /// How long a request keeps other processes from sending theirs: a second longer than it may
  /// take, so that only a holder that was killed or suspended is overtaken (REF-3).
  var leaseDuration: Int64 { max(1, requestTimeout).addingSaturating(1_000) }

  /// How far apart two uses are that are kept where other processes find them (POL-5): a minute, or a
  /// tenth of the limit where that is less.
  package var useInterval: Int64 { min(60_000, (inactivityLimit ?? .max) / 10) }

  /// No attempt follows a failure sooner, in milliseconds: a delay of 0 would spin.
  private static let shortestDelay: Int64 = 100

  /// When a token that dies at `deadline` is refreshed; `nil` if it is not refreshed before a need (REF-12).
  ///
  /// That is `threshold` before its end, and never in the first half of its life, so that a threshold as
  /// long as the life does not spin (REF-1).
  func refreshTime(deadline: Int64, lifetime: Int64) -> Int64? {
    guard refreshesBeforeExpiry else { return nil }
    return deadline.subtractingSaturating(min(max(0, refreshThreshold), lifetime / 2))
  }

  /// The delay before the server is told again of a logout: the longest between two refreshes, twice as
  /// long each time, at most six hours.
  func revocationDelay(tries: UInt32) -> Int64 {
    let longest: Int64 = 6 * 3_600_000
    let first = min(max(1_000, longestRetryDelay), longest)
    return min(longest, first << Int64(min(tries, 20)))
  }

  /// The pause after a number of requests in a row that may have ended their process; 0 for fewer than two.
  ///
  /// A minute, twice as long each time, and no more than the longest delay.
  func pause(afterEndedProcesses count: UInt32) -> Int64 {
    guard count > 1 else { return 0 }
    return min(longestRetryDelay, 60_000 << Int64(min(count - 2, 20)))
  }

  /// The delay before the attempt after `failures` failures in a row.
  ///
  /// Doubles from the first delay up to the longest; `jitter` (0…65535) takes up to half of it
  /// away, so that many devices do not come back at once.
  package func retryDelay(failures: UInt32, jitter: UInt16) -> Int64 {
    let doublings = Int64(min(max(failures, 1) - 1, 40))
    let first = max(Self.shortestDelay, firstRetryDelay)
    let longestRetryDelay = max(Self.shortestDelay, longestRetryDelay)
    let (doubled, overflow) = first.multipliedReportingOverflow(by: 1 << doublings)
    let delay = overflow ? longestRetryDelay : min(doubled, longestRetryDelay)
    return delay - Int64(Double(delay / 2) * Double(jitter) / 65_536)
  }
}
