/// The values of a policy in the units that the core uses.
///
/// Durations are in milliseconds, rounded up, and every value is within its bounds. A session
/// computes them once, so no decision converts a duration.
package struct PolicyFigures: Hashable, Sendable {
  /// How long before its expiry a token is refreshed; `nil` if it is refreshed only when needed.
  package let refreshThreshold: Int64?
  /// How many failures the server may respond with before the attempts are exhausted.
  package let maximumAttempts: UInt32
  /// The delay before the second attempt.
  package let firstRetryDelay: Int64
  /// The delay that is never exceeded, except by a server's `Retry-After`.
  package let longestRetryDelay: Int64
  /// When opening refreshes.
  package let launchRefresh: SessionPolicy.LaunchRefresh
  /// How long a request for a token may take.
  package let requestTimeout: Int64
  /// How long a rejected refresh ends nothing, after another process's request was presumed lost.
  package let peerRequestGrace: Int64
  /// What a rejected refresh results in.
  package let onRejection: SessionPolicy.End
  /// What exhausted attempts result in.
  package let onExhaustion: SessionPolicy.Exhaustion
  /// What a rejected token without a known lifetime results in.
  package let onRefusedToken: SessionPolicy.RefusedToken
  /// How long a session may be unused before it expires; `nil` for no limit.
  package let inactivityLimit: Int64?
  /// How long a session may be unused before it is locked; `nil` for no limit.
  package let lockLimit: Int64?
  /// Whether each opening locks the session.
  let locksAtLaunch: Bool
  /// Whether the token is refreshed while the session is locked.
  package let refreshesWhileLocked: Bool
  /// How long a session may last after its login; `nil` for no limit.
  package let absoluteLifetime: Int64?
  /// How long the revocation of a logout's tokens may take.
  package let revocationTimeout: Int64
  /// What a credential must look like before it is sent.
  package let credentials: CredentialRules
  /// How many logins may be tried in any minute; `nil` for no limit.
  package let loginsPerMinute: Int?
  /// When the server is asked for the user's profile.
  package let profileCheck: SessionPolicy.ProfileCheck
  /// The stored items without which a session is not restored.
  package let requiredItems: Set<SecretItem>
  /// What happens to secrets whose journal is gone.
  package let orphanedSecrets: SessionPolicy.OrphanedSecrets

  /// Computes the values of a policy.
  package init(_ policy: SessionPolicy) {
    let (refresh, ending, limits) = (policy.refresh, policy.ending, policy.limits)
    refreshThreshold = refresh.beforeExpiry?.milliseconds(atLeast: 0)
    maximumAttempts = UInt32(clamping: max(1, refresh.attempts))
    firstRetryDelay = refresh.firstRetryDelay.milliseconds(atLeast: Self.shortestDelay)
    longestRetryDelay = refresh.longestRetryDelay.milliseconds(atLeast: Self.shortestDelay)
    launchRefresh = refresh.atLaunch
    requestTimeout = refresh.timeout.milliseconds(atLeast: 1)
    peerRequestGrace = refresh.peerRequestGrace.milliseconds(atLeast: 0)
    onRejection = ending.onRejection
    onExhaustion = ending.onExhaustion
    onRefusedToken = ending.onRefusedToken
    inactivityLimit = ending.inactivityLimit?.milliseconds(atLeast: 1_000)
    lockLimit = policy.lock.afterUnused?.milliseconds(atLeast: 1_000)
    locksAtLaunch = policy.lock.atLaunch
    refreshesWhileLocked = policy.lock.allowsRefresh
    absoluteLifetime = ending.absoluteLifetime?.milliseconds(atLeast: 1_000)
    revocationTimeout = ending.revocationTimeout.milliseconds(atLeast: 1)
    credentials = limits.credentials
    loginsPerMinute = limits.loginsPerMinute.map { max(1, $0) }
    profileCheck = limits.profileCheck
    requiredItems = limits.requiredItems.union([.token])
    orphanedSecrets = policy.recovery.orphanedSecrets
  }

  /// How long a request keeps other processes from sending theirs: one second more than its
  /// timeout.
  ///
  /// So only a process that was killed or suspended loses its lease.
  ///
  /// - Requirement: REF-3
  var leaseDuration: Int64 { requestTimeout.addingSaturating(1_000) }

  /// The interval at which uses are stored for other processes.
  ///
  /// A minute, or a tenth of ``useLimit`` if that is less.
  ///
  /// - Requirement: POL-5
  package var useInterval: Int64 { min(60_000, (useLimit ?? .max) / 10) }

  /// After how long without a use the session expires or is locked; `nil` for never.
  package var useLimit: Int64? { [inactivityLimit, lockLimit].compactMap(\.self).min() }

  /// The shortest delay after a failure, in milliseconds: a delay of 0 would loop without pause.
  private static let shortestDelay: Int64 = 100

  /// Returns when to refresh a token that expires at `deadline`; `nil` if only on demand.
  ///
  /// That is `threshold` before its expiry, and never in the first half of its lifetime. So a
  /// threshold as long as the lifetime does not refresh without pause.
  ///
  /// - Requirement: REF-12, REF-1
  func refreshTime(deadline: Int64, lifetime: Int64) -> Int64? {
    guard let refreshThreshold else { return nil }
    return deadline.subtractingSaturating(min(refreshThreshold, lifetime / 2))
  }

  /// Returns the delay before the next attempt to revoke the tokens of a logout.
  ///
  /// It begins with the longest delay between two refreshes, doubles each time, and is at most six
  /// hours.
  func revocationDelay(tries: UInt32) -> Int64 {
    let longest: Int64 = 6 * 3_600_000
    let first = min(max(1_000, longestRetryDelay), longest)
    return min(longest, first << Int64(min(tries, 20)))
  }

  /// Returns the pause after `count` consecutive requests that may have ended their process; 0
  /// below two.
  ///
  /// It begins with a minute, doubles each time, and is at most the longest delay.
  func pause(afterEndedProcesses count: UInt32) -> Int64 {
    guard count > 1 else { return 0 }
    // On Linux `URLSession` ended the process at two kinds of responses. If the response to a
    // refresh is one of them, each opening ends the process again, and the app cannot be started.
    // The journal shows that already: a request without an end whose process is gone. One such
    // request has many reasons, two in a row may have this one. A minute, since an app that was
    // killed twice for any other reason has calls that fail for that long. A shorter pause leaves
    // no time to do anything in an app that will crash.
    return min(longestRetryDelay, 60_000 << Int64(min(count - 2, 20)))
  }

  /// Returns the delay before the attempt after `failures` consecutive failures.
  ///
  /// It doubles from the first delay up to the longest. `jitter` (0…65535) subtracts up to half of
  /// it, so that many devices do not retry at the same time.
  package func retryDelay(failures: UInt32, jitter: UInt16) -> Int64 {
    let doublings = Int64(min(max(failures, 1) - 1, 40))
    let (doubled, overflow) = firstRetryDelay.multipliedReportingOverflow(by: 1 << doublings)
    let delay = overflow ? longestRetryDelay : min(doubled, longestRetryDelay)
    return delay - Int64(Double(delay / 2) * Double(jitter) / 65_536)
  }
}

