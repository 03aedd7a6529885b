extension SessionCoordinator {
  /// Returns the milliseconds until a stored token expires.
  ///
  /// Measured by the clock that never jumps; after a reboot by the civil time.
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

  /// Returns the milliseconds until a journaled token expires, by the civil time.
  ///
  /// Used for a token that was stored before the last boot or by another process. Never more than
  /// the token's lifetime, even if the civil time was set back.
  ///
  /// - Requirement: REF-8
  func remaining(of token: TokenMetadata, at now: ClockReading) -> Int64 {
    min(token.lifetimeMilliseconds, token.expiresAt.milliseconds(since: now.time))
  }

  /// Records the expiry of the current token and sets the timer before it.
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
    // A server may send one token after the other with no lifetime, or nearly none. An adopted
    // token may have expired, and no server sent it just now.
    let isShort =
      token.lifetimeMilliseconds < 2 * retryPause && token.generation != Generation.none.next
    let pause = isShort ? now.uptime.addingSaturating(retryPause) : due
    return [.cancel(.expiry), .schedule(.refresh, uptime: max(due, pause))]
  }

  /// Returns the metadata of the token in a response, under the next generation.
  func tokenFacts(_ arrival: TokenRequest.ReceivedResponse, isRefreshable: Bool) -> TokenMetadata {
    let time = arrival.moment.time
    return TokenMetadata(
      generation: fold.generation.next, issuedAt: time,
      expiresAt: time.advanced(by: arrival.facts.lifetime), id: arrival.facts.tokenID,
      isRefreshable: isRefreshable)
  }

  // MARK: The end of a session

  /// Returns the events that end an authenticated session for a reason, by the policy.
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

  /// Wipes the items of an ended session; if it has expired, its user stays.
  mutating func wipeEnded(keeping generation: Generation? = nil) -> [SessionEffect] {
    wipe(
      state.kind == .expired
        ? .token(keepingRevocation: generation) : .session(keepingRevocation: generation))
  }

  /// Wipes the items of a session that a batch ended; revokes tokens that the server still accepts.
  mutating func wipeEnded(by durable: PendingCommit) -> [SessionEffect] {
    durable.pendingRevocation.map { left(nil, $0) } ?? wipeEnded()
  }

  /// Requests a wipe, and remembers it until it has ended.
  mutating func wipe(_ wipe: SessionEffect.Wipe) -> [SessionEffect] {
    wiping = wipe
    return [.wipe(wipe)]
  }

  /// Drops the request under way and resumes all waiting callers; a late response finds no request.
  ///
  /// - Requirement: OUT-4
  mutating func stopWaiting(because failure: RequestFailure? = nil) -> [SessionEffect] {
    stopWaiting(stopped ?? .ended(state.kind, by: failure))
  }

  /// Drops the request under way; `isOver` says that the session has ended, even if a user is
  /// logged in.
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
    // If the user is still logged in, a stored token is used: the next opening announces it.
    let unsettled = dropUnsettled(revoking: hasEnded)
    (flight, switches, waiters, tokenDeadline) = (nil, [], [], .min)
    (isWaitingForLease, overtaken, rest, due) = (false, nil, nil, nil)
    awaitsPresence = false
    return unsettled + [.cancel(.refresh), .cancel(.expiry), .cancel(.lease), .cancel(.commit)]
      + inactivity.stop() + lifetime.stop() + resume(callers, problem) + closing
  }

  /// Returns the effect that discards a response that waits to be journaled; empty if there is
  /// none.
  func dropUnsettled(revoking: Bool) -> [SessionEffect] {
    guard let flight, flight.unsettled != nil else { return [] }
    return [discard(flight.number, revoking: revoking)]
  }

  mutating func expire(_ reason: ExpiryReason, at now: ClockReading) -> [SessionEffect] {
    guard stopped == nil, state.kind == .authenticated else { return [] }
    return commit(
      endEvents(reason, policy.onRejection), for: .expire(reason), at: now, doubting: true)
  }

  /// Refreshes again if callers wait: another process appended first, and its token may be newer.
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

  // MARK: Cancelled callers

  mutating func cancel(_ caller: Caller) -> [SessionEffect] {
    switches.removeAll { $0 == caller }
    waiters.removeAll { $0 == caller }
    unlockers.removeAll { $0 == caller }
    for index in pendingLogouts.indices where pendingLogouts[index].caller == caller {
      pendingLogouts[index].caller = nil
    }
    // A login without a waiting caller must not log anyone in. A refresh or a switch, on which the
    // server may have acted, continues for all others.
    if let flight, flight.isLogin(of: caller) {
      abandoned.insert(flight.number)
      self.flight = nil
    }
    return [.resume(caller, .failed(.cancelled))]
  }
}
