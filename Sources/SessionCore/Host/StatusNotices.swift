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
  package let isStale: Bool

  /// Judges a response.
  ///
  /// - Parameters:
  ///   - failure: why the account cannot be used, by the response; `nil` if it can.
  ///   - changedAt: when the status changed, by the response.
  ///   - user: the user of the session that asks.
  ///   - known: the latest change that the hosts know.
  ///   - serverTime: the `Date` of the response.
  package init(
    _ failure: RequestFailure?, changedAt: Timestamp?, of user: Identifier, known: Timestamp?,
    serverTime: Timestamp?
  ) {
    switch StatusFreshness.of(changedAt, known: known, now: serverTime) {
    case .unsaid, .same: (self.failure, change, isStale) = (failure, nil, false)
    case .newer(let time):
      let change = StatusChange(user: user, changedAt: time, known: known)
      (self.failure, self.change, isStale) = (failure, change, false)
    case .stale: (self.failure, change, isStale) = (nil, nil, true)
    }
  }
}

/// The change of a user's status of which the hosts are not notified yet.
///
/// ```
///           found: a change                next, the session is that user's
///  settled ─────────────────▶ pending ─────────────────────────────────────▶ settled, and the
///   ▲                          │   ▲                                         hosts are notified
///   │ found: no change         │   │ found: another change
///   └──────────────────────────┴───┘
/// ```
///
/// A login asks for the profile before its event is journaled. So the change waits until the session is
/// that user's.
///
/// - Requirement: SYN-4
package struct StatusNotices: Hashable, Sendable {
  private enum State: Hashable, Sendable {
    case settled
    case pending(StatusChange)
  }

  private var state = State.settled

  /// Creates a machine without a change.
  package init() {}

  /// Records what the newest response about the account says.
  ///
  /// Nothing is kept for a deleted user, since there is nothing left to sync.
  package mutating func found(_ change: StatusChange?, failure: RequestFailure?) {
    guard let change, failure?.kind != .userDeleted else {
      state = .settled
      return
    }
    state = .pending(change)
  }

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
