@_spi(Internals) public import SessionCore

/// What draining a change log comes to next.
public enum NextSend: Hashable, Sendable {
  /// Nothing waits.
  case nothing
  /// What waits is another user's: never sent for this one.
  case othersChanges(count: Int)
  /// The first change is not due yet.
  case waits(until: Timestamp)
  /// Another one has sent the first change and may still get its answer.
  case leasedElsewhere(until: Timestamp)
  /// This change is to be sent.
  case send(PendingChange)
}

/// How often, how late and for how long a change is tried.
///
/// - Requirement: SYN-3
public struct ChangePolicy: Hashable, Sendable {
  /// After how many failures that a server answered a change is given up; at least 1.
  public var attempts: UInt32
  /// The delay after the first failure; doubled after each further one, up to an hour.
  public var firstDelay: Duration
  /// How long no other process sends a change that was sent: longer than any request takes.
  public var lease: Duration

  /// A policy; `attempts` below 1 count as 1.
  ///
  /// Durations count in whole milliseconds, rounded up, and as at least 1.
  public init(
    attempts: UInt32 = 5, firstDelay: Duration = .seconds(1), lease: Duration = .seconds(120)
  ) {
    self.attempts = max(1, attempts)
    self.firstDelay = firstDelay
    self.lease = lease
  }

  /// The delay after a number of failures, in milliseconds: at least `asked`, which is the server's, and at most
  /// a day.
  package func delay(after failures: UInt32, asked: Int64?) -> Int64 {
    let hour: Int64 = 3_600_000
    let doublings = min(failures > 0 ? failures - 1 : 0, 22)
    let own = min(min(firstDelay.milliseconds(atLeast: 1), hour) << Int64(doublings), hour)
    return min(max(own, asked ?? 0), 24 * hour)
  }
}

extension ChangeQueue {
  /// What is to be done for `user` by `sender` at `time`, where `isGone` knows who cannot get an answer
  /// any more to what they sent.
  ///
  /// A time that lies in the future was written before the clock was set back: nobody waits for it.
  public func turn(
    of user: Identifier, sender: Identifier, at time: Timestamp,
    ignoresBackoff: Bool = false, isGone: (_ sent: ChangeEvent.Sent) -> Bool
  ) -> NextSend {
    guard let first = pending.first else { return .nothing }
    guard first.user == user else { return .othersChanges(count: pending.count) }
    if let postponed = first.postponed {
      return !ignoresBackoff && time < postponed.retryAt && first.postponedAt <= time
        ? .waits(until: postponed.retryAt) : .send(first)
    }
    if let sent = first.sent, sent.sender != sender, time < sent.deadline, first.sentAt <= time,
      !isGone(sent)
    {
      return .leasedElsewhere(until: sent.deadline)
    }
    return .send(first)
  }
}
