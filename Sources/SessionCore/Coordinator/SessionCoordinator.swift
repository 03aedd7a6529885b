/// Every decision of a living session, as one value: inputs and the time go in, an ordered list of
/// effects comes out.
///
/// It has no clock, no I/O, no task, no randomness and no secret, so every interleaving of callers,
/// answers, timers, crashes and other processes is a sequence of inputs that can be written down.
///
/// ```
///  input ──▶ decide ──▶ [… commit] ──▶ shell appends ──▶ committed ──▶ fold, resume, publish
///               ▲                          │
///               └──── conflicted ◀─────────┘  others had appended: fold theirs, decide anew
/// ```
///
/// Inputs that come while a commit or a look at the journal is under way wait until it has ended.
public struct SessionCoordinator: Hashable, Sendable {
  /// What the apps disagree about.
  public let policy: SessionPolicy
  /// What the journal says.
  public private(set) var fold: SessionFold

  /// Whether the stored items have been seen, so that it is known whether anybody is signed in.
  var isRestored = false
  /// Why nothing is done any more: closed, or the journal holds what this version cannot follow.
  var stopped: SessionProblem?
  /// Why the last sign-in failed, until cleared.
  var lastProblem: SessionProblem?
  /// The request on the wire.
  var flight: SessionFlight?
  /// Who wants to act in another context, oldest first.
  var switches: [Caller] = []
  /// Who waits for a good token.
  var waiters: [Caller] = []
  /// Whether we wait for another process's request to end.
  var isWaitingForLease = false
  /// When we stop waiting for it whatever its deadline says, on the clock that never jumps.
  var leaseEnd: Int64?
  /// What makes the next refresh start, where one should as soon as nothing is on the wire.
  var due: RefreshTrigger?
  /// The logins that were given up while on the wire: their tokens are given back.
  var abandonedLogins: Set<RequestNumber> = []
  /// Who closes, once nothing is on the wire.
  var closers: [Caller] = []
  /// The wipe that was asked for and has not ended.
  var wiping: SessionEffect.Wipe?
  /// The logouts on their way, oldest first: who signs in meanwhile may log out again.
  var leavings: [Leaving] = []
  /// The tokens of whose end the server is being told.
  var telling: Set<Generation> = []
  /// What is noted of the opening, until it is.
  var openingNotes: [SessionNote] = []
  /// When the current token dies, on the clock that never jumps.
  public internal(set) var tokenDeadline: Int64 = .min
  /// The sequence of the request that was given up because its end could not be journaled.
  var givenUp: UInt64 = 0
  /// What the refresh timer is set for.
  var refreshTrigger = RefreshTrigger.schedule
  /// The process that this coordinator decides for.
  var process: UInt32 = 0

  private var pending: PendingCommit?
  private var look: JournalLook?
  private var deferred: [SessionInput] = []
  private var requests: UInt64 = 0

  /// A coordinator for the session whose journal folds to `fold`.
  public init(policy: SessionPolicy, fold: SessionFold = SessionFold()) {
    self.policy = policy
    self.fold = fold
  }

  /// The folded state.
  public var state: SessionState { fold.state }

  /// What the process is doing for the session now (STA-3).
  public var activity: SessionActivity {
    guard isRestored else { return .loading }
    switch flight?.purpose {
    case .login: return .authenticating
    case .refresh: return .refreshing
    case .switchContext: return .switching
    case nil: break
    }
    return lastProblem.map(SessionActivity.failed) ?? .idle
  }

  /// How many callers wait for a good token.
  package var waiterCount: Int { waiters.count }

  /// Whether the current token's life is not over, at this uptime in milliseconds.
  public func isTokenGood(at uptime: Int64) -> Bool {
    state.kind == .authenticated && uptime < tokenDeadline
  }

  /// Whether the request's answer has come and waits to be journaled.
  public func isHolding(_ request: RequestNumber) -> Bool {
    flight?.number == request && flight?.unsettled != nil
  }

  /// Takes in what happened and says what to do next.
  public mutating func handle(_ input: SessionInput, at now: Moment) -> [SessionEffect] {
    guard look == nil || input.endsLook, pending == nil || input.endsCommit else {
      deferred.append(input)
      return []
    }
    var effects: [SessionEffect]
    if input.endsCommit {
      guard let ended = pending else { return [] }
      pending = nil
      effects = end(ended, by: input, at: now)
    } else {
      effects = decide(input, at: now)
    }
    effects += proceed(at: now)
    while pending == nil, look == nil, !deferred.isEmpty {
      effects += decide(deferred.removeFirst(), at: now) + proceed(at: now)
    }
    return effects
  }

