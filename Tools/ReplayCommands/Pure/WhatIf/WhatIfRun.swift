@_spi(Internals) internal import SessionCore

/// Decides a recorded journal under another policy, up to the first decision that differs.
///
/// It makes each decision twice: under the recorded policy, and under the other one.
/// Both get the same inputs. It never assumes a response, a call or a use that no record proves.
///
/// - Requirement: RPL-10, RPL-6
struct WhatIfRun: Sendable {
  /// Where the outcome differs, or why it cannot be said.
  enum Ending: Hashable, Sendable {
    /// Every decision is the same up to the end of the journal.
    case same
    /// Every decision is the same up to records that cannot be read.
    case unreadable
    /// The batch would be another one; `due` is when the next attempt is due, if one is.
    case decides([SessionRecord.Content], due: ClosedRange<Timestamp>?)
    /// Nothing would be journaled then; `due` is when the timer that led to the batch is due.
    case nothing(due: Timestamp?)
    /// Before the batch, a timer is due that the recorded policy did not set for then.
    case earlier(SessionTimer, Timestamp)
    /// Directly after the batch, more is decided.
    case more([SessionRecord.Content])
    /// It depends on uses that the journal does not record, since this time.
    case uses(since: Timestamp, limit: Int64)
    /// The recorded batch cannot be decided again.
    case gap(DecisionReplay.Gap)
    /// Today's code decides otherwise than the recorded batch, even under the recorded policy.
    case version
  }

  /// A failure after which the next attempt is due at another time.
  struct Moved: Hashable, Sendable {
    let sequence: UInt64
    let recorded: Timestamp
    /// One time only if the records prove the random part of the recorded delay.
    let other: ClosedRange<Timestamp>
  }

  private(set) var ending: Ending?
  /// The batch at which the run ended; `nil` after the last one that can be read.
  private(set) var batch: RecordedBatch?
  /// How many batches were decided with the same result.
  private(set) var decisions = 0
  private(set) var moved: [Moved] = []
  private var recorded: DecisionReplay
  private var other: DecisionReplay
  private let policies: OpeningPolicies
  /// The last use that a record proves; the beginning of the journal before the first.
  private var lastUse: Timestamp?

  init(_ proofs: JournalProofs, _ policies: OpeningPolicies) {
    recorded = DecisionReplay(proofs, OpeningPolicies(named: policies.named))
    other = DecisionReplay(proofs, policies)
    self.policies = policies
  }

  /// Takes in the next batch; returns whether the run goes on.
  mutating func take(_ batch: RecordedBatch) -> Bool {
    guard ending == nil else { return false }
    if let early = unrecordedUse(before: batch) ?? timer(before: batch) {
      return end(early, at: batch)
    }
    switch recorded.take(batch) {
    case .undecided(.compacted):
      other.pass(batch, .compacted)
    case .undecided(let gap):
      return end(.gap(gap), at: batch)
    case .differs:
      return end(.version, at: batch)
    case .explained(let index, let script):
      if let ending = decide(batch, index, script) { return end(ending, at: batch) }
      decisions += 1
    }
    if batch.contents.provesUse || lastUse == nil { lastUse = batch.time }
    return true
  }

  /// Ends the run after the last batch; `isUnreadable` is true if records may follow it.
  mutating func finish(isUnreadable: Bool = false) {
    ending = ending ?? (isUnreadable ? .unreadable : .same)
  }

  private mutating func end(_ ending: Ending, at batch: RecordedBatch) -> Bool {
    (self.ending, self.batch) = (ending, batch)
    return false
  }

  // MARK: One batch

  private mutating func decide(
    _ batch: RecordedBatch, _ index: Int, _ script: InputScript
  ) -> Ending? {
    if let timer = script.timer, let due = notYet(timer, index, at: batch.time) {
      return .nothing(due: due)
    }
    guard let played = other.play(batch, by: index, script) else { return .nothing(due: nil) }
    if let rest = batch.decided {
      guard let decision = played.decision else { return .nothing(due: nil) }
      guard rest.isSame(as: decision.contents), decision.time == batch.time else {
        let opened = batch.isOpenedPlainly ? Array(batch.contents.prefix(1)) : []
        return .decides(opened + decision.contents, due: due(batch, index, script))
      }
      noteMove(to: decision.contents, batch, index, script)
    }
    other.accept(batch, by: index, played)
    guard let more = other.openings[index].decision?.contents,
      recorded.openings[index].decision?.contents != more
    else { return nil }
    return .more(more)
  }