extension Duration {
  /// Returns whole milliseconds, rounded up, at least `least` and at most `Int64.max`.
  package func milliseconds(atLeast least: Int64) -> Int64 {
    // Rounded up, so that a limit is never shorter than the app said. The library adds no public
    // member to `Duration`.
    guard self < .milliseconds(Int64.max) else { return .max }
    guard self > .milliseconds(least) else { return least }
    let (seconds, attoseconds) = components
    let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
    return seconds * 1_000 + whole + (rest > 0 ? 1 : 0)
  }
}

/// What a credential must look like before it is sent to the server.
///
/// - Requirement: LOG-1
public enum CredentialRules: Hashable, Sendable {
  /// User name and password must not be empty; the server judges everything else.
  case none
  /// A user name that contains `@` and `.`, and a password of at least `minimumLength` characters.
  case emailAndPassword(minimumLength: Int)

  /// What is wrong with a credential.
  public enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no user name.
    case emptyUserName
    /// The user name should be an e-mail address, but lacks `@` or `.`.
    case notAnEmail
    /// There is no password.
    case emptyPassword
    /// The password has fewer characters than the rules require.
    case passwordTooShort(minimumLength: Int)
    /// The other service, or its token, is missing.
    case emptyProviderToken

    /// A sentence that never contains the credential.
    public var description: String {
      switch self {
      case .emptyUserName: "the user name is empty"
      case .notAnEmail: "the user name is not an e-mail address: it needs an @ and a dot"
      case .emptyPassword: "the password is empty"
      case .passwordTooShort(let minimum): "the password has fewer than \(minimum) characters"
      case .emptyProviderToken: "the identity provider or its token is missing"
      }
    }
  }

  /// Returns the first problem of the credential; `nil` if there is none.
  public func problem(userName: String, password: String) -> Problem? {
    if userName.allSatisfy(\.isWhitespace) { return .emptyUserName }
    if password.isEmpty { return .emptyPassword }
    switch self {
    case .none:
      return nil
    case .emailAndPassword(let minimum):
      guard userName.contains("@"), userName.contains(".") else { return .notAnEmail }
      return password.count < minimum ? .passwordTooShort(minimumLength: minimum) : nil
    }
  }
}

/// A count of consecutive requests that may have ended the process that sent them.
///
/// An opening of the journal found each of them without an end. It noted in its own batch that no
/// reply came. A response that crashes the process would do so at every attempt. On Linux
/// `URLSession` did so (`Specs/URLSession.md`).
package struct EndedProcesses: Hashable, Sendable {
  /// The number since the last token, or since the last attempt whose process survived.
  package private(set) var count: UInt32 = 0
  private var isOpening = false

  /// Creates a count of zero.
  package init() {}

  /// Counts the next record; `isLast` says that it ends its batch.
  package mutating func take(_ content: SessionRecord.Content, isLast: Bool) {
    switch content {
    case .note(let note): take(kind: note.kind.rawValue, isLast: isLast)
    case .event(.refreshFailed(let failed)) where isOpening && failed.isLost:
      count = count == .max ? .max : count + 1
      end(isLast)
    case .event(let event): take(kind: event.kind.rawValue, isLast: isLast)
    case .snapshot, .unknown: end(isLast)
    }
  }

  /// Counts a record by its kind alone; it must not be a failed refresh.
  package mutating func take(kind: UInt8, isLast: Bool) {
    if kind == SessionNote.Kind.opened.rawValue { isOpening = true }
    if SessionEvent.Kind(rawValue: kind) != nil { count = 0 }
    end(isLast)
  }

  private mutating func end(_ isLast: Bool) {
    if isLast { isOpening = false }
  }
}

extension SessionEvent.RefreshFailed {
  /// Whether the request's outcome is unknown.
  var isLost: Bool { failure.kind == .noReply && failure.status == 0 && request != 0 }
}