  /// Starts what waits, once nothing is on the wire: the one place where anything waiting begins.
  ///
  /// It follows every input, so nobody who waits can be forgotten by the way a request ended.
  private mutating func proceed(at now: Moment) -> [SessionEffect] {
    guard pending == nil, look == nil, stopped == nil else { return [] }
    if let closer = closers.first, flight == nil || flight?.isLogin == true || isStuck {
      return commit([.note(.closed)], for: .close(closer), at: now)
    }
    guard closers.isEmpty, flight == nil, isRestored, !isWaitingForLease,
      state.kind == .authenticated, due != nil || !waiters.isEmpty || !switches.isEmpty
    else { return [] }
    if let other = runningElsewhere(at: now) { return waitForLease(of: other, at: now) }
    guard due != nil || !waiters.isEmpty || !isTokenGood(at: now.uptime) else {
      return startSwitch(at: now)
    }
    let effects = startRefresh(due ?? .command, at: now)
    return pending == nil && state.kind == .authenticated ? effects + startSwitch(at: now) : effects
  }

  /// Whether an answer is here that cannot be journaled yet.
  private var isStuck: Bool { flight?.unsettled != nil }

  private mutating func decide(_ input: SessionInput, at now: Moment) -> [SessionEffect] {
    isDoubtful(input) ? lookAtJournal(for: input) : follow(input, at: now)
  }

  private mutating func follow(_ input: SessionInput, at now: Moment) -> [SessionEffect] {
    switch input {
    case .opened(let facts): open(facts, at: now)
    case .secretsRead(let facts): restore(facts, at: now)
    case .login(let caller, let method): login(caller, method, at: now)
    case .refresh(let caller, let trigger, let ifNeeded):
      refresh(caller, trigger, ifNeeded: ifNeeded, at: now)
    case .switchContext(let caller): switchContext(caller, at: now)
    case .logout(let caller): logout(caller, at: now)
    case .cancelled(let caller): cancel(caller)
    case .clearError: clearError()
    case .close(let caller): close(caller, at: now)
    case .answered(let number, let facts): answered(number, facts, at: now)
    case .failed(let number, let failure, let jitter):
      failed(number, failure, jitter: jitter, at: now)
    case .revoked(let generation, let outcome, let status):
      revoked(generation, outcome, status: status, at: now)
    case .wiped(let ending): wiped(ending, at: now)
    case .observed(let records, let isHolderGone):
      looked(at: records, isHolderGone: isHolderGone, now)
    case .unobserved: notLooked(at: now)
    case .reloaded(let generation, let outcome): reloaded(generation, outcome, at: now)
    case .fired(let timer): fired(timer, at: now)
    case .committed, .conflicted, .commitFailed: []
    }
  }

  // MARK: Looking

  /// Whether the answer would be that nobody is signed in, or somebody already, by a view that others
  /// may have outdated.
  private func isDoubtful(_ input: SessionInput) -> Bool {
    guard stopped == nil else { return false }
    return switch input {
    case .logout: state.kind == .unauthenticated
    case .refresh, .switchContext: isRestored && state.kind != .authenticated
    case .login: isRestored && state.kind == .authenticated
    default: false
    }
  }

  /// Whether somebody's question waits for a look at the journal.
  package var isLookingForCaller: Bool { look?.question != nil }

  /// Asks for a look at what others have appended; as with a commit, nothing else is decided before.
  mutating func lookAtJournal(for question: SessionInput?) -> [SessionEffect] {
    look = JournalLook(question: question)
    return [.readJournal]
  }

  private mutating func looked(
    at records: [SessionRecord], isHolderGone: Bool, _ now: Moment
  ) -> [SessionEffect] {
    let question = look?.question
    look = nil
    let effects = observed(records, isHolderGone: isHolderGone, at: now)
    return effects + (question.map { follow($0, at: now) } ?? [])
  }

  /// Nothing is known of what others did: who asked is not told who is signed in.
  private mutating func notLooked(at now: Moment) -> [SessionEffect] {
    let question = look?.question
    look = nil
    let effects = observed([], isHolderGone: false, at: now)
    return effects + (question?.caller.map { [.resume($0, .failed(.storage))] } ?? [])
  }