  /// Notes a next attempt that the other policy makes at another time.
  private mutating func noteMove(
    to contents: [SessionRecord.Content], _ batch: RecordedBatch, _ index: Int,
    _ script: InputScript
  ) {
    if let now = recorded.decision?.contents.retryAt, let then = contents.retryAt, now != then {
      moved.append(
        Moved(
          sequence: batch.first, recorded: batch.contents.retryAt ?? now,
          other: due(batch, index, script) ?? then...then))
    }
  }

  /// Returns when a timer is due that has not fired yet under the other policy; `nil` if it may
  /// have fired.
  private func notYet(_ timer: SessionTimer, _ index: Int, at time: Timestamp) -> Timestamp?? {
    guard other.openings.indices.contains(index) else { return nil }
    let opening = other.openings[index]
    let now = opening.reading(at: time).uptime
    guard let due = opening.timers[timer] else { return .some(nil) }
    // A timer of the recorded policy that fired early proves nothing about the other one.
    guard due > now, due > lastDue(timer, index, or: now) else { return nil }
    return opening.time(at: due)
  }

  private func lastDue(_ timer: SessionTimer, _ index: Int, or now: Int64) -> Int64 {
    guard recorded.openings.indices.contains(index) else { return now }
    return max(now, recorded.openings[index].timers[timer] ?? now)
  }

  /// Returns when the next attempt is due after a failure that does not end the session.
  ///
  /// If the recorded failure ended it, the random part of the delay is not recorded.
  private func due(_ batch: RecordedBatch, _ index: Int, _ script: InputScript)
    -> ClosedRange<Timestamp>?
  {
    let times = [script.jitters.lowerBound, script.jitters.upperBound].compactMap {
      jitter -> Timestamp? in
      var (copy, script) = (other, script)
      script.jitters = jitter...jitter
      return copy.play(batch, by: index, script)?.decision?.contents.retryAt
    }
    guard let earliest = times.min(), let latest = times.max() else { return nil }
    return earliest...latest
  }

  // MARK: Between two batches

  /// Returns whether the session may have ended unused, which only unrecorded uses can tell.
  private func unrecordedUse(before batch: RecordedBatch) -> Ending? {
    guard recorded.fold.state.kind == .authenticated, let lastUse else { return nil }
    let (known, changed) = limits(at: batch)
    guard let changed, changed < known ?? .max, batch.time.milliseconds(since: lastUse) >= changed
    else { return nil }
    return .uses(since: lastUse, limit: changed)
  }

  /// Returns the recorded and the other limit of inactivity of the opening that decides a batch.
  private func limits(at batch: RecordedBatch) -> (known: Int64?, changed: Int64?) {
    let note = batch.opened ?? recorded.openings.last?.note
    func limit(_ policies: OpeningPolicies) -> Int64? {
      policies.policy(of: note).flatMap { PolicyFigures($0).inactivityLimit }
    }
    return (limit(OpeningPolicies(named: policies.named)), limit(policies))
  }

  /// Returns the first timer that only the other policy has set for a time before the batch.
  private func timer(before batch: RecordedBatch) -> Ending? {
    var first: (timer: SessionTimer, time: Timestamp)?
    for index in other.live {
      let opening = other.openings[index]
      let now = opening.reading(at: batch.time).uptime
      for timer in [SessionTimer.refresh, .lifetime] {
        guard let due = opening.timers[timer], due < now,
          due < recorded.openings[index].timers[timer] ?? .max
        else { continue }
        let time = opening.time(at: due)
        if time < first?.time ?? Timestamp(milliseconds: .max) { first = (timer, time) }
      }
    }
    return first.map { .earlier($0.timer, $0.time) }
  }
}
