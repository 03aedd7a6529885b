extension SessionCoordinator {
  mutating func refresh(
    _ caller: Caller, _ trigger: RefreshTrigger, _ need: RefreshNeed, at now: ClockReading
  ) -> [SessionEffect] {
    guard isRestored, stopped == nil, case .authenticated(let session) = state else {
      return [.resume(caller, .failed(notAuthenticated(.refreshSucceeded)))]
    }
    guard !isLocked else { return [.resume(caller, .failed(.appLocked))] }
    switch schedule.answer(trigger, need, for: session.token, at: now.uptime) {
    case .current: return [.resume(caller, .refreshed)]
    case .pausing(let failure): return [.resume(caller, .failed(problem(failure, at: now)))]
    case .refresh: break
    }
    callers.add(caller, for: .token)
    schedule.request(trigger)
    return settleAgain(at: now)
  }

  /// Starts a refresh at once, or as soon as no request is under way.
  mutating func refreshIsDue(at now: ClockReading) -> [SessionEffect] {
    state.token?.isRefreshable == true ? schedule.timerFired(at: now.uptime) : []
  }

  /// Starts the one refresh; the caller has checked that no other process has a request under way.
  mutating func startRefresh(_ trigger: RefreshTrigger, at now: ClockReading) -> [SessionEffect] {
    guard case .authenticated(let session) = state else { return [] }
    guard session.token.isRefreshable else {
      return cannotRefresh(session.token, trigger, at: now)
    }
    var contents: [SessionRecord.Content] = []
    // The sender of an open request may have stored its token, and died before it could journal
    // that.
    let open = fold.intents.request
    if let open { contents.append(lost(open, at: now)) }
    let attempt = session.failures.total &+ UInt32(contents.count) &+ 1
    contents.append(
      sent(.refresh, session.token.generation, trigger: trigger, attempt: attempt, at: now))
    request = TokenRequest(
      number: nextRequest(), purpose: .refresh(trigger, attempt: attempt),
      base: session.token.generation)
    schedule.started()
    return commit(contents, for: .send, at: now, doubting: open != nil)
  }

  /// Returns the intent that precedes every request which may change the token.
  func sent(
    _ kind: RequestKind, _ generation: Generation, trigger: RefreshTrigger, attempt: UInt32,
    at now: ClockReading
  ) -> SessionRecord.Content {
    .note(
      .requestSent(
        SessionNote.RequestSent(
          kind: kind, generation: generation, trigger: trigger, attempt: attempt,
          process: opening.process, deadline: now.time.advanced(by: policy.leaseDuration),
          identity: opening.identity)))
  }

  private mutating func cannotRefresh(
    _ current: TokenMetadata, _ trigger: RefreshTrigger, at now: ClockReading
  ) -> [SessionEffect] {
    schedule.started()
    let cause = SessionEnding.Cause.notRefreshable(trigger, current)
    guard ending(by: cause, at: now).events.isEmpty else { return end(by: cause, at: now) }
    return resumeWaiters(.failed(.request(RequestFailure(kind: .noRefreshToken))))
  }

  // MARK: Responses

  mutating func settleRefresh(
    _ request: TokenRequest, _ trigger: RefreshTrigger, attempt: UInt32,
    _ arrival: TokenRequest.ReceivedResponse, at now: ClockReading
  ) -> [SessionEffect] {
    guard case .authenticated(let session) = state, session.token.generation == request.base else {
      self.request = nil
      return [discard(request.number, revoking: fold.kind != .authenticated)]
    }
    let facts = arrival.facts
    // The new token belongs to another user, and the refresh token of this session is spent.
    guard !session.isOther(facts.user) else {
      return [discard(request.number, revoking: true)]
        + fail(otherUser(in: facts), jitter: 0, at: now)
    }
    let contents = renewal(
      of: session, by: arrival, trigger: trigger, attempt: attempt, request: request.intent)
    return commit(contents, for: .settle(arrival), at: now, storing: request.number)
  }

  /// Returns the events of a response with which the session goes on.
  func renewal(
    of session: SessionState.Authenticated, by arrival: TokenRequest.ReceivedResponse,
    trigger: RefreshTrigger, attempt: UInt32, request: UInt64
  ) -> [SessionRecord.Content] {
    let facts = arrival.facts
    let token = tokenFacts(
      arrival, isRefreshable: facts.isRefreshable || session.token.isRefreshable)
    let renewed = SessionRecord.Content.event(
      .refreshSucceeded(
        SessionEvent.RefreshSucceeded(
          token: token, trigger: trigger, attempt: attempt, isRotated: facts.hasRefreshToken,
          request: request)))
    guard let context = facts.context ?? facts.tokenContext, !context.isSame(as: session.context)
    else { return [renewed] }
    let switched = SessionEvent.ContextSwitched(
      context: context, token: nil, trigger: .server, request: request)
    return [renewed, .event(.contextSwitched(switched))]
  }

  // MARK: Failures

  mutating func failed(
    _ number: RequestNumber, _ failure: RequestFailure, jitter: UInt16, at now: ClockReading
  ) -> [SessionEffect] {
    guard request?.number == number else {
      if let ended = reauthenticationFailed(number, .request(failure)) { return ended }
      noteSuperseded(number, failure)
      return []
    }
    request?.answered()
    return fail(failure, jitter: jitter, at: now)
  }

  mutating func fail(_ failure: RequestFailure, jitter: UInt16, at now: ClockReading)
    -> [SessionEffect]
  {
    guard let failed = request else { return [] }
    switch failed.purpose {
    case .login(let caller, _):
      request = nil
      lastProblem = .request(failure)
      return [.resume(caller, .failed(.request(failure)))]
    case .reauthenticate: return reauthenticationRefused(failed, .request(failure))
    case .switchContext:
      let end = SessionNote.RequestEnded(request: failed.intent, failure: failure)
      let verdict = ending(by: .switchFailed(failure), at: now)
      return commit(
        [.note(.requestEnded(end))] + verdict.events,
        for: .fail(failure, jitter: jitter, delay: verdict.retryAfter), at: now,
        doubting: !verdict.events.isEmpty)
    case .refresh(let trigger, let attempt):
      guard case .authenticated(let session) = state, session.token.generation == failed.base
      else {
        request = nil
        return []
      }
      // Others presumed our request lost and made their own, whose outcome counts (REF-3).
      if let open = fold.intents.request, open.sequence != failed.intent {
        let end = SessionNote.RequestEnded(request: failed.intent, failure: failure)
        return commit(
          [.note(.requestEnded(end))], for: .fail(failure, jitter: jitter, delay: nil), at: now)
      }
      // A call was refused the token, and the server renews it only with the user: it has ended.
      if failure.kind == .userNeeded, trigger == .unauthorized, !session.token.isLifetimeKnown {
        schedule.expire(at: now.uptime)
      }
      var verdict = ending(
        by: .refreshFailed(failure, after: session.failures, jitter: jitter), at: now)
      // The user has just logged in again, and those tokens wait: the server may refuse the former ones.
      if reauthentication.held != nil, !verdict.events.isEmpty { verdict = .goesOn(retryAfter: 0) }
      let event = SessionEvent.RefreshFailed(
        generation: failed.base, trigger: trigger, attempt: attempt, failure: failure,
        retryAt: verdict.retryAfter.map(now.time.advanced(by:)), request: failed.intent,
        configuredMeaning: opening.configuredMeaning(of: failure))
      var contents: [SessionRecord.Content] = [.event(.refreshFailed(event))] + verdict.events
      if verdict.events.isEmpty, let need = need(after: failure, of: session, at: now) {
        contents.append(.note(.userNeeded(need)))
      }
      return commit(
        contents, for: .fail(failure, jitter: jitter, delay: verdict.retryAfter), at: now,
        doubting: !verdict.events.isEmpty)
    }
  }

  /// Continues after a journaled failure that did not end the session: another attempt is due.
  mutating func failureNoted(_ failure: RequestFailure, delay: Int64?, at now: ClockReading)
    -> [SessionEffect]
  {
    guard let failed = request else { return [] }
    request = nil
    if case .switchContext = failed.purpose {
      return resume(failed.owner.map { [$0] } ?? [], .failed(.request(failure)))
    }
    guard let delay else {
      // Another process has a request under way. This process waits for its end.
      schedule.request(.retry)
      return []
    }
    // Tried at once: waiting callers receive the result of that attempt.
    guard delay > 0 else {
      schedule.repeatNow(.retry)
      return []
    }
    let end = now.uptime.addingSaturating(delay)
    // A doubted rejection is reported as `noReply`: the state of the token is unknown.
    let told = failure.kind == .rejected ? RequestFailure(kind: .noReply) : failure
    if failure.kind.putsAttemptsOff { schedule.pause(Backoff(failure: told, end: end)) }
    let reply = SessionEffect.Reply.failed(problem(told, at: now))
    let retry = schedule.begin(.retry, at: end)
    return (isTokenGood(at: now.uptime) ? resumeWaiters(reply) : resumeAll(reply)) + [retry]
  }
}

