extension SessionCoordinator {
  mutating func refresh(
    _ caller: Caller, _ trigger: RefreshTrigger, _ need: RefreshNeed, at now: ClockReading
  ) -> [SessionEffect] {
    guard isRestored, stopped == nil, case .authenticated(let session) = state else {
      return [.resume(caller, .failed(notAuthenticated(.refreshSucceeded)))]
    }
    switch need {
    case .always:
      break
    case .ifExpired, .unlessGood:
      if isTokenGood(session.token, for: need.minimum, at: now.uptime) {
        return [.resume(caller, .refreshed)]
      }
      // Many reads of an expired token must not each ask a server that has just failed. An app that
      // enters the foreground asks once.
      if let rest, trigger != .foreground || rest.isForAll, now.uptime < rest.end {
        return [.resume(caller, .failed(.request(rest.failure)))]
      }
    case .unlessNewer(let used):
      if session.token.generation > used, isTokenGood(at: now.uptime) {
        return [.resume(caller, .refreshed)]
      }
      // The server rejected this token for many calls, and responded to their one refresh with a
      // failure.
      if session.token.generation == used, let rest, now.uptime < rest.end {
        return [.resume(caller, .failed(.request(rest.failure)))]
      }
    }
    waiters.append(caller)
    due = due ?? trigger
    return settleAgain(at: now)
  }

  /// Whether the token is valid for `minimum` more milliseconds, or arrived within the last second.
  private func isTokenGood(_ token: TokenMetadata, for minimum: Int64, at uptime: Int64) -> Bool {
    let left = tokenDeadline.subtractingSaturating(uptime)
    let leftOfNewToken = token.lifetimeMilliseconds.subtractingSaturating(retryPause)
    return isTokenGood(at: uptime) && left >= min(minimum, leftOfNewToken)
  }

