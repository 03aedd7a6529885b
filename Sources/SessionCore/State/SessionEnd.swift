/// Why and when a session ended.
///
/// - Requirement: STA-8
public struct SessionEnd: Hashable, Sendable {
  /// Why a session ended.
  public enum Reason: Hashable, Sendable {
    /// It expired. A logout that only the policy added keeps this reason.
    case expired(ExpiryReason)
    /// It was logged out.
    case loggedOut(LogoutReason)
  }

  /// Why.
  public let reason: Reason
  /// When, by the civil time of the device that journaled it; `Date(end.time)` is the date.
  public let time: Timestamp

  /// An end.
  public init(reason: Reason, time: Timestamp) {
    self.reason = reason
    self.time = time
  }
}

extension SessionEnd.Reason: CustomStringConvertible {
  /// The name that the journal uses.
  public var description: String {
    switch self {
    case .expired(let reason): "\(reason)"
    case .loggedOut(let reason): "\(reason)"
    }
  }
}

/// The last end that the records of a journal tell of.
///
/// A new login does not remove it. A compaction keeps the record of the last end
/// (`Specs/Retention.md`); if it could not, the end is not known.
package struct LastEnd: Hashable, Sendable {
  /// The end; `nil` if no session ended, or if that is not known.
  package private(set) var end: SessionEnd?
  /// Whether that session has expired and was not left yet.
  private var isExpired = false
  /// The last event that was taken in.
  private var sequence: UInt64 = 0

  /// No end is known.
  package init() {}

  /// Takes in the next record.
  package mutating func take(_ record: SessionRecord) {
    switch record.content {
    case .event(.login): isExpired = false
    case .event(.sessionExpired(let expiry)):
      end = SessionEnd(reason: .expired(expiry.reason), time: record.time)
      isExpired = true
    case .event(.logout(let logout)):
      // The policy adds a logout to an expiry: the expiry is the reason.
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

  /// Everything up to this event was taken in, or says nothing of an end.
  package mutating func pass(to event: UInt64) { sequence = max(sequence, event) }

  /// Ends may be among the records that a snapshot replaced.
  private mutating func take(_ fold: SessionFold) {
    if fold.eventSequence > sequence { end = nil }
    isExpired = fold.state.kind == .expired
    guard case .expired(let expired) = fold.state else { return }
    end = SessionEnd(reason: .expired(expired.reason), time: expired.since)
  }

  /// Whether a record of this kind may say anything of it, so that its payload is worth reading.
  package static func reads(_ kind: UInt8) -> Bool {
    switch kind {
    case SessionEvent.Kind.login.rawValue, SessionEvent.Kind.sessionExpired.rawValue,
      SessionEvent.Kind.logout.rawValue, SessionRecord.snapshotKind:
      true
    default: false
    }
  }
}
