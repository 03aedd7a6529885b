extension SessionCoordinator {
  mutating func answered(_ number: RequestNumber, _ facts: ResponseMetadata, at now: ClockReading)
    -> [SessionEffect]
  {
    if reauthentication.has(number), request?.number != number {
      reauthentication.answered(
        TokenRequest.ReceivedResponse(number: number, facts: facts, moment: now))
      return []
    }
    // A late response: the session ended, or another process came first. Nothing of it is stored.
    // If no user is logged in any more, its tokens are revoked.
    guard request?.number == number else { return discardLate(number) }
    request?.answered()
    // A second input for the same response keeps the arrival of the first: the lifetime counts from
    // it.
    let arrival = TokenRequest.ReceivedResponse(number: number, facts: facts, moment: now)
    return settle(request?.unjournaled?.response ?? arrival, at: now)
  }

  private mutating func discardLate(_ number: RequestNumber) -> [SessionEffect] {
    let fate = late.end(number)
    if let intent = fate.intent, stopped == nil { notes.add(ending: .answerUnused(intent)) }
    let isRevoked = (fate.isAbandoned || fold.kind != .authenticated) && !fate.isSpared
    return [.discard(number, revoking: isRevoked)]
  }

  /// Returns the effect that discards a response.
  ///
  /// It revokes neither adopted tokens, nor those of a session that was ended on this device only.
  func discard(_ number: RequestNumber, revoking: Bool) -> SessionEffect {
    .discard(number, revoking: revoking && !late.isSpared(number))
  }

  /// Decides what a response means in the current state.
  mutating func settle(_ arrival: TokenRequest.ReceivedResponse, at now: ClockReading)
    -> [SessionEffect]
  {
    // Others may have ended the request's session while the response was being journaled.
    guard let request else { return discardLate(arrival.number) }
    switch request.purpose {
    case .login(let caller, let method):
      return settleLogin(request, caller, method, arrival, at: now)
    case .refresh(let trigger, let attempt):
      return settleRefresh(request, trigger, attempt: attempt, arrival, at: now)
    case .switchContext:
      return settleSwitch(request, arrival, at: now)
    case .reauthenticate:
      return settleReauthentication(request, arrival, at: now)
    }
  }

  /// Follows a response whose token is durable and journaled: first waiting callers, then
  /// subscribers.
  mutating func settled(
    _ arrival: TokenRequest.ReceivedResponse, publishing events: [RecordedEvent],
    at now: ClockReading
  ) -> [SessionEffect] {
    if let landed = request, landed.isLogin, state.token == nil {
      return loginEnded(landed, by: arrival.facts.profileFailure, publishing: events)
    }
    guard let landed = request, let current = state.token else { return publish(events) }
    request = nil
    lastProblem = nil
    let age = now.uptime.subtractingSaturating(arrival.moment.uptime)
    var effects = tokenChanged(
      current, remaining: arrival.facts.lifetime.subtractingSaturating(age), at: now)
    effects.append(.cancel(.commit))
    if landed.isLogin {
      owesProfile = false
      // The stored items were just written by this version.
      (items, sparesOthers) = (.current, false)
      effects += beginUse(at: now) + beginLifetime(at: now)
    }
    effects += lifetime.state(arrival.sessionEnd)
    // A response can state an end that has passed, and it can pass while the batch is written. No caller
    // is to use its token until the timer has ended the session.
    let ended: SessionEffect.Reply? =
      now.uptime < lifetime.end ? nil : .failed(.ended(.expired, by: nil))
    switch landed.purpose {
    case .login(let caller, _): effects.append(.resume(caller, ended ?? .signedIn))
    case .switchContext:
      let isNamed = arrival.facts.namedContext != nil
      effects += resume(
        landed.owner.map { [$0] } ?? [],
        ended ?? (isNamed ? .switched : .failed(.request(RequestFailure(kind: .unreadable)))))
    case .reauthenticate:
      reauthentication.settled()
      effects += resume(landed.owner.map { [$0] } ?? [], ended ?? .signedIn)
    case .refresh: break
    }
    effects += resumeWaiters(ended ?? .refreshed) + publish(events)
    // A refresh may have been made for a switch, which follows even if the new token is short-lived.
    return landed.isRefresh ? effects + startSwitch(at: now) : effects
  }

  /// Handles a response that cannot be journaled now.
  ///
  /// A login is undone. Any other token is kept and journaled later, since the server may no longer
  /// accept the previous one. No caller waits for that.
  ///
  /// - Requirement: RES-6
  mutating func settlingFailed(
    _ arrival: TokenRequest.ReceivedResponse, _ obstacle: StorageObstacle, at now: ClockReading
  ) -> [SessionEffect] {
    guard let stuck = request else { return [] }
    if stuck.isLogin { return wipeItems() + loginNotJournaled() }
    request?.keep(arrival, obstacle, isClosing: !callers.isEmpty(.close))
    notes.retryStorage()
    let owner: [SessionEffect] = stuck.owner.map { [.resume($0, .failed(.unsettled))] } ?? []
    return owner + resumeWaiters(.failed(.unsettled))
      + resume(callers.takeAll(.context), .failed(.storage))
      + [.schedule(.commit, uptime: now.uptime.addingSaturating(retryPause))]
  }

  /// Revokes the tokens of a login that could not be journaled.
  mutating func loginNotJournaled() -> [SessionEffect] {
    guard let failed = request, case .login(let caller, _) = failed.purpose else { return [] }
    request = nil
    lastProblem = .storage
    return [discard(failed.number, revoking: true), .resume(caller, .failed(.storage))]
  }

  /// Handles a response that can never be journaled, such as one larger than a record: it is
  /// unreadable.
  mutating func settlingIsImpossible(at now: ClockReading) -> [SessionEffect] {
    guard let request else { return [] }
    let unreadable = RequestFailure(kind: .unreadable)
    if case .reauthenticate = request.purpose {
      return reauthenticationRefused(request, .request(unreadable))
    }
    guard case .login(let caller, _) = request.purpose else {
      return [.discard(request.number, revoking: false)] + fail(unreadable, jitter: 0, at: now)
    }
    self.request = nil
    lastProblem = .request(unreadable)
    return wipeItems() + [
      discard(request.number, revoking: true), .resume(caller, .failed(.request(unreadable))),
    ]
  }

  mutating func settleAgain(at now: ClockReading) -> [SessionEffect] {
    guard let kept = request?.unjournaled else { return [] }
    return settle(kept.response, at: now)
  }

  // MARK: Sending

  /// Sends the request, whose intent is durable now; or holds it back for another read of the
  /// journal.
  mutating func send(intent: UInt64, after durable: PendingCommit, at now: ClockReading)
    -> [SessionEffect]
  {
    request?.intentDurable(at: intent)
    guard request?.isHeldBack == true else { return send() }
    return peers.holdBack(asked: durable.moment.uptime, at: now.uptime)
  }

  func send() -> [SessionEffect] {
    guard let request else { return [] }
    switch request.purpose {
    case .refresh: return [.send(request.number, .refresh(request.base))]
    case .switchContext(let caller):
      return [.send(request.number, .switchContext(caller, request.base))]
    case .login, .reauthenticate: return []
    }
  }

  /// Decides the request again, since others appended before its intent was durable.
  mutating func decideRequestAgain() -> [SessionEffect] {
    guard let withdrawn = request else { return [] }
    request = nil
    switch withdrawn.purpose {
    case .refresh(let trigger, _):
      if withdrawn.base == state.token?.generation { schedule.repeatNow(trigger) }
    case .switchContext(let caller): callers.addFirst(caller, for: .context)
    case .reauthenticate: reauthentication.putBack()
    case .login: break
    }
    return []
  }

  /// Handles an intent or an end that could not be journaled: the session is unchanged.
  mutating func sendingFailed(at now: ClockReading) -> [SessionEffect] {
    let owner: [SessionEffect] = request?.owner.map { [.resume($0, .failed(.storage))] } ?? []
    if let intent = request?.intent, intent != 0 { peers.giveUp(intent) }
    request = nil
    let retry = schedule.begin(.retry, at: now.uptime.addingSaturating(retryPause * 5))
    return owner + resumeAll(.failed(.storage)) + [retry]
  }

  mutating func resumeWaiters(_ reply: SessionEffect.Reply) -> [SessionEffect] {
    schedule.started()
    return resume(callers.takeAll(.token), reply)
  }
}
