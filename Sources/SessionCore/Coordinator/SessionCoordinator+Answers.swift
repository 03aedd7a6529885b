extension SessionCoordinator {
  mutating func answered(_ number: RequestNumber, _ facts: AnswerFacts, at now: Moment)
    -> [SessionEffect]
  {
    // A late answer: the session ended, or another process came first. Nothing of it is stored;
    // where nobody is signed in any more, the server is told that its tokens are not wanted.
    guard flight?.number == number else {
      return [.discard(number, revoking: state.kind != .authenticated)]
    }
    return settle(SessionFlight.Arrival(number: number, facts: facts, moment: now), at: now)
  }

  /// Decides what an answer means in the state as it is now.
  mutating func settle(_ arrival: SessionFlight.Arrival, at now: Moment) -> [SessionEffect] {
    guard let flight else {
      // Others ended what it was for while it was being journaled.
      return [.discard(arrival.number, revoking: state.kind != .authenticated)]
    }
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
    _ arrival: SessionFlight.Arrival, publishing events: [RecordedEvent], at now: Moment
  ) -> [SessionEffect] {
    guard let landed = flight, let token = state.token else { return publish(events) }
    flight = nil
    lastProblem = nil
    let age = now.uptime.subtractingSaturating(arrival.moment.uptime)
    var effects = tokenChanged(
      token, remaining: arrival.facts.lifetime.subtractingSaturating(age), at: now)
    effects.append(.cancel(.commit))
    switch landed.purpose {
    case .login(let caller, _): effects.append(.resume(caller, .signedIn))
    case .switchContext: effects += resume(landed.owner.map { [$0] } ?? [], .switched)
    case .refresh: break
    }
    return effects + resumeWaiters(.refreshed) + publish(events) + nextSwitch(at: now)
  }

  /// The answer is here and the journal is not writable.
  ///
  /// A login is undone. A refreshed token is kept and journaled later, since the one before it may
  /// be dead at the server; nobody waits for that (RES-6).
  mutating func settlingFailed(_ arrival: SessionFlight.Arrival, at now: Moment)
    -> [SessionEffect]
  {
    guard let stuck = flight else { return [] }
    if case .login(let caller, _) = stuck.purpose {
      flight = nil
      lastProblem = .storage
      return [
        .wipe(state.kind == .expired ? .token : .session),
        .discard(stuck.number, revoking: true),
        .resume(caller, .failed(.storage)),
      ]
    }
    flight?.unsettled = arrival
    let owner: [SessionEffect] = stuck.owner.map { [.resume($0, .failed(.storage))] } ?? []
    return owner + resumeWaiters(.failed(.storage))
      + [.schedule(.commit, uptime: now.uptime.addingSaturating(retryPause))]
  }

  mutating func settleAgain(at now: Moment) -> [SessionEffect] {
    guard let arrival = flight?.unsettled else { return [] }
    return settle(arrival, at: now)
  }

  // MARK: Sending

  /// The intent is durable: now the request may leave.
  mutating func send(note: UInt64) -> [SessionEffect] {
    flight?.note = note
    guard let flight else { return [] }
    switch flight.purpose {
    case .refresh: return [.send(flight.number, .refresh(flight.base))]
    case .switchContext(let caller):
      return [.send(flight.number, .switchContext(caller, flight.base))]
    case .login: return []
    }
  }

  /// Others appended before the intent was durable: start anew, if it is still wanted.
  mutating func sendAgain(at now: Moment) -> [SessionEffect] {
    guard let grounded = flight else { return [] }
    flight = nil
    switch grounded.purpose {
    case .refresh(let trigger, _):
      return startRefresh(trigger, at: now)
    case .switchContext(let caller):
      switches.insert(caller, at: 0)
      return nextSwitch(at: now)
    case .login:
      return []
    }
  }

  /// The intent, or the end of a request, could not be journaled: the session is what it was.
  mutating func sendingFailed(at now: Moment) -> [SessionEffect] {
    let callers = waiters + (flight?.owner.map { [$0] } ?? [])
    givenUp = flight?.note ?? 0
    (flight, waiters) = (nil, [])
    refreshTrigger = .retry
    let pause = max(retryPause, policy.longestRetryDelay)
    return resume(callers, .failed(.storage))
      + [.schedule(.refresh, uptime: now.uptime.addingSaturating(pause))]
  }

  mutating func resumeWaiters(_ reply: SessionEffect.Reply) -> [SessionEffect] {
    defer { waiters = [] }
    return resume(waiters, reply)
  }
}
