@_spi(Internals) import SessionCore
@_spi(Internals) package import SessionTestKit

extension CoordinatorRun {
  /// Opens the session for the first time.
  package mutating func open() throws(Falsified) {
    isOpen = true
    var facts = facts(isHolderGone: false)
    facts.notes = [
      .opened(SessionNote.Opened(process: process, boot: nil, uptime: now.uptime))
    ]
    published = coordinator.fold.eventSequence
    try tell(.opened(facts))
  }

  /// Makes a move, and checks every rule.
  package mutating func make(_ move: CoordinatorMove) throws(Falsified) {
    lastEffects = []
    switch move {
    case .ask(let question):
      try tell(
        callers.input(
          question, generation: coordinator.fold.generation,
          ends: question == .foreground ? nil : ends(for: question), failures: wire.failures))
    case .askDuringCommit(let question): interposed.append(question)
    case .cancel(let caller): try cancel(caller)
    case .clearError: try tell(.clearError)
    case .answer(let number, let facts): try answer(number, facts)
    case .created(let number):
      wire.discard(number)
      try tell(.accountCreated(number))
    case .leave(let number, let problem): try leave(number, problem)
    case .profile(let failure): try profile(failure)
    case .use:
      if coordinator.state.kind == .authenticated { lastUse = max(lastUse, now.uptime) }
      try tell(.used(now.uptime))
    case .checkFailed(let number):
      checks.removeAll { $0 == number }
      try tell(.checkFailed(number))
    case .callNeedsUser:
      let challenge = RequestFailure(
        kind: .userNeeded, status: 401, serverCode: "insufficient_user_authentication")
      let generation = coordinator.state.token?.generation ?? .none
      try tell(
        .userNeeded(
          SessionNote.UserNeeded(generation: generation, isOfCall: true, failure: challenge)))
    case .fail(let number, let failure, let jitter):
      wire.fail(number, failure, jitter: jitter)
      try tell(.failed(number, failure, jitter: jitter))
    case .again(let number): try again(number)
    case .revoked(let generation, let outcome):
      revoking.removeAll { $0 == generation }
      try tell(.revoked(generation, outcome, status: 0))
    case .fire(let timer): try fire(timer)
    case .early(let timer): if timers.removeValue(forKey: timer) != nil { try tell(.fired(timer)) }
    case .pass(let milliseconds): pass(milliseconds)
    case .jump(let milliseconds): try jump(milliseconds)
    case .breakCommits(let count, let afterStoring, let forGood):
      (brokenCommits, breaksAfterStoring, breaksForGood) = (count, afterStoring, forGood)
    case .breakWipe: breaksWipe = true
    case .lock(let isLocked): disk.items.facts.isLocked = isLocked
    case .damage(let item, let condition): disk.damage(item, condition)
    case .rollBack(let generation): disk.rollBack(to: generation)
    case .foreign(let act): disk.happen(act, at: now)
    case .restart(let isHolderGone): try restart(isHolderGone: isHolderGone)
    }
  }

  private mutating func answer(_ number: RequestNumber, _ facts: ResponseMetadata) throws(Falsified)
  {
    let isWanted = isWanted(number, facts)
    wire.answer(number, facts, at: now.uptime)
    try tell(.answered(number, facts))
    try checkAnswered(number, wanted: isWanted)
  }

  private mutating func leave(
    _ number: RequestNumber, _ problem: WebSignInProblem
  ) throws(Falsified) {
    wire.leave(number, problem)
    try tell(.notSignedIn(number, problem))
    // Callers that waited for a newer token get a request now, and others may have appended
    // anything.
    let isQuiet = lastEffects.allSatisfy { effect in
      guard case .commit(let commit) = effect else { return true }
      return commit.contents.allSatisfy { content in
        switch content {
        case .note(.opened), .note(.requestSent): true
        default: false
        }
      }
    }
    try require(.rejectionsChangeNothing, isQuiet) {
      "a page that brought nothing led to \(lastEffects.map(\.line))"
    }
  }

  private mutating func profile(_ failure: RequestFailure?) throws(Falsified) {
    guard !profiles.isEmpty else { return }
    profileSaid = failure
    try tell(.profileRead(profiles.removeFirst(), failure))
    profileSaid = nil
  }

  private mutating func again(_ number: RequestNumber) throws(Falsified) {
    guard let request = wire[number] else { return }
    let (before, count) = (coordinator, disk.journal.count)
    if case .failed(let failure, let jitter) = request.fate {
      try tell(.failed(number, failure, jitter: jitter))
    } else if case .notSignedIn(let problem) = request.fate {
      try tell(.notSignedIn(number, problem))
    } else if let facts = request.facts {
      try tell(.answered(number, facts))
    }
    guard request.fate != .held else { return }
    try require(.duplicatesAreHarmless, coordinator == before && disk.journal.count == count) {
      "request \(number.number) was over, and its second reply led to \(lastEffects.map(\.line))"
    }
  }

  private mutating func cancel(_ caller: Caller) throws(Falsified) {
    var (cancelled, failed) = (coordinator, coordinator)
    let effects = cancelled.handle(.cancelled(caller), at: now)
    // The other callers go on as if the login, for which none of them waits, had failed.
    let login = wire.outstanding.first { $0.request == .login(caller) }
    let expected =
      login.map {
        failed.handle(.failed($0.number, RequestFailure(kind: .noConnection), jitter: 0), at: now)
      } ?? []
    // A response that no caller waits for is given up.
    let held = wire.requests.first {
      $0.request == .login(caller) && $0.isReauthentication && $0.fate == .answered
    }
    let others = effects.without(caller).filter { effect in
      held.map { effect != .discard($0.number, revoking: true) } ?? true
    }
    let due = expected.without(caller)
    try require(.cancelSparesOthers, others == due) {
      "cancelling caller \(caller.number) leads to \(others.map(\.line)), and not to "
        + "\(due.map(\.line))"
    }
    callers.cancel(caller)
    wire.abandon(caller)
    try tell(.cancelled(caller))
  }

