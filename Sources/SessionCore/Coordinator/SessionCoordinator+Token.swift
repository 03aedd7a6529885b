extension SessionCoordinator {
  /// Milliseconds that a stored token has left: by the clock that never jumps where the system was not
  /// started anew since, else by the civil time.
  ///
  /// - Requirement: REF-8
  func remaining(of token: TokenMetadata, as facts: StoredItemsReport, at now: ClockReading)
    -> Int64
  {
    guard let deadline = facts.deadline, facts.generation == token.generation else {
      return remaining(of: token, at: now)
    }
    return min(token.lifetimeMilliseconds, deadline.subtractingSaturating(now.uptime))
  }

  /// Milliseconds that a journaled token has left by the civil time: all that is known of one that was
  /// stored in another start of the system, or by another process.
  ///
  /// Never more than its whole life, however far back the civil time was set.
  ///
  /// - Requirement: REF-8
  func remaining(of token: TokenMetadata, at now: ClockReading) -> Int64 {
    min(token.lifetimeMilliseconds, token.expiresAt.milliseconds(since: now.time))
  }

  /// Takes note of the current token's end and sets the timer that comes before it.
  mutating func tokenChanged(_ token: TokenMetadata, remaining: Int64, at now: ClockReading)
    -> [SessionEffect]
  {
    tokenDeadline = now.uptime.addingSaturating(remaining)
    (overtaken, rest, due, awaitsPresence) = (nil, nil, nil, false)
    guard token.isRefreshable else {
      return [.cancel(.refresh), .schedule(.expiry, uptime: tokenDeadline)]
    }
    refreshTrigger = .schedule
    guard
      let due = policy.refreshTime(deadline: tokenDeadline, lifetime: token.lifetimeMilliseconds)
    else {
      return [.cancel(.refresh), .cancel(.expiry)]
    }
    // Half of no life, or of next to none: a server may send one such token after the other.
    // What was adopted may be over, and is no server's.
    let isShort =
      token.lifetimeMilliseconds < 2 * retryPause && token.generation != Generation.none.next
    let pause = isShort ? now.uptime.addingSaturating(retryPause) : due
    return [.cancel(.expiry), .schedule(.refresh, uptime: max(due, pause))]
  }

  /// The facts of the token that an answer brought, under the next generation.
  func tokenFacts(_ arrival: TokenRequest.ReceivedResponse, isRefreshable: Bool) -> TokenMetadata {
    let time = arrival.moment.time
    return TokenMetadata(
      generation: fold.generation.next, issuedAt: time,
      expiresAt: time.advanced(by: arrival.facts.lifetime), id: arrival.facts.tokenID,
      isRefreshable: isRefreshable)
  }

  // MARK: The end of a session

  /// The events that end an authenticated session for a reason, as the policy says.
  ///
  /// - Requirement: REF-6
  func endEvents(_ reason: ExpiryReason, _ end: SessionPolicy.End) -> [SessionRecord.Content] {
    let expired = SessionRecord.Content.event(
      .sessionExpired(SessionEvent.SessionExpired(reason: reason)))
    switch end {
    case .keep: return [expired]
    case .clear: return [expired, .event(.logout(SessionEvent.Logout(reason: .policy)))]
    }
  }

  /// What goes of a session that has ended: an expired one's user is still known.
  mutating func wipeEnded(keeping generation: Generation? = nil) -> [SessionEffect] {
    wipe(
      state.kind == .expired
        ? .token(keepingRevocation: generation) : .session(keepingRevocation: generation))
  }

  /// The same for a session that a batch has ended; tokens that the server still accepts are revoked.
  mutating func wipeEnded(by durable: PendingCommit) -> [SessionEffect] {
    durable.pendingRevocation.map { left(nil, $0) } ?? wipeEnded()
  }

  /// Asks for a wipe, and remembers it until it has ended.
  mutating func wipe(_ wipe: SessionEffect.Wipe) -> [SessionEffect] {
    wiping = wipe
    return [.wipe(wipe)]
  }

  /// Drops the flight and the queues; a late answer will find no flight.
  ///
  /// - Requirement: OUT-4
  mutating func stopWaiting(because failure: RequestFailure? = nil) -> [SessionEffect] {
    stopWaiting(stopped ?? .ended(state.kind, by: failure))
  }

  /// `isOver`: the session has ended, whoever is signed in now.
  mutating func stopWaiting(_ reason: CommandFailure, isOver: Bool = false) -> [SessionEffect] {
    var closing: [SessionEffect] = []
    let problem = SessionEffect.Reply.failed(reason)
    if stopped != nil {
      closing = resume(closers, .closed) + unlockEnded(problem)
      closers = []
    }
    let hasEnded = isOver || state.kind != .authenticated
    if let flight, flight.isLogin || hasEnded && flight.isOnTheWire {
      abandoned.insert(flight.number)
    }
    noteUnsentFlight()
    let callers = switches + waiters + (flight?.owner.map { [$0] } ?? [])
    // A user who is still signed in goes on with it, if it is stored: the next opening announces it.
    let unsettled = dropUnsettled(revoking: hasEnded)
    (flight, switches, waiters, tokenDeadline) = (nil, [], [], .min)
    (isWaitingForLease, overtaken, rest, due) = (false, nil, nil, nil)
    awaitsPresence = false
    return unsettled + [.cancel(.refresh), .cancel(.expiry), .cancel(.lease), .cancel(.commit)]
      + endUse() + endLifetime() + resume(callers, problem) + closing
  }

  /// An answer that was waiting to be journaled and is not wanted any more.
  func dropUnsettled(revoking: Bool) -> [SessionEffect] {
    guard let flight, flight.unsettled != nil else { return [] }
    return [discard(flight.number, revoking: revoking)]
  }

  mutating func expire(_ reason: ExpiryReason, at now: ClockReading) -> [SessionEffect] {
    guard stopped == nil, state.kind == .authenticated else { return [] }
    return commit(
      endEvents(reason, policy.onRejection), for: .expire(reason), at: now, doubting: true)
  }

  /// Another process appended first: its token may be a newer one, which was not refused.
  mutating func refusalAgain() -> [SessionEffect] {
    if !waiters.isEmpty, due == nil { due = .unauthorized }
    return []
  }

  mutating func expiryIsDue(at now: ClockReading) -> [SessionEffect] {
    guard isRestored, let token = state.token, !token.isRefreshable else { return [] }
    guard now.uptime >= tokenDeadline else {
      return [.schedule(.expiry, uptime: tokenDeadline)]
    }
    return expire(.tokenExpired, at: now)
  }

  // MARK: Callers that leave

  mutating func cancel(_ caller: Caller) -> [SessionEffect] {
    switches.removeAll { $0 == caller }
    waiters.removeAll { $0 == caller }
    unlockers.removeAll { $0 == caller }
    for index in pendingLogouts.indices where pendingLogouts[index].caller == caller {
      pendingLogouts[index].caller = nil
    }
    // A sign-in that nobody waits for must not sign anybody in; a refresh or a switch that the
    // server may have acted on goes on, for everybody else.
    if let flight, flight.isLogin(of: caller) {
      abandoned.insert(flight.number)
      self.flight = nil
    }
    return [.resume(caller, .failed(.cancelled))]
  }
}
