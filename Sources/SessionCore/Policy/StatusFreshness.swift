/// What a server's word on how a user stands is worth, by when the status last changed (the
/// table in `Specs/ChangeLog.md`).
///
/// - Requirement: LOG-6, SYN-4
package enum StatusFreshness: Hashable, Sendable {
  /// Nothing says when it changed, or what says it cannot be true: the word counts as it is.
  case unsaid
  /// It is known since then.
  case same
  /// It has changed since it was known, or nothing was known.
  case newer(Timestamp)
  /// A newer word is known: this one came from a replica or a cache, and ends nothing.
  case stale

  /// How far a server's clock may be before the clock by which it is judged, in milliseconds.
  package static let tolerance: Int64 = 300_000

  /// Compares the time that was found with the newest that is known of this user.
  ///
  /// `now` is the answer's `Date`, or `nil` where it has none: what is in the future by more than
  /// ``tolerance`` is a fault, and must not make all that is true look old for years.
  package static func of(_ found: Timestamp?, known: Timestamp?, now: Timestamp?) -> StatusFreshness
  {
    guard let found else { return .unsaid }
    if let now, found.milliseconds(since: now) > tolerance { return .unsaid }
    guard let known, known >= found else { return .newer(found) }
    return known == found ? .same : .stale
  }
}

/// That a user's status has changed at the server since the app knew of it.
///
/// - Requirement: SYN-4
public struct StatusChange: Hashable, Sendable {
  /// The user.
  public let user: Identifier
  /// When it changed, on the server's clock.
  public let changedAt: Timestamp
  /// What was known before; `nil` where nothing was.
  public let known: Timestamp?

  /// A change of a user's status.
  public init(user: Identifier, changedAt: Timestamp, known: Timestamp?) {
    (self.user, self.changedAt, self.known) = (user, changedAt, known)
  }
}
