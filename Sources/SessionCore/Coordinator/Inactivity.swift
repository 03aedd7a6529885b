/// How long the session is unused, on the clock that never jumps.
///
/// ```
///                                   used: the timer moves
///                                  ┌───────────────┐
///        begin, resume             │               ▼
///  off ──────────────────────▶ measuring ◀──── read: another process used it, or it is locked
///   ▲                              │                  ▲
///   │ end                          │ timer            │
///   └──────────────────────────────┴──────────────▶ reading ──▶ expired
/// ```
///
/// Opening the session and refreshing its token are no use of it. A use is stored for other processes
/// at most once in an interval.
///
/// - Requirement: POL-5
struct Inactivity: Hashable, Sendable {
  /// What a measurement results in.
  enum Verdict: Hashable, Sendable {
    /// The session goes on, after these effects.
    case goesOn([SessionEffect])
    /// The session is to be locked, and goes on after these effects.
    case unused([SessionEffect])
    /// The session was unused for too long.
    case expired
  }

  /// How long the session may be unused, in milliseconds; `nil` for no limit.
  private let limit: Int64?
  /// How long it may be unused before it is locked, in milliseconds; `nil` for no limit.
  private let lockLimit: Int64?
  /// The shortest time between two stored uses, in milliseconds.
  private let interval: Int64
  /// When any process last used the session.
  private(set) var lastUse = Int64.min
  /// The last use that is stored for other processes.
  private var storedUse = Int64.min

  init(_ policy: PolicyFigures) {
    (limit, lockLimit) = (policy.inactivityLimit, policy.lockLimit)
    interval = policy.useInterval
  }

  /// Whether the policy has a limit.
  var isLimited: Bool { limit != nil || lockLimit != nil }

  /// When the session will have been unused for too long.
  private var end: Int64 { limit.map(lastUse.addingSaturating) ?? .max }

  /// When the session is to be locked.
  private var lockTime: Int64 { lockLimit.map(lastUse.addingSaturating) ?? .max }

  private func timer(after uptime: Int64) -> [SessionEffect] {
    let next = uptime < lockTime ? min(lockTime, end) : end
    return next == .max ? [] : [.schedule(.inactivity, uptime: next)]
  }

  private func verdict(at uptime: Int64) -> Verdict {
    guard uptime < end else { return .expired }
    return uptime < lockTime ? .goesOn(timer(after: uptime)) : .unused(timer(after: uptime))
  }

  /// Begins the measurement after a login, in this process or another one.
  mutating func begin(at uptime: Int64) {
    guard isLimited else { return }
    (lastUse, storedUse) = (uptime, .min)
  }

  /// Resumes the measurement at an opening.
  ///
  /// `idle` is how long the session was unused; `nil` if no use was ever stored. The policy had no
  /// limit before then, and opening the session counts as its first use. A lock is begun even so: a use
  /// that cannot be read must not open the app.
  mutating func resume(idle: Int64?, at uptime: Int64) -> Verdict {
    guard isLimited else { return .goesOn([]) }
    guard idle != nil || lastUse != .min else {
      begin(at: uptime)
      let effects = use(at: uptime, now: uptime)
      return lockLimit == nil ? .goesOn(effects) : .unused(effects)
    }
    let stored = idle.map { uptime.subtractingSaturating(max(0, $0)) } ?? .min
    (lastUse, storedUse) = (max(lastUse, stored), max(storedUse, stored))
    return verdict(at: uptime)
  }

  /// Records a use at this time, which cannot be later than `now`.
  mutating func use(at uptime: Int64, now: Int64) -> [SessionEffect] {
    guard isLimited else { return [] }
    lastUse = max(lastUse, min(uptime, now))
    // A note for each use would be an append for each call. A note at intervals would have to
    // survive compaction, so the snapshot would need a field, and a version that does not know it
    // would never compact again. A file of its own would have to be locked, protected and deleted
    // too.
    guard lastUse.subtractingSaturating(storedUse) >= interval else { return timer(after: now) }
    storedUse = lastUse
    return timer(after: now) + [.markActive(lastUse)]
  }

  /// Handles the timer: another process may have used the session meanwhile.
  func isDue(isLocked: Bool = false, at uptime: Int64) -> [SessionEffect] {
    guard isLimited else { return [] }
    return uptime >= end || uptime >= lockTime && !isLocked ? [.readUse] : timer(after: uptime)
  }

  /// Handles the stored use of any process; `nil` if it could not be read.
  ///
  /// A time that cannot be read does not prove that the session was unused.
  ///
  /// - Requirement: RES-3
  mutating func read(_ last: Int64?, retryPause: Int64, at uptime: Int64) -> Verdict {
    guard isLimited else { return .goesOn([]) }
    guard let last else {
      return .goesOn([.schedule(.inactivity, uptime: uptime.addingSaturating(retryPause))])
    }
    lastUse = max(lastUse, min(last, uptime))
    return verdict(at: uptime)
  }

  /// Ends the measurement with the session.
  mutating func stop() -> [SessionEffect] {
    guard isLimited else { return [] }
    (lastUse, storedUse) = (.min, .min)
    return [.cancel(.inactivity)]
  }
}
