@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit

// Each rule is written from the promise to callers. It uses what the run itself knows (the wire,
// the disk, the callers), and not the coordinator's own view.

extension CoordinatorRun {
  func require(
    _ rule: CoordinatorRule, _ condition: Bool, line: Int = #line, fileID: String = #fileID,
    _ message: () -> String
  ) throws(Falsified) {
    guard !condition, rules.contains(rule) else { return }
    throw Falsified("\(rule.rawValue): \(message())", fileID: fileID, line: line)
  }

  /// Checks the effects of one input.
  func check(_ effects: [SessionEffect], of input: SessionInput, after before: SessionFold)
    throws(Falsified)
  {
    let limit = 24 + 4 * callers.asked.count
    try require(.workIsBounded, effects.count <= limit) {
      "\(effects.count) effects of \(input)"
    }
    let places = effects.indices.filter {
      if case .commit = effects[$0] { true } else { effects[$0] == .readJournal }
    }
    try require(.commitIsLast, places.isEmpty || places == [effects.count - 1]) {
      "of \(effects.map(\.line))"
    }
    for case .resume(let caller, .failed(.rejected)) in effects where input.asks(for: caller) {
      let isAlone = effects.count == 1 && coordinator.fold == before
      try require(.rejectionsChangeNothing, isAlone) { "\(effects.map(\.line)) of \(input)" }
    }
    guard case .commit(let commit)? = effects.last else { return }
    try checkLegal(commit)
    try checkEnds(commit)
    try checkLease(commit)
  }

  private func checkLegal(_ commit: SessionCommit) throws(Falsified) {
    var (fold, model) = (coordinator.fold, SessionModel())
    for record in disk.journal.prefix(Int(fold.sequence)) {
      if case .event(let event) = record.content { model.take(event) }
    }
    for (sequence, content) in zip((fold.sequence + 1)..., commit.contents) {
      if case .event(let event) = content {
        let objection = model.objection(to: event)
        try require(.commitsAreLegal, objection == nil) {
          "\(event.line) is \(objection?.rawValue ?? "") while \(fold.state.line)"
        }
        model.take(event)
      }
      do {
        try fold.apply(SessionRecord(sequence: sequence, time: commit.time, content: content))
      } catch {
        try require(.commitsAreLegal, false) { "\(content.line): \(error)" }
      }
    }
  }

  /// Checks that an end follows its cause in the same batch, and has only one cause.
  ///
  /// - Requirement: POL-2, REF-6
  private func checkEnds(_ commit: SessionCommit) throws(Falsified) {
    var failure = profileSaid
    if commit.storing == nil, commit.announcement?.kind == .login {
      let login = wire.requests.last {
        $0.isLogin && !$0.isReauthentication && $0.fate == .answered
      }
      failure = login?.facts?.profileFailure
    }
    var expiry: ExpiryReason?
    var isOver = coordinator.state.kind != .authenticated
    for case .event(let event) in commit.contents {
      switch event {
      case .refreshFailed(let refresh): failure = refresh.failure
      case .sessionExpired(let expired):
        try require(.endsHaveOneCause, !isOver) { "expired after the end: \(commit.contents)" }
        (expiry, isOver) = (expired.reason, true)
        try checkCause(expired.reason, failure)
      case .logout(let logout):
        switch logout.reason {
        case .policy:
          try require(.endsHaveOneCause, expiry != nil) { "a policy's logout without an expiry" }
        case .userDeleted:
          try require(.endsHaveOneCause, failure?.kind == .userDeleted && expiry == nil) {
            "the user was not deleted"
          }
        default:
          try require(.endsHaveOneCause, failure == nil && expiry == nil) {
            "a user's logout next to another end"
          }
        }
        isOver = true
      case .login: isOver = false
      case .refreshSucceeded, .contextSwitched: break
      }
    }
    try checkPolicy(failure, expiry, commit)
    let passing: [RequestFailure.Kind] = [
      .noConnection, .noReply, .secretsUnavailable, .intercepted,
    ]
    let isUnanswered = failure.map { passing.contains($0.kind) } ?? false
    try require(.networkEndsNothing, !(isUnanswered && isOver)) {
      "\(failure?.description ?? "") is followed by an end"
    }
  }

