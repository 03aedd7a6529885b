@_spi(Internals) import SessionCore
import Synchronization

/// The values that a session shows to any thread, without waiting for the engine's thread.
///
/// The whole snapshot is replaced under a lock after each decision, so that state, token and user
/// are always consistent.
///
/// - Requirement: STA-4
struct SessionView: ~Copyable, Sendable {
  struct Snapshot: Sendable {
    var state = SessionState.unauthenticated
    var activity = SessionActivity.loading
    /// Why the last sign-in failed, if the activity is `failed`.
    var loginError: SessionError?
    /// Why the session has ended, if it has.
    var end = EndCause()
    /// What the server needs the user for.
    var need: OpenNeed?
    /// Whether no token is shown until the user has unlocked the app.
    var isLocked = false
    var token: AccessToken?
    var user: UserProfile?
    /// The uptime at which the token expires, on the monotonic clock.
    var deadline = Int64.min
    /// Why the last records or items could not be written.
    var storageProblem: SessionError?
    /// Why the last compaction that was due failed.
    var compactionProblem: SessionError?
    /// Why a session ended last.
    var lastEnd: SessionEnd?

    /// What the user is needed for, as an app sees it at this uptime.
    func userNeeded(at uptime: Int64) -> UserNeed? {
      need.map { UserNeed($0, tokenStillWorks: token != nil && uptime < deadline) }
    }
  }

  /// The problems of a snapshot.
  struct Problems {
    let storage: SessionError?
    let compaction: SessionError?
  }

  private let snapshot = Mutex(Snapshot())
  private let waiters = Atomic(0)
  private let held = Mutex(CallPass())
  private let refusals = Mutex(RefusalHistory())
  /// The time of the session's last use.
  let use: ActivityMeter

  init(_ policy: PolicyFigures) {
    use = ActivityMeter(policy)
  }

  // Never inlined: async functions call it before and after an `await`, and a lock belongs to its
  // thread.

  var current: Snapshot {
    @inline(never) get { snapshot.withLock { $0 } }
  }

  /// The state alone: many callers ask only for it, and a copy of the whole snapshot would cost more.
  var state: SessionState {
    @inline(never) get { snapshot.withLock { $0.state } }
  }

  /// The kind of the state alone.
  var kind: SessionState.Kind {
    @inline(never) get { snapshot.withLock { $0.state.kind } }
  }

  /// The user alone.
  var user: UserProfile? {
    @inline(never) get { snapshot.withLock { $0.user } }
  }

  /// Whether the user must unlock the app first.
  var isLocked: Bool {
    @inline(never) get { snapshot.withLock { $0.isLocked } }
  }

  /// The token alone.
  ///
  /// Every request reads it.
  var token: AccessToken? {
    @inline(never) get { snapshot.withLock { $0.token } }
  }

  /// The token, if it is valid for at least `least` milliseconds from this uptime on.
  @inline(never)
  func token(validFor least: Int64, from uptime: Int64) -> AccessToken? {
    snapshot.withLock { $0.deadline.subtractingSaturating(uptime) >= least ? $0.token : nil }
  }

  /// The values that a protected call needs.
  var pass: CallPass {
    @inline(never) get { held.withLock { $0 } }
  }

  /// The number of callers that wait for a valid token.
  var waiterCount: Int {
    get { waiters.load(ordering: .relaxed) }
    nonmutating set { waiters.store(newValue, ordering: .relaxed) }
  }

  /// Reads and changes the history of what refused calls have caused.
  @inline(never)
  func withRefusals<Value>(_ change: (inout RefusalHistory) -> Value) -> Value {
    refusals.withLock { change(&$0) }
  }

  /// Shows a snapshot; returns the problems that the one before showed.
  func swap(_ next: Snapshot) -> Problems {
    let pass = pass
    if !pass.shows(next) { held.withLock { $0 = CallPass(next) } }
    return snapshot.withLock { shown in
      defer { shown = next }
      return Problems(storage: shown.storageProblem, compaction: shown.compactionProblem)
    }
  }
}

/// What a session shows to a call.
///
/// It is created when the session changes, so that reading it costs one lock and one reference.
final class CallPass: Sendable {
  private let observed: CallPlan.Observed
  /// The uptime at which the token expires, on the monotonic clock.
  private let deadline: Int64
  private let token: Secret
  /// The token with the scheme `Bearer`, created once, since most calls carry it in this form.
  private let bearer: Secret
  /// The key to which the server bound the token; `nil` for a bearer token.
  private let boundKey: Identifier?

  /// Creates the pass of a session that is not open yet.
  init() {
    (observed, deadline, token, bearer) = (.noUser, .min, Secret(""), Secret(""))
    boundKey = nil
  }

  init(_ shown: SessionView.Snapshot) {
    (deadline, boundKey) = (shown.deadline, shown.token?.boundKey)
    switch shown.state {
    case .unauthenticated: (observed, token, bearer) = (.noUser, Secret(""), Secret(""))
    case .expired(let session):
      (observed, token, bearer) = (.expired(session.user), Secret(""), Secret(""))
    case .authenticated(let session):
      let owner = CallPlan.Owner(user: session.user, since: session.since)
      if let access = shown.token {
        observed = .holding(owner, access.generation, isGood: true)
        (token, bearer) = (access.secret, Secret("Bearer \(access.plaintext)"))
      } else {
        (observed, token, bearer) = (.unread(owner), Secret(""), Secret(""))
      }
    }
  }

