@_spi(Internals) public import SessionCore

/// The next step of draining a change log.
public enum NextSend: Hashable, Sendable {
  /// There are no pending changes.
  case nothing
  /// The pending changes are another user's and must not be sent for this one.
  case othersChanges(count: Int)
  /// The first change is not due yet.
  case waits(until: Timestamp)
  /// Another sender has sent the first change and may still receive the response.
  case leasedElsewhere(until: Timestamp)
  /// This change must be sent.
  case send(PendingChange)
}

/// The number of attempts, the delays and the lease of a change.
///
/// - Requirement: SYN-3
public struct ChangePolicy: Hashable, Sendable {
  /// The number of failures with a server's response after which a change is given up, at least 1.
  public var attempts: UInt32
  /// The delay after the first failure.
  ///
  /// It doubles after each further failure, up to an hour.
  public var firstDelay: Duration
  /// The time during which no other process sends a change that was sent.
  ///
  /// It must exceed the time of any request.
  public var lease: Duration

  /// Creates a policy.
  ///
  /// `attempts` below 1 count as 1.
  ///
  /// Durations are rounded up to whole milliseconds, and count as at least 1.
  public init(
    attempts: UInt32 = 5, firstDelay: Duration = .seconds(1), lease: Duration = .seconds(120)
  ) {
    self.attempts = max(1, attempts)
    self.firstDelay = firstDelay
    self.lease = lease
  }

  /// Returns the delay after a number of failures, in milliseconds.
  ///
  /// It is at least `asked`, the delay that the server requested, and at most a day.
  package func delay(after failures: UInt32, asked: Int64?) -> Int64 {
    let hour: Int64 = 3_600_000
    let doublings = min(failures > 0 ? failures - 1 : 0, 22)
    let own = min(min(firstDelay.milliseconds(atLeast: 1), hour) << Int64(doublings), hour)
    return min(max(own, asked ?? 0), 24 * hour)
  }
}

extension ChangeQueue {
  /// Returns the next step for `user` by `sender` at `time`.
  ///
  /// `isGone` returns whether a sender cannot receive a response any more.
  ///
  /// A record's time in the future was written before the clock was set back, so its lease and
  /// delay are ignored.
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