  private mutating func fire(_ timer: SessionTimer) throws(Falsified) {
    guard let uptime = timers.removeValue(forKey: timer) else { return }
    pass(max(0, uptime.subtractingSaturating(now.uptime)))
    try tell(.fired(timer))
    if timer == .restore { try checkRestored() }
  }

  mutating func pass(_ milliseconds: Int64) {
    if milliseconds > 0 { sendsAtOnce = 0 }
    now = ClockReading(
      time: now.time.advanced(by: milliseconds), uptime: now.uptime.addingSaturating(milliseconds))
  }

  private mutating func jump(_ milliseconds: Int64) throws(Falsified) {
    now = ClockReading(time: now.time.advanced(by: milliseconds), uptime: now.uptime)
    try checkRest()
  }

  /// Restarts the process: its memory is lost, and answers to its requests reach no caller.
  private mutating func restart(isHolderGone: Bool) throws(Falsified) {
    guard !disk.isUnreadable else { return }
    coordinator = SessionCoordinator(policy: coordinator.policy, fold: disk.truth)
    (timers, revoking, inbox, interposed) = ([:], [], [], [])
    checks = []
    profiles = []
    (brokenCommits, breaksWipe) = (0, false)
    callers.lose()
    wire.lose()
    (deadline, leaseSeen, overtakenUntil) = (nil, nil, nil)
    goneRequest = isHolderGone ? coordinator.fold.intents.request?.sequence : nil
    process += 1
    seen = disk.journal.count
    isOpen = true
    published = coordinator.fold.eventSequence
    var facts = facts(isHolderGone: isHolderGone)
    facts.notes = [
      .opened(SessionNote.Opened(process: process, boot: nil, uptime: now.uptime))
    ]
    try tell(.opened(facts))
    try checkRestored()
  }
}

extension [SessionEffect] {
  /// The effects without replies to the caller.
  fileprivate func without(_ caller: Caller) -> [SessionEffect] {
    filter { if case .resume(caller, _) = $0 { false } else { true } }
  }
}

extension CoordinatorDisk {
  /// Applies an act of another process; an act that is illegal for it is ignored.
  mutating func happen(_ act: CoordinatorMove.Foreign, at now: ClockReading) {
    guard !isUnreadable else { return }
    let contents = contents(of: act, at: now)
    var fold = truth
    for content in contents {
      guard case .event(let event) = content else { continue }
      let record = SessionRecord(sequence: 0, time: now.time, content: .event(event))
      do { try fold.apply(record) } catch { return }
    }
    if case .diesWithToken = act {
      // It has sent its request, so no other process's request is open.
      guard truth.intents.request?.sent.process ?? 77 == 77 else { return }
      if truth.intents.request == nil { happen(.sends(deadlineIn: 0), at: now) }
      for case .event(let event) in contents { store(event, context: nil) }
      return
    }
    let untold = items.facts.untold(of: truth)
    append(contents, at: now.time)
    if act == .diesLoggingOut { return }
    for case .event(let event) in contents {
      switch event {
      case .login(let login):
        // A process that opens the journal keeps the pending revocation of a logout before it logs
        // a user in.
        if let untold { keepRevocation(of: untold) }
        store(event, context: login.context)
      case .refreshSucceeded: store(event, context: nil)
      case .contextSwitched(let change): store(event, context: change.context)
      case .refreshFailed: break
      case .sessionExpired: wipe(.token, leaving: false)
      case .logout: wipe(.session, leaving: false)
      }
    }
  }

  private func contents(of act: CoordinatorMove.Foreign, at now: ClockReading)
    -> [SessionRecord.Content]
  {
    let (next, current) = (truth.generation.next, truth.state.token?.generation ?? .none)
    let request = truth.intents.request?.sequence ?? 0
    func token(_ lifetime: Int64) -> TokenMetadata {
      .plain(next.number, issuedAt: now.time, lifetime: .milliseconds(lifetime))
    }
    switch act {
    case .sends(let deadline):
      guard truth.state.kind == .authenticated else { return [] }
      return [
        .note(
          .requestSent(
            SessionNote.RequestSent(
              kind: .refresh, generation: current, trigger: .schedule, attempt: 1, process: 77,
              deadline: now.time.advanced(by: deadline))))
      ]
    case .rotates(let lifetime), .diesWithToken(let lifetime):
      return [
        .event(
          .refreshSucceeded(
            SessionEvent.RefreshSucceeded(
              token: token(lifetime), trigger: .schedule, attempt: 1, isRotated: true,
              request: request)))
      ]
    case .fails(let kind):
      return [.event(.refreshFailed(kind, of: current.number, request: request))]
    case .switches:
      return [.event(.switched(to: .plainPrincipal, token: next.number))]
    case .expires(let reason): return [.event(.expired(reason))]
    case .logsOut: return [.event(.loggedOut())]
    case .diesLoggingOut:
      guard truth.state.token != nil else { return [] }
      return [.event(.loggedOut()), .note(.revocationPending(current))]
    case .logsIn(let user, let lifetime):
      return [
        .event(
          .login(
            SessionEvent.Login(
              user: user, method: .password, token: token(lifetime), context: .plainTeacher)))
      ]
    case .notes(let note): return [.note(note)]
    case .writes(let unknown): return [.unknown(unknown)]
    }
  }
}
