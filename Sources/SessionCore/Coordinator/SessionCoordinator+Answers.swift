extension SessionCoordinator {
  mutating func answered(_ number: RequestNumber, _ facts: ResponseMetadata, at now: ClockReading)
    -> [SessionEffect]
  {
    // A late answer: the session ended, or another process came first. Nothing of it is stored;
    // where nobody is signed in any more, the server is told that its tokens are not wanted.
    guard flight?.number == number else { return giveUp(number) }
    flight?.isAnswered = true
    // One that comes a second time came when it came first: its token lives no longer for that.
    let arrival = TokenRequest.ReceivedResponse(number: number, facts: facts, moment: now)
    return settle(flight?.unsettled ?? arrival, at: now)
  }

  private mutating func giveUp(_ number: RequestNumber) -> [SessionEffect] {
    noteUnused(number)
    let isAbandoned = abandoned.remove(number) != nil
    defer { unrevoked.remove(number) }
    return [discard(number, revoking: isAbandoned || state.kind != .authenticated)]
  }

  /// Forgets an answer; an adopted token is not ours to revoke, nor is one of a session that was ended on this
  /// device only.
  func discard(_ number: RequestNumber, revoking: Bool) -> SessionEffect {
    let isSpared = adoptions.contains(number) || unrevoked.contains(number)
    return .discard(number, revoking: revoking && !isSpared)
  }

  /// Decides what an answer means in the state as it is now.
  mutating func settle(_ arrival: TokenRequest.ReceivedResponse, at now: ClockReading)
    -> [SessionEffect]
  {
    // Others may have ended what it was for while it was being journaled.
    guard let flight else { return giveUp(arrival.number) }
    switch flight.purpose {
    case .login(let caller, let method):
      return settleLogin(flight, caller, method, arrival, at: now)
    case .refresh(let trigger, let attempt):
      return settleRefresh(flight, trigger, attempt: attempt, arrival, at: now)
    case .switchContext:
      return settleSwitch(flight, arrival, at: now)
    }
  }

  /// The token is durable and journaled: waiters first, then subscribers.
  mutating func settled(
    _ arrival: TokenRequest.ReceivedResponse, publishing events: [RecordedEvent],
    at now: ClockReading
  ) -> [SessionEffect] {
    if let landed = flight, landed.isLogin, state.token == nil,
      let failure = arrival.facts.profileFailure
    {
      return loginEnded(landed, by: failure, publishing: events)
    }
    guard let landed = flight, let token = state.token else { return publish(events) }
    flight = nil
    lastProblem = nil
    let age = now.uptime.subtractingSaturating(arrival.moment.uptime)
    var effects = tokenChanged(
      token, remaining: arrival.facts.lifetime.subtractingSaturating(age), at: now)
    effects.append(.cancel(.commit))
    switch landed.purpose {
    case .login(let caller, _):
      owesProfile = false
      // What it stored is of this version, and is here.
      (isRestored, needsUpdate) = (true, false)
      effects += beginUse(at: now) + beginLifetime(at: now)
      effects += takeSessionEnd(arrival.sessionEnd)
      effects.append(.resume(caller, .signedIn))
    case .switchContext:
      effects += takeSessionEnd(arrival.sessionEnd)
      let isNamed = arrival.facts.namedContext != nil
      effects += resume(
        landed.owner.map { [$0] } ?? [],
        isNamed ? .switched : .failed(.request(RequestFailure(kind: .unreadable))))
    case .refresh: effects += takeSessionEnd(arrival.sessionEnd)
    }
    return effects + resumeWaiters(.refreshed) + publish(events) + startSwitch(at: now)
  }

  /// The answer is here and the journal is not writable.
  ///
  /// A login is undone. Another token is kept and journaled later, since the one before it may be
  /// dead at the server; nobody waits for that.
  ///
  /// - Requirement: RES-6
  mutating func settlingFailed(
    _ arrival: TokenRequest.ReceivedResponse, _ obstacle: StorageObstacle, at now: ClockReading
  ) -> [SessionEffect] {
    guard let stuck = flight else { return [] }
    if case .login(let caller, _) = stuck.purpose {
      flight = nil
      lastProblem = .storage
      return wipeEnded() + [
        discard(stuck.number, revoking: true), .resume(caller, .failed(.storage)),
      ]
    }
    flight?.unsettled = arrival
    // The same answer may have been stored by an earlier attempt.
    let isStored = obstacle.isStored || stuck.obstacle?.isStored == true
    flight?.obstacle = StorageObstacle(cause: obstacle.cause, isStored: isStored)
    if !closers.isEmpty { flight?.failuresAtClose += 1 }
    let owner: [SessionEffect] = stuck.owner.map { [.resume($0, .failed(.unsettled))] } ?? []
    defer { switches = [] }
    return owner + resumeWaiters(.failed(.unsettled)) + resume(switches, .failed(.storage))
      + [.schedule(.commit, uptime: now.uptime.addingSaturating(retryPause))]
  }

  /// The answer can never be journaled, such as one larger than any record: it cannot be read.
  mutating func settlingIsImpossible(at now: ClockReading) -> [SessionEffect] {
    guard let flight else { return [] }
    let unreadable = RequestFailure(kind: .unreadable)
    guard case .login(let caller, _) = flight.purpose else {
      return [.discard(flight.number, revoking: false)] + fail(unreadable, jitter: 0, at: now)
    }
    self.flight = nil
    lastProblem = .request(unreadable)
    return wipeEnded() + [
      discard(flight.number, revoking: true), .resume(caller, .failed(.request(unreadable))),
    ]
  }

  mutating func settleAgain(at now: ClockReading) -> [SessionEffect] {
    guard let arrival = flight?.unsettled else { return [] }
    return settle(arrival, at: now)
  }

  // MARK: Sending

  /// The intent is durable: now the request may leave, or after one more read of the journal.
  mutating func send(note: UInt64, after durable: PendingCommit, at now: ClockReading)
    -> [SessionEffect]
  {
    flight?.note = note
    guard flight?.isHeldBack == true else { return send() }
    return holdBack(asked: durable.moment.uptime, at: now)
  }

  func send() -> [SessionEffect] {
    guard let flight else { return [] }
    switch flight.purpose {
    case .refresh: return [.send(flight.number, .refresh(flight.base))]
    case .switchContext(let caller):
      return [.send(flight.number, .switchContext(caller, flight.base))]
    case .login: return []
    }
  }

  /// Others appended before the intent was durable: what still waits begins anew.
  mutating func sendAgain() -> [SessionEffect] {
    guard let grounded = flight else { return [] }
    flight = nil
    switch grounded.purpose {
    case .refresh(let trigger, _): if grounded.base == state.token?.generation { due = trigger }
    case .switchContext(let caller): switches.insert(caller, at: 0)
    case .login: break
    }
    return []
  }

  /// The intent, or the end of a request, could not be journaled: the session is what it was.
  mutating func sendingFailed(at now: ClockReading) -> [SessionEffect] {
    let owner: [SessionEffect] = flight?.owner.map { [.resume($0, .failed(.storage))] } ?? []
    if let note = flight?.note, note != 0 { givenUp = note }
    flight = nil
    refreshTrigger = .retry
    return owner + resumeAll(.failed(.storage))
      + [.schedule(.refresh, uptime: now.uptime.addingSaturating(retryPause * 5))]
  }

  mutating func resumeWaiters(_ reply: SessionEffect.Reply) -> [SessionEffect] {
    defer { (waiters, due) = ([], nil) }
    return resume(waiters, reply)
  }
}
