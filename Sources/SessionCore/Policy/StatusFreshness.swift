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
