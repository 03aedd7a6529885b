/// What a server's response about a user's account is worth, compared with the time that the hosts
/// know.
///
/// - Requirement: LOG-6, SYN-4
package struct StatusVerdict: Hashable, Sendable {
  /// Why the account cannot be used; `nil` if it can, or if the response is out of date.
  package let failure: RequestFailure?
  /// The change of the status of which the hosts do not know; `nil` if there is none.
  package let change: StatusChange?
  /// Whether a later status is known, so that the response has no effect and is not shown.
  ///
  /// A backend has replicas and caches, and one of them may lag.
  package let isStale: Bool

  fileprivate static let stale = StatusVerdict(failure: nil, change: nil, isStale: true)

  private init(failure: RequestFailure?, change: StatusChange?, isStale: Bool) {
    (self.failure, self.change, self.isStale) = (failure, change, isStale)
  }

  fileprivate init(
    _ failure: RequestFailure?, changedAt: Timestamp?, of user: Identifier, known: Timestamp?,
    serverTime: Timestamp?
  ) {
    switch StatusFreshness.of(changedAt, known: known, now: serverTime) {
    case .unsaid, .same:
      self.init(failure: failure, change: nil, isStale: false)
    case .newer(let time):
      let change = StatusChange(user: user, changedAt: time, known: known)
      self.init(failure: failure, change: change, isStale: false)
    case .stale:
      self = .stale
    }
  }
}

/// Judges responses about a user's status, and holds the change of which the hosts are not notified yet.
///
/// ```
///           judge: a change                next, the session is that user's
///  settled ─────────────────▶ pending ─────────────────────────────────────▶ settled, and the
///   ▲                          │   ▲                                         hosts are notified
///   │ judge: no change         │   │ judge: another change, or out of date
///   └──────────────────────────┴───┘
/// ```
///
/// - The hosts store a change later, in a task. Until then they report an older time, and two profiles may
///   be requested at the same time. So the machine also knows the newest change that it has judged.
/// - A login asks for the profile before its event is journaled. So the change waits until the session is
///   that user's.
///
/// - Requirement: LOG-6, SYN-4
package struct StatusNotices: Hashable, Sendable {
  // A profile that calls the user deleted removes the user's data, and a backend has replicas and
  // caches that lag. The newest time is kept for each user by a host, since it must survive the
  // logout that clears everything else: otherwise the first login after it would believe the old
  // replica. It is known here until it is stored there, because two profiles may be compared with
  // the same stored time. A rejected token is not compared. It is about the token that was sent,
  // and carries no such time.
  private enum State: Hashable, Sendable {
    /// Exits: `pending`, by a change.
    case settled
    /// Exits: `settled`, by a notification, a response without a change, or a deleted user.
    case pending(StatusChange)
  }

  private var state = State.settled
  /// The newest change so far; the hosts may not have stored it yet.
  private var newest: StatusChange?
  /// The number of requests so far.
  private var requests = 0
  /// The newest request whose response counted, and what that said of its user.
  private var counted: Counted?

  private struct Counted: Hashable, Sendable {
    let order: Int
    let user: Identifier
    let failure: RequestFailure.Kind?
  }

  /// Creates a machine without a change.
  package init() {}

  /// Returns the number of a request that is sent now.
  package mutating func asked() -> Int {
    requests += 1
    return requests
  }

  /// Judges a response, and records what it says.
  ///
  /// A response is out of date if the hosts or this machine know a later change. Without a time of
  /// the change, it is out of date if a newer request was answered otherwise. The hosts are notified
  /// of every change that they do not know: notified twice after a crash or a failure, and not never.
  /// They are not notified of a deleted user, since there is nothing left to sync.
  ///
  /// - Parameters:
  ///   - failure: why the account cannot be used, by the response; `nil` if it can.
  ///   - changedAt: when the status changed, by the response.
  ///   - user: the user of the session that asks.
  ///   - known: the latest change that the hosts know, read after the response arrived.
  ///   - serverTime: the `Date` of the response.
  ///   - order: the number of the request (``asked()``).
  package mutating func judge(
    _ failure: RequestFailure?, changedAt: Timestamp?, of user: Identifier, known: Timestamp?,
    serverTime: Timestamp?, order: Int
  ) -> StatusVerdict {
    let judged = newest?.user == user ? newest?.changedAt : nil
    let freshness = StatusFreshness.of(changedAt, known: judged, now: serverTime)
    let verdict =
      freshness == .stale || freshness == .unsaid && isOvertaken(order, user, failure)
      ? .stale
      : StatusVerdict(
        failure, changedAt: changedAt, of: user, known: known, serverTime: serverTime)
    // Treated like a failed request: what a newer response said still counts.
    guard !verdict.isStale else { return verdict }
    newest = verdict.change ?? newest
    if order > counted?.order ?? 0 {
      counted = Counted(order: order, user: user, failure: failure?.kind)
    }
    state = .settled
    if let change = verdict.change, failure?.kind != .userDeleted { state = .pending(change) }
    return verdict
  }

  /// Whether the response to a newer request about this user said something else.
  private func isOvertaken(_ order: Int, _ user: Identifier, _ failure: RequestFailure?) -> Bool {
    guard let counted, counted.user == user, order < counted.order else { return false }
    return counted.failure != failure?.kind
  }

  /// Whether the hosts are to be notified of a change, if the session is its user's.
  package var isPending: Bool { state != .settled }

  /// Returns the change of which the hosts are notified now; `nil` if there is none.
  ///
  /// - Parameter user: the user of the session; `nil` if there is none.
  package mutating func next(for user: Identifier?) -> StatusChange? {
    guard case .pending(let change) = state, change.user == user else { return nil }
    state = .settled
    return change
  }
}

/// How current a server's response about a user's status is, judged by the time of its last change.
///
/// The table is in `Specs/ChangeLog.md`.
///
/// - Requirement: LOG-6, SYN-4
package enum StatusFreshness: Hashable, Sendable {
  /// There is no time of the change, or an impossible one: the response counts as it is.
  case unsaid
  /// The status is known since that time.
  case same
  /// The status has changed since it was known, or none was known.
  case newer(Timestamp)
  /// A later status is known: this response came from a replica or a cache, and ends nothing.
  case stale

  /// How far a server's clock may be ahead of the clock that judges it, in milliseconds.
  package static let tolerance: Int64 = 300_000

  /// Compares the time in the response with the latest one that is known for this user.
  ///
  /// `now` is the `Date` of the response; `nil` if it has none. A time that is more than
  /// ``tolerance`` after it is an error. It must not make all later responses look stale for years.
  package static func of(_ found: Timestamp?, known: Timestamp?, now: Timestamp?) -> StatusFreshness
  {
    guard let found else { return .unsaid }
    // The device's clock is not used: the response brings its own `Date`.
    if let now, found.milliseconds(since: now) > tolerance { return .unsaid }
    guard let known, known >= found else { return .newer(found) }
    return known == found ? .same : .stale
  }
}

/// A change of a user's status at the server.
///
/// - Requirement: SYN-4
public struct StatusChange: Hashable, Sendable {
  /// The user.
  public let user: Identifier
  /// When the status changed, on the server's clock.
  public let changedAt: Timestamp
  /// The time of the change that was known before; `nil` if none was.
  public let known: Timestamp?

  /// Creates a change of a user's status.
  public init(user: Identifier, changedAt: Timestamp, known: Timestamp?) {
    (self.user, self.changedAt, self.known) = (user, changedAt, known)
  }
}