  // MARK: Committing

  /// Asks for a batch; what follows from it is decided when it is durable.
  mutating func commit(
    _ contents: [SessionRecord.Content], for purpose: PendingCommit.Purpose, at now: Moment,
    storing: RequestNumber? = nil
  ) -> [SessionEffect] {
    pending = PendingCommit(purpose: purpose, contents: contents, time: now.time)
    return [.commit(SessionCommit(contents: contents, time: now.time, storing: storing))]
  }

  private mutating func end(_ ended: PendingCommit, by input: SessionInput, at now: Moment)
    -> [SessionEffect]
  {
    switch input {
    case .committed(let first):
      return committed(ended, firstSequence: first, at: now)
    case .conflicted(let records):
      let effects = absorb(records, at: now)
      return effects + decideAgain(ended.purpose, at: now)
    case .commitFailed(let isLasting):
      return commitFailed(ended.purpose, isLasting: isLasting, at: now)
    default:
      return []
    }
  }

  /// Folds the batch that is durable now and says what follows.
  private mutating func committed(
    _ durable: PendingCommit, firstSequence: UInt64, at now: Moment
  ) -> [SessionEffect] {
    let before = state.kind
    var published: [RecordedEvent] = []
    for (content, sequence) in zip(durable.contents, firstSequence...) {
      let record = SessionRecord(sequence: sequence, time: durable.time, content: content)
      do {
        try fold.apply(record)
      } catch {
        // Decided on this very fold, so it cannot be illegal; if it were, nothing may follow.
        stopped = .unusableJournal(error)
        return stopWaiting()
      }
      if let event = record.event {
        published.append(
          RecordedEvent(sequence: sequence, time: durable.time, event: event))
      }
    }
    let effects = follow(durable, publishing: published, at: now)
    guard state.kind != before, state.kind != .authenticated else { return effects }
    // Whatever the batch was for: nobody waits in a session that it ended.
    return effects + stopWaiting(because: durable.purpose.failure)
  }

  private mutating func follow(
    _ durable: PendingCommit, publishing events: [RecordedEvent], at now: Moment
  ) -> [SessionEffect] {
    switch durable.purpose {
    case .restore(let facts): publish(events) + restored(facts, at: now)
    case .send: publish(events) + send(note: fold.sequence)
    case .settle(let arrival): settled(arrival, publishing: events, at: now)
    case .fail(let failure, _, let delay):
      publish(events) + failureNoted(failure, delay: delay, at: now)
    case .expire: publish(events) + wipeEnded()
    case .logout(let caller): publish(events) + left(caller, durable.pendingRevocation)
    case .revoked(let generation, let outcome, let status):
      revocationNoted(generation, outcome, status: status)
    case .close(let caller): closed(caller)
    }
  }

  /// Another process came first: the same question is asked of the state as it is now.
  private mutating func decideAgain(_ purpose: PendingCommit.Purpose, at now: Moment)
    -> [SessionEffect]
  {
    switch purpose {
    // The items were looked at before the other process changed them.
    case .restore: [.readSecrets]
    case .send: sendAgain()
    case .settle(let arrival): settle(arrival, at: now)
    case .fail(let failure, let jitter, _): fail(failure, jitter: jitter, at: now)
    case .expire: expiryIsDue(at: now)
    case .logout(let caller): logout(caller, at: now)
    case .revoked(let generation, let outcome, let status):
      revoked(generation, outcome, status: status, at: now)
    // Still first among the closers: asked for again as soon as nothing else is to be done.
    case .close: []
    }
  }

  /// Nothing was journaled; `isLasting` says that the same batch never can be.
  private mutating func commitFailed(
    _ purpose: PendingCommit.Purpose, isLasting: Bool, at now: Moment
  ) -> [SessionEffect] {
    switch purpose {
    case .restore:
      return [.schedule(.restore, uptime: now.uptime.addingSaturating(retryPause))]
    case .send, .fail:
      return sendingFailed(at: now)
    case .settle(let arrival):
      return isLasting ? settlingIsImpossible(at: now) : settlingFailed(arrival, at: now)
    case .expire:
      return resumeAll(.failed(.storage))
        + [.schedule(.expiry, uptime: now.uptime.addingSaturating(retryPause))]
    case .logout(let caller):
      return [.resume(caller, .failed(.storage))]
    case .close(let caller):
      return closed(caller)
    case .revoked(let generation, let outcome, let status):
      // The note is lost and the intent stays open: it is settled at the next open.
      return resumeLeaving(generation, outcome, status: status)
    }
  }

