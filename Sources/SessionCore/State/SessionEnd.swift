/// Why and when a session ended.
///
/// - Requirement: STA-8
public struct SessionEnd: Hashable, Sendable {
  /// Why a session ended.
  public enum Reason: Hashable, Sendable {
    /// The session expired. A logout that the policy added keeps this reason.
    case expired(ExpiryReason)
    /// The user was logged out.
    case loggedOut(LogoutReason)
  }

  /// Why the session ended.
  public let reason: Reason
  /// When it ended, in civil time of the device that journaled it; `Date(end.time)` is the date.
  public let time: Timestamp

  /// Creates an end.
  public init(reason: Reason, time: Timestamp) {
    self.reason = reason
    self.time = time
  }
}

extension SessionEnd.Reason: CustomStringConvertible {
  /// The name of the reason, as in the journal.
  public var description: String {
    switch self {
    case .expired(let reason): "\(reason)"
    case .loggedOut(let reason): "\(reason)"
    }
  }
}

/// The last end of a session in a journal.
///
/// A new login does not remove it. A compaction keeps the record of the last end
/// (`Specs/Retention.md`). If it could not, the end is unknown.
package struct LastEnd: Hashable, Sendable {
  // It is read from records and is neither in the fold nor in a snapshot, so no journal needed a
  // new field. A compaction keeps the record of the last end as long as the limits allow. A logout
  // that the policy adds to an expiry does not hide that: it is the expiry that a user wants to
  // know about.

  /// The end; `nil` if no session ended, or if that is unknown.
  package private(set) var end: SessionEnd?
  /// Whether the session has expired and neither a logout nor a login followed.
  private var isExpired = false
  /// The last event that was taken in.
  private var sequence: UInt64 = 0
  private var loginSequence: UInt64 = 0
  private var loginFollowsExpiry = false

  /// The last login that was read, and the state before it; the sequence is 0 if none was.
  package var login: (sequence: UInt64, before: SessionState.Kind) {
    (loginSequence, loginFollowsExpiry ? .expired : .unauthenticated)
  }

  /// Creates a value without a known end.
  package init() {}

  /// Takes in the next record.
  package mutating func take(_ record: SessionRecord) {
    switch record.content {
    case .event(.login):
      (loginSequence, loginFollowsExpiry, isExpired) = (record.sequence, isExpired, false)
    case .event(.sessionExpired(let expiry)):
      end = SessionEnd(reason: .expired(expiry.reason), time: record.time)
      isExpired = true
    case .event(.logout(let logout)):
      // The policy added this logout to an expiry: the expiry is the reason.
      if !isExpired || logout.reason != .policy {
        end = SessionEnd(reason: .loggedOut(logout.reason), time: record.time)
      }
      isExpired = false
    case .snapshot(let fold): take(fold)
    case .event: break
    case .note, .unknown: return
    }
    sequence = record.sequence
  }

  /// Marks all records up to this event as known: they hold no other end.
  package mutating func pass(to event: UInt64) { sequence = max(sequence, event) }

  /// Takes in a snapshot, which may have replaced records of ends.
  private mutating func take(_ fold: SessionFold) {
    if fold.eventSequence > sequence { end = nil }
    isExpired = fold.state.kind == .expired
    guard case .expired(let expired) = fold.state else { return }
    end = SessionEnd(reason: .expired(expired.reason), time: expired.since)
  }

  /// Whether records of this kind matter here, so that the payload must be decoded.
  package static func reads(_ kind: UInt8) -> Bool {
    switch kind {
    case SessionEvent.Kind.login.rawValue, SessionEvent.Kind.sessionExpired.rawValue,
      SessionEvent.Kind.logout.rawValue, SessionRecord.snapshotKind:
      true
    default: false
    }
  }
}
