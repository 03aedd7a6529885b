@_spi(Internals) import SessionCore
@_spi(Internals) package import SessionTestKit

extension CoordinatorRun {
  /// Checks the rules that hold when no input is being handled.
  mutating func checkRest() throws(Falsified) {
    try checkFold()
    try checkDeadline()
    try checkAhead()
    try checkWaiting()
    if let open = coordinator.fold.intents.request, open.sent.process == 77 {
      if leaseSeen?.sequence != open.sequence { leaseSeen = (open.sequence, leaseEnd(of: open)) }
    } else {
      leaseSeen = nil
    }
    let last = disk.journal.prefix(Int(coordinator.fold.sequence)).last { $0.event != nil }
    try require(.publishedOnce, !isOpen || published == last?.sequence ?? 0) {
      "event \(last?.sequence ?? 0) is folded, and published is \(published)"
    }
  }

  /// Returns the uptime until which a process waits for another one's request that it sees now for
  /// the first time.
  ///
  /// Only the first sight of a request uses the civil time.
  func leaseEnd(of request: OpenIntents.Request) -> Int64 {
    let left = request.sent.deadline.milliseconds(since: now.time)
    return now.uptime.addingSaturating(min(max(0, left), coordinator.policy.requestTimeout))
  }

  private func checkFold() throws(Falsified) {
    let isCaughtUp = UInt64(disk.journal.count) == coordinator.fold.sequence
    guard isCaughtUp, !disk.isUnreadable else { return }
    if coordinator.state.kind != .authenticated, coordinator.activity != .loading, !isStopped {
      try require(
        .signedOutIsQuiet, disk.items.facts.token != .present || timers[.wipe] != nil
      ) { "the token item is \(disk.items.facts.token) while \(coordinator.state.line)" }
    }
    try require(.stateIsTheFold, coordinator.fold == disk.truth) {
      "\(coordinator.state.line), and the journal says \(disk.truth.state.line)"
    }
    let disagreement = disk.model.disagreement(with: coordinator.fold)
    try require(.stateIsTheFold, disagreement == nil) { disagreement ?? "" }
  }

  /// Checks that a session restored after a restart has the token that the journal names, or a
  /// newer one.
  func checkRestored() throws(Falsified) {
    guard let token = coordinator.state.token, coordinator.activity != .loading, !isStopped else {
      return
    }
    let stored = disk.items.facts
    try require(
      .restoredIsStored, stored.token == .present && stored.generation >= token.generation
    ) { "\(coordinator.state.line), and the token item is \(stored.token), \(stored.generation)" }
  }

  private func checkDeadline() throws(Falsified) {
    guard let token = coordinator.state.token, isOpen, !isStopped else { return }
    if let deadline, deadline.generation == token.generation {
      try require(.clockJumpsChangeNothing, coordinator.tokenDeadline == deadline.uptime) {
        "\(token.generation) expires at \(coordinator.tokenDeadline), its response stated "
          + "\(deadline.uptime)"
      }
      return
    }
    guard coordinator.activity != .loading else { return }
    let latest = now.uptime.addingSaturating(token.lifetimeMilliseconds)
    try require(.clockJumpsChangeNothing, coordinator.tokenDeadline <= latest) {
      "\(token.generation) is valid for \(token.lifetimeMilliseconds) ms and expires at "
        + "\(coordinator.tokenDeadline)"
    }
  }

  /// Checks that no caller waits for a token while no user is logged in.
  private func checkWaiting() throws(Falsified) {
    guard coordinator.state.kind != .authenticated, interposed.isEmpty else { return }
    let left = callers.waiting.filter { $0.question.needsToken }
    try require(.waitersFinish, left.isEmpty) {
      "\(left.map { "caller \($0.caller.number) (\($0.question.line))" }) waits while "
        + coordinator.state.line
    }
  }

  /// Checks that a refreshable session will be refreshed: a timer, a request or a lease is pending.
  private func checkAhead() throws(Falsified) {
    guard let token = coordinator.state.token, isOpen, !isStopped else { return }
    if coordinator.activity == .loading {
      try require(.refreshIsAlwaysDue, timers[.restore] != nil) {
        "the stored items were not readable, and no later read is planned"
      }
      return
    }
    // If our login is still in progress after another process's login, the refresh waits for it.
    let isUnderWay =
      [.refreshing, .switching].contains(coordinator.activity) || coordinator.isSigningIn
      || timers[.commit] != nil
    let isAhead =
      token.isRefreshable
      ? timers[.refresh] != nil || timers[.lease] != nil : timers[.expiry] != nil
    // A held refresh waits for the unlock.
    let isHeld = coordinator.isLocked && !coordinator.policy.refreshesWhileLocked
    // Without a refresh before expiry the session waits for a need, such as a call (REF-12).
    let needsTimer = coordinator.policy.refreshThreshold != nil || !token.isRefreshable
    try require(.refreshIsAlwaysDue, isAhead || isUnderWay || isHeld || !needsTimer) {
      "\(coordinator.state.line), \(coordinator.activity), timers "
        + "\(timers.keys.map { "\($0)" }.sorted())"
    }
    // An answer may wait to be stored, and a request may wait for one more read of the journal.
    let isWaiting = timers[.commit] != nil || timers[.lease] != nil
    try require(
      .refreshIsAlwaysDue, !isUnderWay || !wire.outstanding.isEmpty || isWaiting
    ) { "\(coordinator.activity), and nothing is on the wire" }
  }