  /// Checks that a session ends when its policy says so, and to the extent that it says.
  ///
  /// - Requirement: POL-2
  private func checkPolicy(
    _ failure: RequestFailure?, _ expiry: ExpiryReason?, _ commit: SessionCommit
  ) throws(Falsified) {
    let hasNothing = failure?.kind == .noRefreshToken
    // `nil` if the token came from another process, or before a restart.
    let isGood = deadline.flatMap { end in
      end.generation == coordinator.state.token?.generation ? now.uptime < end.uptime : nil
    }
    try require(.endsHaveOneCause, !(hasNothing && isGood == true && expiry != nil)) {
      "nothing can refresh the session, and a valid token is discarded"
    }
    let isFinal =
      failure?.kind == .rejected || failure?.kind == .otherUser || hasNothing && isGood == false
    // Nor does a refusal end a session whose user has just logged in again.
    let isRenewed = wire.requests.contains {
      $0.isReauthentication && coordinator.isHolding($0.number)
    }
    let isDoubted = isRenewed || overtakenUntil.map { now.uptime < $0 } ?? false
    try require(.endsHaveOneCause, !isFinal || expiry != nil || isDoubted) {
      "\(failure?.description ?? "") is final, and nothing ends"
    }
    try require(.endsHaveOneCause, !(expiry == .refreshRejected && isDoubted)) {
      "another process's request may be why the token is rejected, and the session ends"
    }
    guard let expiry else { return }
    var end = coordinator.policy.onRejection
    if expiry == .userInactive { end = .keep }
    if expiry == .attemptsExhausted {
      switch coordinator.policy.onExhaustion {
      case .stay: break
      case .end(let other): end = other
      case .endAfterExpiry(let other):
        end = other
        try require(.endsHaveOneCause, isGood != true) {
          "a failing server ends a session whose token is valid"
        }
      }
    }
    let isCleared = commit.contents.contains {
      if case .event(.logout) = $0 { true } else { false }
    }
    try require(.endsHaveOneCause, isCleared == (end == .clear)) {
      "\(expiry) leads to \(isCleared ? "a logout" : "no logout"), and the policy says \(end)"
    }
  }

  /// Records until when a peer's request that was presumed lost may still have been answered.
  mutating func noteOvertaken(by commit: SessionCommit) {
    if commit.announcement != nil { overtakenUntil = nil }
    guard let open = coordinator.fold.intents.request, open.sent.process != process,
      open.sequence != goneRequest
    else { return }
    for case .event(.refreshFailed(let failed)) in commit.contents
    where failed.request == open.sequence {
      overtakenUntil = now.uptime.addingSaturating(coordinator.policy.peerRequestGrace)
    }
  }

  private func checkCause(_ reason: ExpiryReason, _ failure: RequestFailure?) throws(Falsified) {
    var answered: UInt32 = 0
    var isRefreshable = false
    if case .authenticated(let session) = coordinator.state {
      (answered, isRefreshable) = (session.failures.answered, session.token.isRefreshable)
    }
    let isCaused: Bool
    switch reason {
    case .refreshRejected:
      let causes: [RequestFailure.Kind] = [.rejected, .noRefreshToken, .otherUser]
      isCaused = failure.map { causes.contains($0.kind) } ?? false
    case .userInactive: isCaused = failure?.kind == .userInactive
    case .attemptsExhausted:
      isCaused =
        failure?.kind.isAnswered == true && answered + 1 >= coordinator.policy.maximumAttempts
        && coordinator.policy.onExhaustion != .stay
    case .tokenExpired:
      let isDead = deadline.map { now.uptime >= $0.uptime } ?? true
      isCaused = failure == nil && !isRefreshable && isDead
    case .endedByServer:
      isCaused =
        failure == nil && !isRefreshable && coordinator.policy.onRefusedToken == .end
        && coordinator.state.token?.isLifetimeKnown == false
    case .inactivity:
      // The activity that a dead process had not stored is unknown to the next process.
      let policy = coordinator.policy
      let limit = policy.inactivityLimit.map { $0 - policy.useInterval } ?? .max
      isCaused = failure == nil && now.uptime.subtractingSaturating(lastUse) >= limit
    case .lifetimeEnded:
      let isLimited = coordinator.policy.absoluteLifetime != nil
      isCaused = failure == nil && (isLimited || now.uptime >= coordinator.statedEnd)
    default: isCaused = failure == nil && coordinator.activity == .loading
    }
    try require(.endsHaveOneCause, isCaused) {
      "\(reason) after \(failure?.description ?? "no failure"), \(coordinator.state.line)"
    }
  }

