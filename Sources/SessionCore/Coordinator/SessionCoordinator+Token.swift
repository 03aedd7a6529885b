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
    schedule.changed(
      to: token, remaining: remaining, refreshTokenLife: fold.intents.refreshTokenLife,
      policy: policy, at: now.uptime)
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

  /// Wipes the items of an ended session; if it has expired, its user stays.
  mutating func wipeItems(keeping generation: Generation? = nil) -> [SessionEffect] {
    let wipe: SessionEffect.Wipe =
      fold.kind == .expired
      ? .token(keepingRevocation: generation) : .session(keepingRevocation: generation)
    return logouts.request(wipe.sparing(others: sparesOthers))
  }

  /// Wipes the items of a session that a batch ended; revokes tokens that the server still accepts.
  mutating func wipeItems(endedBy durable: PendingCommit) -> [SessionEffect] {
    durable.pendingRevocation.map { finishEnd(nil, $0) } ?? wipeItems()
  }

  /// Drops the request under way and resumes all waiting callers; a late response finds no request.
  ///
  /// - Requirement: OUT-4
  mutating func stopWaiting(because failure: RequestFailure? = nil) -> [SessionEffect] {
    stopWaiting(stopped ?? .ended(fold.kind, by: failure))
  }

  /// Drops the request under way; `isOver` says that the session has ended, even if a user is
  /// logged in.
  mutating func stopWaiting(_ reason: CommandFailure, isOver: Bool = false) -> [SessionEffect] {
    var closing: [SessionEffect] = []
    let problem = SessionEffect.Reply.failed(reason)
    if stopped != nil {
      closing = resume(callers.takeAll(.close), .closed) + unlockEnded(problem)
    }
    let hasEnded = isOver || fold.kind != .authenticated
    if let request, request.isLogin || hasEnded && request.isOnTheWire {
      late.abandon(request.number)
    }
    noteUnsentRequest()
    var waiting = callers.takeAll(.context, .token, .unlock) + (request?.owner.map { [$0] } ?? [])
    let dropped = dropReauthentication()
    if let dropped { waiting.append(dropped.caller) }
    // If the user is still logged in, a stored token is used: the next opening announces it.
    let unsettled = dropUnsettled(revoking: hasEnded)
    request = nil
    reauthentication.settled()
    peers.stopWaiting()
    peers.endDoubt()
    return unsettled + (dropped?.effects ?? []) + schedule.stop() + [
      .cancel(.lease), .cancel(.commit),
    ]
      + inactivity.stop() + lifetime.stop() + resume(waiting, problem) + closing
  }

  /// Returns the effect that discards a response that waits to be journaled; empty if there is
  /// none.
  func dropUnsettled(revoking: Bool) -> [SessionEffect] {
    guard let request, request.unjournaled != nil else { return [] }
    return [discard(request.number, revoking: revoking)]
  }

  /// Refreshes again if callers wait: another process appended first, and its token may be newer.
  mutating func refusalAgain() -> [SessionEffect] {
    if !callers.isEmpty(.token) { schedule.request(.unauthorized) }
    return []
  }

  mutating func expiryIsDue(at now: ClockReading) -> [SessionEffect] {
    guard isRestored, let current = state.token, !current.isRefreshable else { return [] }
    guard now.uptime >= tokenDeadline else {
      return [.schedule(.expiry, uptime: tokenDeadline)]
    }
    return end(by: .notRefreshable(.schedule, current), at: now)
  }

  // MARK: Cancelled callers

  mutating func cancel(_ caller: Caller) -> [SessionEffect] {
    callers.cancel(caller)
    logouts.cancel(caller)
    // A login without a waiting caller must not log anyone in. A refresh or a switch, on which the
    // server may have acted, continues for all others.
    if let request, request.isLogin(of: caller) {
      late.abandon(request.number)
      self.request = nil
    }
    let dropped = reauthentication.isOf(caller) ? dropReauthentication()?.effects ?? [] : []
    return dropped + [.resume(caller, .failed(.cancelled))]
  }
}