  /// Starts a refresh at once, or as soon as no request is under way.
  mutating func refreshIsDue() -> [SessionEffect] {
    if state.token?.isRefreshable == true { due = due ?? refreshTrigger }
    return []
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
    flight = TokenRequest(
      number: nextRequest(), purpose: .refresh(trigger, attempt: attempt),
      base: session.token.generation)
    due = nil
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
          process: process, deadline: now.time.advanced(by: policy.leaseDuration),
          identity: identity)))
  }

  private mutating func cannotRefresh(
    _ token: TokenMetadata, _ trigger: RefreshTrigger, at now: ClockReading
  ) -> [SessionEffect] {
    due = nil
    guard isTokenGood(at: now.uptime) else { return expire(.tokenExpired, at: now) }
    // A rejection is the only sign that such a token is invalid (POL-7).
    if trigger == .unauthorized, !token.isLifetimeKnown, policy.onRefusedToken == .end {
      return expire(.endedByServer, at: now)
    }
    return resumeWaiters(.failed(.request(RequestFailure(kind: .noRefreshToken))))
  }

  // MARK: Responses

  mutating func settleRefresh(
    _ flight: TokenRequest, _ trigger: RefreshTrigger, attempt: UInt32,
    _ arrival: TokenRequest.ReceivedResponse, at now: ClockReading
  ) -> [SessionEffect] {
    guard case .authenticated(let session) = state, session.token.generation == flight.base else {
      self.flight = nil
      return [discard(flight.number, revoking: state.kind != .authenticated)]
    }
    let facts = arrival.facts
    // The new token belongs to another user, and the refresh token of this session is spent.
    guard !session.isOther(facts.user) else {
      return [discard(flight.number, revoking: true)]
        + fail(otherUser(in: facts), jitter: 0, at: now)
    }
    let token = tokenFacts(
      arrival, isRefreshable: facts.isRefreshable || session.token.isRefreshable)
    var contents: [SessionRecord.Content] = [
      .event(
        .refreshSucceeded(
          SessionEvent.RefreshSucceeded(
            token: token, trigger: trigger, attempt: attempt, isRotated: facts.hasRefreshToken,
            request: flight.note)))
    ]
    if let context = facts.context ?? facts.tokenContext, !context.isSame(as: session.context) {
      contents.append(
        .event(
          .contextSwitched(
            SessionEvent.ContextSwitched(
              context: context, token: nil, trigger: .server, request: flight.note))))
    }
    return commit(contents, for: .settle(arrival), at: now, storing: flight.number)
  }

  // MARK: Failures

  mutating func failed(
    _ number: RequestNumber, _ failure: RequestFailure, jitter: UInt16, at now: ClockReading
  ) -> [SessionEffect] {
    guard flight?.number == number else {
      abandoned.remove(number)
      unrevoked.remove(number)
      noteOverdue(number, failure)
      return []
    }
    flight?.isAnswered = true
    return fail(failure, jitter: jitter, at: now)
  }

  mutating func fail(_ failure: RequestFailure, jitter: UInt16, at now: ClockReading)
    -> [SessionEffect]
  {
    guard let failed = flight else { return [] }
    switch failed.purpose {
    case .login(let caller, _):
      flight = nil
      lastProblem = .request(failure)
      return [.resume(caller, .failed(.request(failure)))]
    case .switchContext:
      let end = SessionNote.RequestEnded(request: failed.note, failure: failure)
      return commit(
        [.note(.requestEnded(end))], for: .fail(failure, jitter: jitter, delay: nil), at: now)
    case .refresh(let trigger, let attempt):
      guard case .authenticated(let session) = state, session.token.generation == failed.base
      else {
        flight = nil
        return []
      }
      // Others presumed our request lost and made their own, whose outcome counts (REF-3).
      if let open = fold.intents.request, open.sequence != failed.note {
        let end = SessionNote.RequestEnded(request: failed.note, failure: failure)
        return commit(
          [.note(.requestEnded(end))], for: .fail(failure, jitter: jitter, delay: nil), at: now)
      }
      let verdict = verdict(on: failure, after: session.failures, jitter: jitter, at: now)
      let event = SessionEvent.RefreshFailed(
        generation: failed.base, trigger: trigger, attempt: attempt, failure: failure,
        retryAt: verdict.delay.map(now.time.advanced(by:)), request: failed.note,
        configuredMeaning: configuredMeaning(of: failure))
      return commit(
        [.event(.refreshFailed(event))] + verdict.end,
        for: .fail(failure, jitter: jitter, delay: verdict.delay), at: now,
        doubting: !verdict.end.isEmpty)
    }
  }

  /// Returns the meaning of the server's code, if only the configuration knows it.
  private func configuredMeaning(of failure: RequestFailure) -> ErrorMeaning? {
    guard let code = failure.serverCode, let meaning = errorCodes[code],
      meaning != ErrorMeaning(code: code)
    else { return nil }
    return meaning
  }

  /// The decision on a failure: a delay before the next attempt, or the events that end the
  /// session.
  private struct Verdict {
    var delay: Int64?
    var end: [SessionRecord.Content] = []
  }

  private func verdict(
    on failure: RequestFailure, after failures: SessionState.RefreshFailures, jitter: UInt16,
    at now: ClockReading
  ) -> Verdict {
    let backoff = max(
      shortestDelay, policy.retryDelay(failures: failures.total &+ 1, jitter: jitter))
    switch failure.kind {
    case .userInactive:
      return Verdict(end: endEvents(.userInactive, .keep))
    case .userDeleted:
      return Verdict(end: [.event(.logout(SessionEvent.Logout(reason: .userDeleted)))])
    case .noRefreshToken where isTokenGood(at: now.uptime):
      // The current token is valid until it expires.
      return Verdict(delay: max(shortestDelay, tokenDeadline - now.uptime))
    case let kind where kind.isFinal:
      // It may be rejected because the server responded to a process whose request we presumed
      // lost.
      if let overtaken, now.uptime < overtaken.end {
        return Verdict(delay: max(shortestDelay, min(backoff, overtaken.end - now.uptime)))
      }
      return Verdict(end: endEvents(.refreshRejected, policy.onRejection))
    default:
      break
    }
    let answered = failures.answered &+ (failure.kind.isAnswered ? 1 : 0)
    if failure.kind.isAnswered, answered >= policy.maximumAttempts {
      switch policy.onExhaustion {
      case .stay:
        return Verdict(
          delay: max(shortestDelay, policy.longestRetryDelay, failure.retryAfterMilliseconds ?? 0))
      case .endAfterExpiry where isTokenGood(at: now.uptime):
        // Tried again when the token expires at the latest: that attempt decides.
        let left = min(policy.longestRetryDelay, tokenDeadline.subtractingSaturating(now.uptime))
        return Verdict(delay: max(shortestDelay, left, failure.retryAfterMilliseconds ?? 0))
      case .end(let end), .endAfterExpiry(let end):
        return Verdict(end: endEvents(.attemptsExhausted, end))
      }
    }
    // The server may have rotated the token and its response is lost. So the first retry is
    // immediate, while the server may still accept the old token (REF-7). Later ones wait.
    if failure.kind == .noReply, failures.last?.kind != .noReply { return Verdict(delay: 0) }
    return Verdict(delay: max(backoff, failure.retryAfterMilliseconds ?? 0))
  }

  /// The least delay before another attempt, in milliseconds, for any policy.
  ///
  /// Without a network, an attempt may fail at once.
  private var shortestDelay: Int64 { 100 }

  /// Continues after a journaled failure that did not end the session: another attempt is due.
  mutating func failureNoted(_ failure: RequestFailure, delay: Int64?, at now: ClockReading)
    -> [SessionEffect]
  {
    guard let failed = flight else { return [] }
    flight = nil
    if case .switchContext = failed.purpose {
      return resume(failed.owner.map { [$0] } ?? [], .failed(.request(failure)))
    }
    guard let delay else {
      // Another process has a request under way, whose end is waited for.
      due = due ?? .retry
      return []
    }
    // Tried at once: waiting callers receive the result of that attempt.
    guard delay > 0 else {
      due = .retry
      return []
    }
    refreshTrigger = .retry
    let end = now.uptime.addingSaturating(delay)
    // A doubted rejection is reported as `noReply`: the state of the token is unknown.
    let told = failure.kind == .rejected ? RequestFailure(kind: .noReply) : failure
    if failure.kind.putsAttemptsOff { rest = Backoff(failure: told, end: end) }
    let reply = SessionEffect.Reply.failed(.request(told))
    let retry = SessionEffect.schedule(.refresh, uptime: end)
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
