/// The revocations that this process sends to the server, one after the other.
///
/// ```
///          begin, begin(each:)                  ended, another is queued
///  idle ───────────────────────▶ sending(token) ────────────────────────▶ sending(next)
///   ▲                              │
///   ├──── ended, none is pending ──┤
///   │                              │ ended, some are pending
///   └─── the timer `revocation` ◀──┘
/// ```
///
/// The journal says which revocations are pending: the callers pass them in. A logout begins its own
/// revocation at once, even while another one is sent.
///
/// - Requirement: OUT-1, OUT-6
struct Revocations: Hashable, Sendable {
  /// The tokens whose revocation is being sent.
  private var sending: Set<Generation> = []
  /// The tokens to revoke next, in this order.
  private var queue: [Generation] = []
  /// The tokens whose failed revocation this process has journaled.
  private var reported: Set<Generation> = []
  /// How often a new attempt was scheduled since the last revocation that did not fail.
  private var attempts: UInt32 = 0

  /// Whether the revocation of this token is being sent.
  func isSending(_ token: Generation) -> Bool { sending.contains(token) }

  /// Whether a failure of this token's revocation is in the journal already.
  func hasReported(_ token: Generation) -> Bool { reported.contains(token) }

  /// Sends the revocation of a token at once.
  mutating func begin(_ token: Generation) -> [SessionEffect] {
    sending.insert(token)
    return [.revoke(token)]
  }

  /// Sends the revocations of these tokens, one after the other.
  mutating func begin(each tokens: [Generation], pending: [Generation]) -> [SessionEffect] {
    queue = tokens.filter { !sending.contains($0) }
    return next(pending: pending)
  }

  /// Records that the request for a token has ended.
  mutating func ended(_ token: Generation) {
    sending.remove(token)
  }

  /// Records that the outcome of a revocation is in the journal.
  mutating func journaled(_ token: Generation, _ outcome: RevocationOutcome) {
    if outcome == .failed {
      reported.insert(token)
    } else {
      reported.remove(token)
      attempts = 0
    }
  }

  /// Sends the next revocation; after the last one, schedules another attempt of those that are
  /// still pending.
  ///
  /// The delay grows, since no caller waits for it.
  mutating func proceed(
    pending: [Generation], policy: PolicyFigures, at now: ClockReading
  ) -> [SessionEffect] {
    let effects = next(pending: pending)
    guard sending.isEmpty, !pending.isEmpty else { return effects }
    let delay = policy.revocationDelay(tries: attempts)
    attempts = attempts &+ 1
    return [.schedule(.revocation, uptime: now.uptime.addingSaturating(delay))]
  }

  /// Sends the next revocation that is still pending, unless one is being sent.
  private mutating func next(pending: [Generation]) -> [SessionEffect] {
    queue.removeAll { !pending.contains($0) }
    guard sending.isEmpty, !queue.isEmpty else { return [] }
    return begin(queue.removeFirst())
  }
}