  /// Whether the app is locked, according to the records that the coordinator knows.
  var isLockJournaled: Bool {
    let known = disk.journal.prefix(Int(coordinator.fold.sequence))
    let start = known.lastIndex { [.login, .logout, .sessionExpired].contains($0.event?.kind) }
    for record in known[(start ?? 0)...].reversed() where coordinator.state.token != nil {
      if case .note(.locked) = record.content { return true }
      if case .note(.unlocked) = record.content { return false }
    }
    return false
  }

  var isStopped: Bool { callers.isClosed || disk.isUnreadable }

  mutating func resume(_ caller: Caller, _ reply: SessionEffect.Reply) throws(Falsified) {
    guard let asked = callers[caller] else { return }
    callers.reply(caller, reply)
    try require(.everyCallerOnce, asked.replies.isEmpty || asked.isCancelled) {
      "caller \(caller.number) received \(asked.replies.map(\.line)) and receives \(reply.line)"
    }
    let newer = coordinator.fold.generation > asked.generation
    switch reply {
    case .signedIn:
      if case .reauthenticate = asked.question { try checkSameSession(asked, reply) }
      try require(.repliesAreTrue, coordinator.state.kind == .authenticated && newer) {
        "caller \(caller.number) receives \(reply.line) while \(coordinator.state.line)"
      }
    case .notAdopted:
      try require(.repliesAreTrue, coordinator.fold.generation > .none) {
        "caller \(caller.number) receives \(reply.line), and there has been no token"
      }
    case .switched:
      try checkSameSession(asked, reply)
      try require(.repliesAreTrue, coordinator.state.kind == .authenticated && newer) {
        "caller \(caller.number) receives \(reply.line) while \(coordinator.state.line)"
      }
    case .refreshed:
      try require(.lockedIsQuiet, !isLockJournaled) {
        "caller \(caller.number) receives a token before the unlock"
      }
      try checkSameSession(asked, reply)
      var isGood = coordinator.state.kind == .authenticated && newer
      switch asked.question {
      case .refresh(_, .ifExpired), .refresh(_, .unlessGood), .foreground:
        isGood = isGood || coordinator.isTokenGood(at: now.uptime)
      case .refresh(_, .unlessNewer(let used)):
        isGood =
          isGood || coordinator.fold.generation > used && coordinator.isTokenGood(at: now.uptime)
      default: break
      }
      try require(.repliesAreTrue, isGood) {
        "caller \(caller.number) receives a newer token while \(coordinator.state.line)"
      }
    case .closed: try checkClosing()
    case .alreadyLoggedOut:
      let truth = disk.truth.state
      try require(.repliesAreTrue, isStopped || truth.kind == .unauthenticated) {
        "caller \(caller.number) receives \(reply.line), and the journal says \(truth.line)"
      }
    case .failed(.rejected(let rejection))
    where rejection.reason == .notAuthenticated || rejection.reason == .expired:
      let truth = disk.truth.state
      try require(.repliesAreTrue, isStopped || truth.kind != .authenticated) {
        "caller \(caller.number) receives \(reply.line), and the journal says \(truth.line)"
      }
    case .failed(.rejected(let rejection))
    where rejection.reason == .alreadyAuthenticated && !wire.hasLogin(of: caller):
      // A login that was sent is rejected by the state at the time of its answer.
      let truth = disk.truth.state
      try require(.repliesAreTrue, isStopped || truth.kind == .authenticated) {
        "caller \(caller.number) receives \(reply.line), and the journal says \(truth.line)"
      }
    case .accountCreated:
      try require(.repliesAreTrue, asked.question == .login(.registration)) {
        "caller \(caller.number) receives \(reply.line), and asked for \(asked.question.line)"
      }
    case .failed(.webSignIn(let problem)):
      let isOutcome = wire.requests.contains {
        $0.request == .login(caller) && $0.fate == .notSignedIn(problem)
      }
      try require(.repliesAreTrue, isOutcome) {
        "caller \(caller.number) receives \(reply.line), and no page returned that"
      }
      // A page that the user leaves is no failure; a silent sign-in shows no failure.
      let isShown = asked.question == .login(.interactive) && !problem.isQuiet
      try require(
        .repliesAreTrue, (coordinator.loginError == .webSignIn(problem)) == isShown
      ) {
        "caller \(caller.number) receives \(reply.line), and the session shows "
          + "\(coordinator.activity)"
      }
    case .unlocking(let number): checks.append(number)
    case .current where asked.question == .lock:
      try require(.repliesAreTrue, isLockJournaled) { "a lock is not journaled" }
    case .current where asked.question == .beginUnlock || asked.isCheck:
      try require(.repliesAreTrue, !isLockJournaled) { "an unlock is not journaled" }
    case .current:
      let isKnown = coordinator.activity != .loading || asked.question != .unlock
      try require(.repliesAreTrue, isStopped || isKnown) {
        "caller \(caller.number) receives \(reply.line), and the user is not known"
      }
    case .failed(.request(let failure)): try checkAttempted(asked, failure)
    case .loggedOut, .failed:
      break
    }
  }