  /// Checks that a request is announced only if no request of another process is pending.
  ///
  /// - Requirement: REF-3
  private func checkLease(_ commit: SessionCommit) throws(Falsified) {
    guard let open = coordinator.fold.intents.request, open.sent.process == 77,
      commit.contents.contains(where: { if case .note(.requestSent) = $0 { true } else { false } })
    else { return }
    let end = leaseSeen.flatMap { $0.sequence == open.sequence ? $0.end : nil }
    try require(.leasesAreKept, now.uptime >= end ?? leaseEnd(of: open)) {
      "another process's request \(open.sequence) may still be answered"
    }
  }

  func checkSend(_ number: RequestNumber, _ request: SessionEffect.Request) throws(Falsified) {
    let base: Generation
    switch request {
    case .login:
      guard case .authenticated(let session) = coordinator.state else {
        return try require(.signedOutIsQuiet, wire[number]?.isReauthentication != true) {
          "a user is asked to log in again while \(coordinator.state.line)"
        }
      }
      if wire[number]?.isReauthentication == true { return }
      // A login may replace a session that is not renewed (STA-9).
      let isNeeded = coordinator.fold.intents.need?.needed.isOfCall == false
      let isNotRenewed =
        !coordinator.isTokenGood(at: now.uptime) && (session.failures.total > 1 || isNeeded)
      return try require(.signedOutIsQuiet, isNotRenewed) {
        "a login is sent while \(coordinator.state.line)"
      }
    case .refresh(let generation):
      try require(.lockedIsQuiet, !isLockJournaled || coordinator.policy.refreshesWhileLocked) {
        "a refresh is sent before the unlock, while \(coordinator.state.line)"
      }
      base = generation
    case .switchContext(_, let generation):
      try require(.lockedIsQuiet, !isLockJournaled) { "a switch is sent before the unlock" }
      base = generation
    }
    try require(.signedOutIsQuiet, coordinator.state.token?.generation == base) {
      "a request for \(base) is sent while \(coordinator.state.line)"
    }
    let others = wire.outstanding.filter {
      !$0.isLogin && $0.base == base && $0.number != number
    }
    try require(.oneFlight, others.isEmpty) {
      "request \(number.number) is sent next to \(others.map(\.number.number)), all with \(base)"
    }
  }

  /// Checks that a stored answer has arrived, and was requested with the token that is still
  /// current.
  func checkStored(_ number: RequestNumber, _ commit: SessionCommit) throws(Falsified) {
    guard let request = wire[number] else { return }
    try require(.baseDecides, request.fate == .answered || request.fate == .held) {
      "request \(number.number), \(request.fate), is stored"
    }
    guard !request.isLogin else {
      try require(.baseDecides, !request.isAbandoned) {
        "the login \(number.number) is stored, and its caller no longer waits"
      }
      guard request.isReauthentication else { return }
      let (named, state) = (request.facts?.user, disk.truth.state)
      return try require(.baseDecides, state.kind == .authenticated && named == state.user) {
        "the login \(number.number) of \(named?.short ?? "nobody") is stored while \(state.line)"
      }
    }
    let current = disk.truth.state.token?.generation
    let (named, state) = (request.facts?.user, disk.truth.state)
    try require(.baseDecides, named == nil || named == state.user || state.isAdopted) {
      "request \(number.number) is stored, and belongs to another user"
    }
    try require(.baseDecides, current == request.base) {
      "request \(number.number) was made with \(request.base), and the token is "
        + "\(current.map { "\($0)" } ?? "gone")"
    }
    try require(.signedOutIsQuiet, disk.truth.state.kind == .authenticated) {
      "request \(number.number) is stored while \(disk.truth.state.line)"
    }
  }

