@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// A part of a policy that the records of an opening prove.
struct PolicyFacet: Hashable, Sendable {
  /// The name, as `--policy` spells it.
  let name: String
  /// The value, or the bound that the record proves.
  let value: String
  /// The record that proves it.
  let sequence: UInt64
  /// How much a bound says, compared with other bounds of the same name; `nil` for a value.
  var strength: Int64?
}

/// The policy of one opening, as far as its decisions prove it.
///
/// No decision of the opening depends on the other parts, which have the values of `standard`.
///
/// - Requirement: RPL-10
struct RecordedPolicy: Sendable {
  private(set) var policy = SessionPolicy.standard.named("recorded") {
    // Logins that were refused for their number leave no record.
    $0.limits.loginsPerMinute = nil
  }
  private(set) var facets: [PolicyFacet] = []
  /// The first delays that the recorded delays allow, in milliseconds; `nil` without a random delay.
  ///
  /// Without an upper bound it ends with the greatest number.
  private(set) var firstDelays: ClosedRange<Int64>?

  private var delays: [Delay] = []
  /// The failures that the server had answered when the session ended for them.
  private var exhaustedAt: UInt32?
  private var answeredWithoutEnd: UInt32 = 0
  /// The same, for a 200 that could not be read and followed another one.
  private var unreadableWithoutEnd: UInt32 = 0
  /// When the opening presumed another one's request lost.
  private var lostAt: Timestamp?
  private var doubts: [(from: Timestamp, until: Timestamp)] = []

  /// The delay after a failure that did not end the session.
  private struct Delay: Sendable {
    let failures: UInt32
    let answered: UInt32
    let failure: RequestFailure
    let milliseconds: Int64
    let requested: Int64?
    /// What was left of the token, in milliseconds.
    let rest: Int64
    let sequence: UInt64
  }

  /// Takes in a batch of the opening; `fold` is that of all records before it.
  mutating func take(_ batch: RecordedBatch, after fold: SessionFold) {
    if let sent = batch.sent { take(sent, batch, fold) }
    if let failed = batch.contents.failedRefresh, batch.sent == nil {
      take(failed, batch, fold)
    } else if let expiry = batch.contents.expiry {
      takeEnd(expiry, batch, fold)
    }
    for content in batch.contents {
      guard case .event(.login(let login)) = content, login.method == .adoption else { continue }
      if batch.contents.link?.cause == .lost {
        policy.recovery = .resume
        note("recovery", "resume", batch)
      }
    }
  }

  /// Computes what follows from several batches; call it after the last one.
  mutating func finish() {
    finishDelays()
    finishAttempts()
    // A doubt ends with its grace. It was shorter if a rejection ended the session sooner.
    if let lostAt, let end = doubts.map(\.until).max() {
      let grace = end.milliseconds(since: lostAt)
      if grace < policy.refresh.peerRequestGrace.milliseconds(atLeast: 0), endedAfterDoubt {
        policy.refresh.peerRequestGrace = .milliseconds(grace)
      }
    }
  }

  /// Replaces the policy by another one.
  mutating func apply(_ change: PolicyChange) { policy = change.applied(to: policy) }

  /// Replaces a part by this value, unless a record proves it or `change` names it.
  mutating func vary(_ variant: PolicyVariant, _ change: PolicyChange) {
    guard change.preset == nil, change.values[variant.key] == nil,
      variant.key == .firstDelay || !facets.contains(where: { $0.name == variant.key.rawValue })
    else { return }
    switch variant {
    case .exhausted(let exhaustion): policy.ending.onExhaustion = exhaustion
    case .refused(let end): policy.ending.onRejection = end
    case .refusedToken(let refused): policy.ending.onRefusedToken = refused
    case .fewestAttempts: policy.refresh.attempts = Int(answeredWithoutEnd) + 1
    case .mostAttempts: policy.refresh.attempts = 1_000_000
    case .shortestFirstDelay: varyFirstDelay(firstDelays?.lowerBound)
    case .longestFirstDelay: varyFirstDelay(firstDelays?.upperBound)
    }
  }