extension ActiveContext {
  /// Whether role, school, unit and permissions are the same; names may differ.
  fileprivate func isSame(as other: ActiveContext?) -> Bool {
    guard let other else { return false }
    return role.id == other.role.id && school?.id == other.school?.id
      && unit?.id == other.unit?.id && permissions == other.permissions
  }
}

/// Handles a refresh token that can be read only after the user has authenticated to the device.
///
/// - Requirement: STO-2
extension SessionCoordinator {
  /// Handles a refresh that needs the user: nothing was journaled, and nothing is sent.
  ///
  /// It counts as no attempt, and no timer starts another. The token is used until it expires.
  /// Unless the refresh was only manual, it is requested again as soon as the app reports that the
  /// user may have authenticated.
  mutating func presenceNeeded(at now: ClockReading) -> [SessionEffect] {
    guard let withdrawn = request, case .refresh(let trigger, _) = withdrawn.purpose else {
      return []
    }
    request = nil
    let isGood = isTokenGood(at: now.uptime)
    schedule.postpone(trigger, at: now.uptime)
    let reply = SessionEffect.Reply.failed(.needsPresence)
    // A switch of the context needs only a valid token.
    return isGood ? resumeWaiters(reply) : resumeAll(reply)
  }

  /// Tries the postponed refresh; it is postponed again if the user has not authenticated.
  mutating func presenceMayBeShown() -> [SessionEffect] {
    schedule.presenceMayBeShown()
    return []
  }
}