  /// Checks that an attempt was made for this caller, since a failure without an answer delays
  /// nothing.
  ///
  /// A rejection that is doubted appears as `noReply`, and delays later attempts.
  private func checkAttempted(
    _ asked: CoordinatorCallers.Asked, _ failure: RequestFailure
  ) throws(Falsified) {
    let unanswered: [RequestFailure.Kind] = [.noConnection, .intercepted, .secretsUnavailable]
    guard asked.question.needsToken, unanswered.contains(failure.kind) else { return }
    try require(.networkPutsNothingOff, wire.failures > asked.failures) {
      "caller \(asked.caller.number) receives \(failure), and no attempt was made since it asked"
    }
  }

  /// Checks that a close waits for answers: an answer may contain the only token that the server
  /// accepts.
  private func checkClosing() throws(Falsified) {
    guard !disk.isUnreadable, let token = coordinator.state.token else { return }
    let awaited = wire.outstanding.filter { !$0.isLogin && $0.base == token.generation }
    try require(.closingWaits, awaited.isEmpty) {
      "closed while \(awaited.map(\.number.number)) may still be answered"
    }
  }

  /// Checks that a success in one session is not reported to a caller of the session before.
  private func checkSameSession(
    _ asked: CoordinatorCallers.Asked, _ reply: SessionEffect.Reply
  ) throws(Falsified) {
    try require(.repliesAreTrue, asked.ends == nil || ends == asked.ends) {
      "caller \(asked.caller.number) asked in a session that has ended, and receives \(reply.line) "
        + "from the next: \(coordinator.state.line)"
    }
  }

  // MARK: The end

  /// Ends all faults, answers the requests, fires the timers, and checks that no caller still
  /// waits.
  package mutating func finish() throws(Falsified) {
    (brokenCommits, breaksWipe, interposed) = (0, false, [])
    disk.items.facts.isLocked = false
    let policy = coordinator.policy
    let limit = now.uptime.addingSaturating(
      (policy.requestTimeout + policy.longestRetryDelay + 2_000).multipliedSaturating(by: 3))
    try settle(before: limit)
    let left = callers.waiting
    try require(.waitersFinish, left.isEmpty) {
      "\(left.map { "caller \($0.caller.number) (\($0.question.line))" }) still waits, \(line)"
    }
    // A close waits for outstanding requests.
    if !callers.isClosed { try make(.ask(.close)) }
    try settle(before: limit)
    let silent = callers.waiting
    try require(.everyCallerOnce, silent.isEmpty) {
      "closed, and \(silent.map { "caller \($0.caller.number)" }) never received a reply"
    }
  }

  private mutating func settle(before limit: Int64) throws(Falsified) {
    var rounds = 0
    while !callers.waiting.isEmpty, rounds < 500, let move = nextOfFinish(before: limit) {
      rounds += 1
      try make(move)
    }
  }

  private func nextOfFinish(before limit: Int64) -> CoordinatorMove? {
    if let check = checks.first { return .checkFailed(check) }
    if let request = wire.outstanding.first {
      return .answer(request.number, .login(coordinator.state.user ?? "ada"))
    }
    if let generation = revoking.first { return .revoked(generation, .revoked) }
    let next = timers.min { ($0.value, "\($0.key)") < ($1.value, "\($1.key)") }
    guard let next, next.value <= limit else { return nil }
    return .fire(next.key)
  }
}

extension Int64 {
  fileprivate func multipliedSaturating(by other: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? .max : product
  }
}