  private mutating func varyFirstDelay(_ milliseconds: Int64?) {
    guard let milliseconds, milliseconds < .max else { return }
    policy.refresh.firstRetryDelay = .milliseconds(milliseconds)
  }

  private var endedAfterDoubt = false

  private mutating func note(
    _ name: String, _ value: String, _ batch: RecordedBatch, strength: Int64? = nil
  ) {
    guard !facets.contains(where: { $0.name == name }) else { return }
    facets.append(
      PolicyFacet(name: name, value: value, sequence: batch.first, strength: strength))
  }

  /// Notes that a limit is a span or less, since the timer that proves it may have been late.
  private mutating func note(_ name: String, atMost span: Int64, _ batch: RecordedBatch) {
    // The words leave out small units, so the span is rounded up to what they show.
    let unit: Int64 = span >= 86_400_000 ? 3_600_000 : span >= 3_600_000 ? 60_000 : 1_000
    let shown = span.addingSaturating(unit - 1) / unit * unit
    note(name, "\(Self.span(shown)) or less", batch, strength: -span)
  }

  private static func span(_ milliseconds: Int64) -> String {
    DurationFormatter.text(milliseconds: milliseconds)
  }

  // MARK: Requests

  private mutating func take(
    _ sent: SessionNote.RequestSent, _ batch: RecordedBatch, _ fold: SessionFold
  ) {
    let lease = sent.deadline.milliseconds(since: batch.time)
    let timeout = max(1, lease.subtractingSaturating(1_000))
    policy.refresh.timeout = .milliseconds(timeout)
    note("timeout", Self.span(timeout), batch)
    if fold.intents.request != nil { lostAt = batch.time }
    guard let token = fold.state.token else { return }
    let left = token.expiresAt.milliseconds(since: batch.time)
    if sent.trigger == .schedule, left > 0 {
      // A timer may be late, and never early.
      let threshold = max(left, policy.refresh.beforeExpiry?.milliseconds(atLeast: 0) ?? 0)
      if !facets.contains(where: { $0.name == "threshold" }) || threshold == left {
        policy.refresh.beforeExpiry = .milliseconds(left)
        facets.removeAll { $0.name == "threshold" }
        note("threshold", "\(Self.span(left)) or more", batch, strength: left)
      }
    }
    if sent.trigger == .launch, left > 0 {
      policy.refresh.atLaunch = .always
      note("launch", "always", batch)
    }
  }

  // MARK: Failures

  private mutating func take(
    _ failed: SessionEvent.RefreshFailed, _ batch: RecordedBatch, _ fold: SessionFold
  ) {
    let isLost = failed.failure.kind == .noReply && batch.opened != nil
    guard case .authenticated(let session) = fold.state, !isLost else { return }
    let before = session.failures
    let answered = before.answered &+ (failed.failure.kind.isAnswered ? 1 : 0)
    if let reason = batch.contents.expiry {
      let end = batch.end
      if reason == .attemptsExhausted {
        exhaustedAt = min(exhaustedAt ?? .max, answered)
        let isValid = batch.time < session.token.expiresAt
        policy.ending.onExhaustion = .end(end)
        note("exhausted", isValid ? "end-\(end)" : "end-\(end) or expiry-\(end)", batch)
      } else if reason == .refreshRejected {
        takeRejection(batch)
        if let doubt = doubts.last, batch.time >= doubt.until { endedAfterDoubt = true }
      }
      return
    }
    // The first 200 in a row that cannot be read exhausts nothing, so it says nothing of the attempts.
    if failed.failure.kind == .unreadable {
      if before.last?.kind == .unreadable {
        unreadableWithoutEnd = max(unreadableWithoutEnd, answered)
      }
    } else if failed.failure.exhaustsAlone, !failed.failure.kind.isFinal {
      answeredWithoutEnd = max(answeredWithoutEnd, answered)
    }
    guard let retryAt = failed.retryAt else { return }
    let delay = retryAt.milliseconds(since: batch.time)
    if failed.failure.kind.isFinal, failed.failure.kind != .noRefreshToken {
      doubts.append((batch.time, retryAt))
      return
    }
    guard delay > 0, failed.failure.kind != .noRefreshToken else { return }
    delays.append(
      Delay(
        failures: before.total &+ 1, answered: answered, failure: failed.failure,
        milliseconds: delay, requested: failed.failure.retryAfterMilliseconds,
        rest: session.token.expiresAt.milliseconds(since: batch.time), sequence: batch.first))
  }