  /// Returns whether this answer to the request must be used, according to the disk.
  func isWanted(_ number: RequestNumber, _ facts: ResponseMetadata) -> Bool {
    guard let request = wire[number], request.fate == .sent, !disk.isUnreadable,
      !callers.isClosed, brokenCommits == 0, !request.isLogin
    else { return false }
    // The other process may have ended the session and begun another one with another user.
    let isOurs = facts.user == nil || facts.user == disk.truth.state.user
    return isOurs && disk.truth.state.token?.generation == request.base
  }

  func checkAnswered(_ number: RequestNumber, wanted: Bool) throws(Falsified) {
    guard let request = wire[number] else { return }
    if wanted, request.facts?.context != nil || !request.isSwitch {
      try require(.baseDecides, request.fate == .journaled) {
        "request \(number.number) was made with the current \(request.base) and is \(request.fate)"
      }
    }
    // That of a login of the signed-in user waits until no request is under way.
    try require(.baseDecides, request.fate != .answered || coordinator.isHolding(number)) {
      "the answer of request \(number.number) is neither journaled nor held nor given up"
    }
  }

  /// Checks that an answer that is discarded after the session's end is revoked at the server.
  ///
  /// - Requirement: LOG-10
  func checkDiscard(_ number: RequestNumber, revoking: Bool) throws(Falsified) {
    guard let request = wire[number], request.fate == .answered || request.fate == .held else {
      return
    }
    guard !request.isAdoption else {
      return try require(.signedOutIsQuiet, !revoking) { "an old layer's tokens are revoked" }
    }
    let isLeft = coordinator.state.kind == .authenticated || isEndedHereOnly(request.base)
    try require(.signedOutIsQuiet, revoking || isLeft) {
      "the answer of request \(number.number) is given up, and the server is not notified"
    }
  }

  /// Whether a user's logout ended the session of this token, and left the token valid at the
  /// server.
  ///
  /// - Requirement: OUT-7
  private func isEndedHereOnly(_ generation: Generation) -> Bool {
    let known = disk.journal.prefix(Int(coordinator.fold.sequence)).map(\.content)
    let announced = known.firstIndex { content in
      if case .event(let event) = content {
        event.announcedToken?.generation == generation
      } else {
        false
      }
    }
    return announced.map { Array(known[($0 + 1)...]).leavesTokens } ?? false
  }

  mutating func publish(_ events: [RecordedEvent]) throws(Falsified) {
    for event in events {
      let known = disk.journal.prefix(Int(coordinator.fold.sequence))
      let next = known.first { $0.sequence > published && $0.event != nil }
      try require(.publishedOnce, next?.sequence == event.sequence && next?.event == event.event) {
        "published \(event.sequence), and next is \(next.map { "\($0.sequence)" } ?? "nothing")"
      }
      published = event.sequence
    }
  }
}

extension CoordinatorRun {
  /// Skips events: only unpublished events may be skipped, and only as far as the coordinator
  /// knows.
  mutating func skip(through sequence: UInt64) throws(Falsified) {
    let known = disk.journal.prefix(Int(coordinator.fold.sequence))
    let missed = known.contains {
      $0.sequence > published && $0.sequence <= sequence && $0.event != nil
    }
    try require(.publishedOnce, missed && sequence <= coordinator.fold.sequence) {
      "skipped through \(sequence), published \(published)"
    }
    published = known.last { $0.sequence <= sequence && $0.event != nil }?.sequence ?? published
  }
}

extension SessionInput {
  /// Returns whether this input is a question of the caller.
  func asks(for caller: Caller) -> Bool {
    switch self {
    case .login(caller, _), .reauthenticate(caller, _), .refresh(caller, _, _),
      .switchContext(caller), .logout(caller, _):
      true
    default: false
    }
  }
}

extension CoordinatorWire.Request {
  var isSwitch: Bool {
    if case .switchContext = request { true } else { false }
  }
}

extension CoordinatorCallers {
  /// Whether a close was answered.
  var isClosed: Bool {
    asked.contains { asked in
      asked.question == .close
        && (asked.replies.contains(.closed) || asked.replies.contains(.failed(.dropped)))
    }
  }
}

extension SessionState {
  /// Whether its user was named by the app's old layer; an answer may name the same user
  /// differently.
  fileprivate var isAdopted: Bool {
    if case .authenticated(let session) = self { session.method == .adoption } else { false }
  }
}
