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

/// The result of sending a change.
public enum SendOutcome: Hashable, Sendable {
  /// The server has accepted the change, now or earlier with the same key.
  case done
  /// The server will never accept the change, for this reason.
  ///
  /// The change becomes a dead letter.
  case refused(String)
  /// The server responded that it cannot accept the change now, for this reason.
  ///
  /// This counts as an attempt.
  case tryLater(String, after: Duration? = nil)
  /// No server responded, for this reason, such as an error of `session.data(for:)`.
  ///
  /// This does not count.
  case notReached(String)
}

extension ChangeQueue {
  /// Returns the events that end the sending of the change with this key; none if nothing changes.
  ///
  /// - A server that responded counts as an attempt. After the policy's attempts the change is given up, since
  ///   later changes must not overtake it and would never be sent.
  /// - A request without a response does not count. The network may be missing for days.
  /// - Nothing changes if the change was discarded meanwhile, or if another process has sent it after the lease
  ///   of `sender` was over.
  package func events(
    ending key: Identifier, sender: Identifier, outcome: SendOutcome, policy: ChangePolicy,
    at time: Timestamp
  ) -> [ChangeEvent] {
    guard let first = pending.first, first.change.key == key, first.sent?.sender == sender else {
      return []
    }
    switch outcome {
    case .done:
      return [.acknowledged(key)]
    case .refused(let reason):
      return [.givenUp(.init(key: key, cause: .refused, reason: reason))]
    case .tryLater(let reason, let after):
      let failures = first.attempts < .max ? first.attempts + 1 : first.attempts
      guard failures < policy.attempts else {
        return [.givenUp(.init(key: key, cause: .attemptsExhausted, reason: reason))]
      }
      let asked = after.map { min($0, .seconds(86_400)).milliseconds(atLeast: 0) }
      let delay = policy.delay(after: failures, asked: asked)
      return [
        .postponed(
          .init(key: key, isCounted: true, retryAt: time.advanced(by: delay), reason: reason))
      ]
    case .notReached(let reason):
      let delay = policy.delay(after: 1, asked: nil)
      return [
        .postponed(
          .init(key: key, isCounted: false, retryAt: time.advanced(by: delay), reason: reason))
      ]
    }
  }

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