  private mutating func takeRejection(_ batch: RecordedBatch) {
    policy.ending.onRejection = batch.end
    note("refused", "\(batch.end)", batch)
  }

  private mutating func takeEnd(
    _ reason: ExpiryReason, _ batch: RecordedBatch, _ fold: SessionFold
  ) {
    guard case .authenticated(let session) = fold.state else { return }
    switch reason {
    case .tokenExpired, .secretsMissing, .secretsOutdated: takeRejection(batch)
    case .corruptStorage:
      takeRejection(batch)
      for case .note(.itemUnreadable(let item)) in batch.contents {
        policy.limits.requiredItems.insert(item)
      }
    case .endedByServer:
      takeRejection(batch)
      policy.ending.onRefusedToken = .end
      note("refusedToken", "end", batch)
    case .lifetimeEnded:
      takeRejection(batch)
      let age = batch.time.milliseconds(since: session.since)
      policy.ending.absoluteLifetime = .milliseconds(max(1_000, age))
      note("lifetime", atMost: age, batch)
    case .inactivity:
      takeRejection(batch)
      unusedSince.map { since in
        let pause = batch.time.milliseconds(since: since)
        policy.ending.inactivityLimit = .milliseconds(max(1_000, pause))
        note("inactivity", atMost: pause, batch)
      }
    default: break
    }
  }

  /// The last use that a record proves.
  var unusedSince: Timestamp?

  // MARK: Delays and attempts

  /// The longest delay of any preset.
  private static let longest: Int64 = 300_000

  /// Whether the longest delay is known, so that a delay after exhausted attempts shows.
  private var isLongestProven = true

  private mutating func finishDelays() {
    let random = delays.filter { !isOfExhaustion($0, longest: Self.longest) }
    guard !random.isEmpty else { return }
    var (low, high) = (Int64(100), Int64.max)
    for delay in random {
      let shift = Int64(min(max(delay.failures, 1) - 1, 40))
      let step = Int64(1) << shift
      // Less than half of the delay is taken away at random.
      let most = delay.milliseconds.addingSaturating(delay.milliseconds - 2)
      if most < Self.longest { high = min(high, most / step) }
      if delay.requested == delay.milliseconds { continue }
      low = max(low, delay.milliseconds.addingSaturating(step - 1) / step)
    }
    let unrequested = random.filter { $0.requested != $0.milliseconds }
    let greatest = (unrequested.isEmpty ? random : unrequested).map(\.milliseconds).max() ?? 0
    guard greatest <= Self.longest, low <= high else {
      // Only the tests of this package have another longest delay. A random delay hardly repeats.
      isLongestProven = delays.count { $0.milliseconds == greatest } > 1
      policy.refresh.longestRetryDelay = .milliseconds(greatest)
      policy.refresh.firstRetryDelay = .milliseconds(greatest)
      noteFirstDelay(greatest...Int64.max, random.first?.sequence)
      return
    }
    let known: [Int64] = [2_000, 1_000, 500]
    let first = known.first { (low...high).contains($0) } ?? low
    policy.refresh.firstRetryDelay = .milliseconds(first)
    noteFirstDelay(low...min(high, max(low, Self.longest)), random.first?.sequence)
  }

  private mutating func noteFirstDelay(_ range: ClosedRange<Int64>, _ sequence: UInt64?) {
    firstDelays = range
    let (low, high) = (range.lowerBound, range.upperBound)
    let value =
      if high == .max { "\(Self.span(low)) or more" } else if low == high { Self.span(low) } else {
        "\(Self.span(low)) to \(Self.span(high))"
      }
    guard let sequence else { return }
    facets.append(PolicyFacet(name: "firstDelay", value: value, sequence: sequence))
  }

