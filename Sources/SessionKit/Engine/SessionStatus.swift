public import SessionCore

/// What a session shows at one moment.
///
/// It contains no token and no secret. The user's name and address are in `user`, whose description
/// shows only the identifier.
///
/// - Requirement: STA-3, STA-7
public struct SessionStatus: Hashable, Sendable {
  /// The state that results from folding the events.
  public let state: SessionState
  /// What the process is doing for the session.
  public let activity: SessionActivity
  /// The profile of the session's user; `nil` if there is no user.
  public let user: UserProfile?
  /// The sequence of the last event in the state; 0 before the first event.
  public let sequence: UInt64
  /// Whether records or stored items could not be written; `Session.storageProblem` says why.
  public let hasStorageProblem: Bool

  /// Why and when a session ended last; see ``Session/lastEnd``.
  public let lastEnd: SessionEnd?

  /// Why the last sign-in failed, until the app clears it or tries again; `nil` unless ``activity``
  /// is `failed`.
  ///
  /// - Requirement: STA-3
  public let loginError: SessionError?

  /// Creates a status.
  public init(
    state: SessionState = .unauthenticated, activity: SessionActivity = .loading,
    user: UserProfile? = nil, sequence: UInt64 = 0, hasStorageProblem: Bool = false,
    lastEnd: SessionEnd? = nil, loginError: SessionError? = nil
  ) {
    self.state = state
    self.activity = activity
    self.user = user
    self.sequence = sequence
    self.hasStorageProblem = hasStorageProblem
    self.lastEnd = lastEnd
    self.loginError = loginError
  }

  /// Whether a user is signed in and the session has not expired.
  public var isAuthenticated: Bool { state.kind == .authenticated }

  /// The role, school and unit in which the user acts; `nil` unless authenticated with a context.
  public var activeContext: ActiveContext? { state.activeContext }

  /// Why the session has expired; `nil` unless it has.
  public var expiryReason: ExpiryReason? {
    guard case .expired(let session) = state else { return nil }
    return session.reason
  }

  /// Whether a request that may change the token is in progress.
  ///
  /// Its response should be awaited.
  public var isBusy: Bool {
    switch activity {
    case .authenticating, .refreshing, .switching: true
    case .loading, .idle, .failed, .replaced: false
    }
  }
}

extension SessionStatus {
  /// Creates the part of a snapshot that subscribers can wait for.
  init(_ shown: SessionView.Snapshot, sequence: UInt64) {
    self.init(
      state: shown.state, activity: shown.activity, user: shown.user, sequence: sequence,
      hasStorageProblem: shown.storageProblem != nil, lastEnd: shown.lastEnd,
      loginError: shown.loginError)
  }
}

extension SessionStatus: CustomStringConvertible {
  /// One line, such as `authenticated, refreshing, as of 12`.
  public var description: String {
    "\(state.kind), \(activity), as of \(sequence)"
  }
}