  /// Whether the opening is noted in the journal.
  package var isOpen: Bool { openingNotes.isEmpty }

  /// Milliseconds before a commit or a look at the stored items is tried again.
  var retryPause: Int64 { 1_000 }

  // MARK: What others appended

  /// Folds another process's records and follows what they say.
  mutating func absorb(_ records: [SessionRecord], at now: Moment) -> [SessionEffect] {
    let before = fold.state
    var hasEnded = false
    var effects: [SessionEffect] = []
    var published: [RecordedEvent] = []
    for record in records {
      let last = fold.eventSequence
      do {
        try fold.apply(record)
        hasEnded = hasEnded || (before.token != nil && !fold.state.continues(before))
      } catch {
        // A newer version's essential record: what follows cannot be understood here either.
        stopped = .unusableJournal(error)
        return effects + publish(published) + stopWaiting()
      }
      if let event = record.event {
        published.append(
          RecordedEvent(sequence: record.sequence, time: record.time, event: event))
      } else if fold.eventSequence > last {
        // A snapshot: others compacted the journal, and its events are not to be had any more.
        effects += publish(published) + [.skip(through: record.sequence)]
        published = []
      }
    }
    effects += publish(published)
    if fold.intents.request == nil { (isWaitingForLease, leaseEnd) = (false, nil) }
    if let token = state.token, token.generation != before.token?.generation {
      // Who waited for the session that ended must not be told of the one that others began.
      let left = hasEnded ? stopWaiting(.ended(.unauthenticated, by: nil)) : []
      return left + tokenTaken(token, at: now) + effects
    }
    return effects + (state.token == nil && before.token != nil ? wipeEnded() + stopWaiting() : [])
  }

  /// Another process has a newer token: it is everybody's.
  private mutating func tokenTaken(_ token: TokenFacts, at now: Moment) -> [SessionEffect] {
    var effects: [SessionEffect] = [.reloadToken(token.generation)]
    effects += tokenChanged(token, remaining: remaining(of: token, at: now), at: now)
    if flight?.isRefresh == true {
      effects += dropUnsettled(revoking: false)
      flight = nil
    }
    return effects + resumeWaiters(.refreshed)
  }

  // MARK: Small tools

  mutating func nextRequest() -> RequestNumber {
    requests += 1
    return RequestNumber(requests)
  }

  func publish(_ events: [RecordedEvent]) -> [SessionEffect] {
    events.isEmpty ? [] : [.publish(events)]
  }

  /// Lets everybody go on who waits for a token or a context.
  mutating func resumeAll(_ reply: SessionEffect.Reply) -> [SessionEffect] {
    defer { (switches, waiters, due) = ([], [], nil) }
    return resume(switches + waiters, reply)
  }

  func resume(_ callers: [Caller], _ reply: SessionEffect.Reply) -> [SessionEffect] {
    callers.map { .resume($0, reply) }
  }

  func rejection(_ event: SessionEvent.Kind, _ reason: SessionRejection.Reason) -> SessionProblem {
    .rejected(SessionRejection(state: state.kind, event: event, reason: reason))
  }

  /// Why a command that needs a signed-in user is not possible now.
  func notAuthenticated(_ event: SessionEvent.Kind) -> SessionProblem {
    if let stopped { return stopped }
    if !isRestored { return .locked }
    return rejection(event, state.kind == .expired ? .expired : .notAuthenticated)
  }

  private mutating func clearError() -> [SessionEffect] {
    lastProblem = nil
    return []
  }

  private mutating func fired(_ timer: SessionTimer, at now: Moment) -> [SessionEffect] {
    switch timer {
    case .refresh: refreshIsDue()
    case .expiry: expiryIsDue(at: now)
    case .lease: isWaitingForLease ? lookAtJournal(for: nil) : []
    case .restore: isRestored ? [] : [.readSecrets]
    case .commit: settleAgain(at: now)
    case .wipe: wipeAgain()
    }
  }
}

extension SessionState {
  /// Whether a user is signed in who has been since before, by the same sign-in.
  fileprivate func continues(_ before: SessionState) -> Bool {
    guard case .authenticated(let session) = self, case .authenticated(let old) = before else {
      return false
    }
    return session.user == old.user && session.since == old.since && session.method == old.method
  }
}