  /// Whether this is the delay after exhausted attempts, which is not random.
  private func isOfExhaustion(_ delay: Delay, longest: Int64) -> Bool {
    // A delay that the server has asked for may follow any failure. A token that has expired is not
    // waited for.
    let isUnreadable = delay.failure.kind == .unreadable
    guard delay.failure.exhaustsAlone || isUnreadable, delay.requested != delay.milliseconds
    else { return false }
    let requested = delay.requested ?? 0
    // After a 200 that cannot be read, only earlier versions waited for so long.
    return delay.milliseconds == max(longest, requested)
      || !isUnreadable
        && delay.milliseconds == max(100, min(longest, delay.rest), requested)
        && delay.rest > 0 && delay.rest < longest
  }

  private mutating func finishAttempts() {
    let longest = policy.refresh.longestRetryDelay.milliseconds(atLeast: 0)
    let stays = isLongestProven ? delays.filter { isOfExhaustion($0, longest: longest) } : []
    if let first = stays.min(by: { $0.answered < $1.answered }) {
      policy.refresh.attempts = Int(first.answered)
      if case .end(let end) = policy.ending.onExhaustion, exhaustedAt != nil {
        policy.ending.onExhaustion = .endAfterExpiry(end)
      } else if stays.contains(where: { $0.milliseconds < longest }) {
        policy.ending.onExhaustion = .endAfterExpiry(policy.ending.onRejection)
      }
      facets.removeAll { $0.name == "exhausted" }
      facets.append(
        PolicyFacet(
          name: "exhausted", value: policy.ending.onExhaustion.word, sequence: first.sequence))
      facets.append(
        PolicyFacet(name: "attempts", value: "\(first.answered)", sequence: first.sequence))
    } else if let exhaustedAt {
      policy.refresh.attempts = max(Int(exhaustedAt), Int(answeredWithoutEnd) + 1)
      if case .end(let end) = policy.ending.onExhaustion,
        unreadableWithoutEnd >= policy.refresh.attempts
      {
        policy.ending.onExhaustion = .endAfterExpiry(end)
      }
      if let sequence = facets.first(where: { $0.name == "exhausted" })?.sequence {
        facets.append(
          PolicyFacet(name: "attempts", value: "\(exhaustedAt)", sequence: sequence))
      }
    } else {
      policy.refresh.attempts = max(5, Int(answeredWithoutEnd) + 1)
    }
  }
}

/// A value of a part of the policy that no record proves.
enum PolicyVariant: Hashable, Sendable {
  case exhausted(SessionPolicy.Exhaustion)
  case refused(SessionPolicy.End)
  case refusedToken(SessionPolicy.RefusedToken)
  /// As few attempts as the recorded failures allow.
  case fewestAttempts
  case mostAttempts
  /// The bounds of the first delay that the recorded delays allow.
  case shortestFirstDelay
  case longestFirstDelay

  /// Values that together show whether a decision depends on an unproven part.
  static let all: [PolicyVariant] = [
    .exhausted(.stay), .exhausted(.end(.keep)), .exhausted(.end(.clear)),
    .exhausted(.endAfterExpiry(.keep)), .exhausted(.endAfterExpiry(.clear)), .refused(.keep),
    .refused(.clear), .refusedToken(.deliver), .refusedToken(.end), .fewestAttempts, .mostAttempts,
    .shortestFirstDelay, .longestFirstDelay,
  ]

  /// The name of the part.
  var key: PolicyChange.Key {
    switch self {
    case .exhausted: .exhausted
    case .refused: .refused
    case .refusedToken: .refusedToken
    case .fewestAttempts, .mostAttempts: .attempts
    case .shortestFirstDelay, .longestFirstDelay: .firstDelay
    }
  }
}

extension RecordedBatch {
  /// What remained of a session that the batch ends.
  var end: SessionPolicy.End { contents.logout == .policy ? .clear : .keep }
}

extension SessionPolicy.Exhaustion {
  /// Its spelling in `--policy`.
  var word: String {
    switch self {
    case .stay: "stay"
    case .end(let end): "end-\(end)"
    case .endAfterExpiry(let end): "expiry-\(end)"
    }
  }
}