  /// Returns the token in the form in which a call carries it, with proofs if the server bound it to a key.
  func token(
    in place: CallTokenPlace, provedBy proof: ProofOfPossession?, clock: any SessionClock
  ) -> CallToken {
    guard let boundKey, let proof else { return token(in: place) }
    // RFC 9449 §7.1: a bound token has a scheme of its own.
    let place = place.isSame(as: .bearer) ? .header("Authorization", scheme: "DPoP") : place
    var token = token(in: place)
    token.proofs = CallProofs(proof: proof, token: self.token, key: boundKey, clock: clock)
    return token
  }

  private func token(in place: CallTokenPlace) -> CallToken {
    switch place {
    case .bearer: CallToken(place: place, secret: bearer)
    case .header(_, let scheme?):
      CallToken(place: place, secret: Secret("\(scheme) \(token.plaintext)"))
    case .header(_, nil), .member: CallToken(place: place, secret: token)
    }
  }

  /// Returns what the pass shows at this uptime of the monotonic clock.
  func observed(at uptime: Int64) -> CallPlan.Observed {
    guard uptime >= deadline, case .holding(let owner, let generation, _) = observed else {
      return observed
    }
    return .holding(owner, generation, isGood: false)
  }

  /// Returns whether the pass shows the same as a snapshot.
  func shows(_ shown: SessionView.Snapshot) -> Bool {
    guard deadline == shown.deadline else { return false }
    switch (observed, shown.state) {
    case (.noUser, .unauthenticated): return true
    case (.expired(let user), .expired(let session)): return user == session.user
    case (.unread(let owner), .authenticated(let session)):
      return shown.token == nil && owner.since == session.since && owner.user == session.user
    case (.holding(let owner, let generation, _), .authenticated(let session)):
      return shown.token?.generation == generation && owner.since == session.since
        && owner.user == session.user
    default: return false
    }
  }
}

/// The time of the last use of the session, which any thread can read and update.
///
/// Counting a use takes a few atomic loads and one store.
struct ActivityMeter: ~Copyable, Sendable {
  /// The effect of a use.
  enum Count: Hashable {
    /// The use counts.
    case counted
    /// The use counts, and other processes should learn of it now.
    case tell
    /// The use is too late: the session was unused for the whole limit, or its lifetime is over.
    case overdue
  }

  /// The longest time without a use until the session ends or is locked, in milliseconds.
  ///
  /// If it is `nil`, there is no limit, and uses are not counted.
  let limit: Int64?
  private let isLimitedByPolicy: Bool
  private let interval: Int64
  private let latest = Atomic<Int64>(.min)
  private let told = Atomic<Int64>(.min)
  private let checked = Atomic<Int64>(.min)
  /// The uptime at which the session ends even if it is in use.
  ///
  /// - Requirement: POL-10
  private let end = Atomic<Int64>(.max)
  /// Whether calls are refused, and so are no use.
  private let isLocked = Atomic(false)

  init(_ policy: PolicyFigures) {
    limit = policy.useLimit
    isLimitedByPolicy = policy.useLimit != nil || policy.absoluteLifetime != nil
    interval = policy.useInterval
  }

  /// Whether a use can be too late.
  var isLimited: Bool { isLimitedByPolicy || end.load(ordering: .relaxed) != .max }

  /// The uptime of the last use, in milliseconds of the monotonic clock.
  ///
  /// `nil` if no use is known, or if uses are not counted.
  var last: Int64? {
    guard limit != nil else { return nil }
    let latest = latest.load(ordering: .relaxed)
    return latest == .min ? nil : latest
  }

  /// Whether this process has counted a use.
  ///
  /// Its first use is always reported.
  var isOwn: Bool { told.load(ordering: .relaxed) != .min }

  /// Returns whether the caller should check if the session is over.
  ///
  /// The answer is `true` at most once a second, for one of all callers.
  func isDue(at uptime: Int64) -> Bool {
    let checked = checked.load(ordering: .relaxed)
    guard uptime.subtractingSaturating(checked) >= 1_000 else { return false }
    return self.checked.compareExchange(expected: checked, desired: uptime, ordering: .relaxed)
      .exchanged
  }

  /// Counts a use.
  func count(at uptime: Int64) -> Count {
    guard !isLocked.load(ordering: .relaxed) else { return .counted }
    guard uptime < end.load(ordering: .relaxed) else { return .overdue }
    guard let limit else { return .counted }
    let latest = latest.load(ordering: .relaxed)
    guard latest != .min else { return .counted }
    guard uptime < latest.addingSaturating(limit) else { return .overdue }
    self.latest.max(uptime, ordering: .relaxed)
    let told = told.load(ordering: .relaxed)
    guard uptime.subtractingSaturating(told) >= interval else { return .counted }
    // Of several uses at the same time, one is reported.
    return self.told.compareExchange(expected: told, desired: uptime, ordering: .relaxed).exchanged
      ? .tell : .counted
  }

  /// Takes over what the coordinator knows: the last use by any process, and when the session ends.
  func follow(_ uptime: Int64, until end: Int64 = .max, isLocked: Bool = false) {
    self.isLocked.store(isLocked, ordering: .relaxed)
    self.end.store(end, ordering: .relaxed)
    guard limit != nil, uptime != .min else { return }
    latest.max(uptime, ordering: .relaxed)
  }
}
