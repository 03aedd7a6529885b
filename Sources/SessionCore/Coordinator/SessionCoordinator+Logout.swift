extension SessionCoordinator {
  /// First the event: from there nothing brings the session back.
  ///
  /// - Requirement: OUT-1, OUT-4
  mutating func logout(
    _ caller: Caller, _ scope: LogoutScope, at now: ClockReading
  ) -> [SessionEffect] {
    if let stopped { return [.resume(caller, .failed(stopped))] }
    guard state.kind != .unauthenticated else {
      let waiting = stopWaiting()
      return waiting + [.resume(caller, .alreadyLoggedOut)]
    }
    return commit(
      [.event(.logout(SessionEvent.Logout(reason: .user)))], for: .logout(caller, scope), at: now)
  }

  /// The notes of a batch that ends the session, so that its tokens are revoked.
  ///
  /// - Requirement: OUT-1, OUT-6
  func revocation(
    with contents: [SessionRecord.Content], for purpose: PendingCommit.Purpose
  ) -> [SessionRecord.Content] {
    if case .logout(_, .thisDeviceOnly) = purpose.asked { return [] }
    guard state.kind != .unauthenticated, let generation = leftAtServer(by: contents, for: purpose)
    else { return [] }
    // At most `maximumRevocations` keep what a further try needs. The oldest ones are abandoned.
    let oldest = fold.intents.revocations.dropLast(Self.maximumRevocations - 1)
    return oldest.filter { !telling.contains($0) }.map(Self.abandoned)
      + [.note(.revocationPending(generation))]
  }

  /// Keeps a refresh or a switch that is open from revoking what its late response brings, if these contents
  /// are a logout of this device only.
  ///
  /// A login that is open is undone at the server as every login that has lost its caller.
  ///
  /// - Requirement: OUT-7, LOG-10
  mutating func spareResponses(after contents: [SessionRecord.Content]) {
    guard state.kind != .unauthenticated, contents.leavesTokens else { return }
    // Another process has answered them meanwhile, and their own responses may still come.
    unrevoked.formUnion(overdue.keys)
    if let flight, !flight.isLogin { unrevoked.insert(flight.number) }
  }

  /// The token that the server still accepts after these events end the session; `nil` if there is none.
  ///
  /// An account that a provider keeps goes with every logout, also with one that the policy or the
  /// server decided, or of a session that has expired.
  ///
  /// - Requirement: WEB-6
  private func leftAtServer(
    by contents: [SessionRecord.Content], for purpose: PendingCommit.Purpose
  ) -> Generation? {
    let token = state.token?.generation
    var isLogout = false
    for case .event(let event) in contents {
      switch event {
      case .logout(let logout):
        isLogout = true
        if logout.reason.leavesTokens, let token { return token }
      case .sessionExpired(let expiry):
        if expiry.reason.leavesTokens || purpose.finds(token), let token { return token }
      case .login, .refreshSucceeded, .refreshFailed, .contextSwitched: continue
      }
    }
    return isLogout && hasProvider ? token ?? fold.generation : nil
  }

  /// How many logouts may wait for the server to be told of them.
  package static let maximumRevocations = 8

  /// The logout of `generation` is durable: wipe, then tell the server, then let the caller go on, where
  /// there is one.
  mutating func left(_ caller: Caller?, _ generation: Generation?) -> [SessionEffect] {
    pendingLogouts.append(PendingLogout(caller: caller, generation: generation))
    return wipe(wipeOfEnd(keeping: generation))
  }

  /// What goes of a session that is over: of an expired one the token item only.
  func wipeOfEnd(keeping generation: Generation?) -> SessionEffect.Wipe {
    state.kind == .expired
      ? .token(keepingRevocation: generation) : .everything(keepingRevocation: generation)
  }

  mutating func wiped(_ ending: SessionInput.WipeEnding, at now: ClockReading) -> [SessionEffect] {
    // If two ends asked for a wipe each, the first answer clears `wiping`. The second one then goes on
    // with the end that still waits.
    let asked = wiping
    wiping = nil
    switch ending {
    case .done:
      return wipeEnded(isWiped: true)
    case .failed:
      let again = now.uptime.addingSaturating(policy.longestRetryDelay)
      return (stopped == nil ? [.schedule(.wipe, uptime: again)] : []) + wipeEnded(isWiped: false)
    case .overtaken(let records):
      let effects = absorb(records, at: now)
      // What a newer version wrote may have signed somebody in: nothing of theirs is touched.
      guard stopped == nil else { return effects + wipeEnded(isWiped: false) }
      guard let asked else { return effects + wipeEnded(isWiped: false) }
      // Before their token takes the place of the one that is to be revoked.
      return wipeAgain(asked) + effects
    }
  }

  /// Others have appended: what they signed in to is not to be wiped.
  private mutating func wipeAgain(_ wipe: SessionEffect.Wipe) -> [SessionEffect] {
    // Another process that ended the session anew, or expired it, has asked for its own wipe.
    guard wiping == nil else { return [] }
    // Of a token whose end the server was told of meanwhile, nothing is kept.
    let kept = wipe.keptRevocation.flatMap { fold.intents.revocations.contains($0) ? $0 : nil }
    let forgotten: [SessionEffect] =
      kept == nil ? wipe.keptRevocation.map { [.forgetRevocation($0)] } ?? [] : []
    guard state.kind == .authenticated else {
      return forgotten + self.wipe(SessionEffect.Wipe(wipe.extent, keepingRevocation: kept))
    }
    guard let kept else { return forgotten + wipeEnded(isWiped: true) }
    return self.wipe(.nothing(keepingRevocation: kept))
  }

  /// Goes on with the end that asked for the wipe, if one still waits.
  private mutating func wipeEnded(isWiped: Bool) -> [SessionEffect] {
    guard let index = pendingLogouts.firstIndex(where: { !$0.isTelling }) else { return [] }
    pendingLogouts[index].isTelling = true
    pendingLogouts[index].isWiped = isWiped
    guard let generation = pendingLogouts[index].generation else {
      return resumeLeaving(nil, nil, status: 0)
    }
    return tell(generation)
  }

  /// Tells the server that a token's session is over.
  mutating func tell(_ generation: Generation) -> [SessionEffect] {
    telling.insert(generation)
    return [.revoke(generation)]
  }

  /// Removes again what could not be removed, unless somebody has signed in since.
  mutating func wipeAgain() -> [SessionEffect] {
    guard wiping == nil, state.kind != .authenticated else { return [] }
    // An older one is of another session, which may be another user's.
    guard let generation = fold.intents.revocations.last, generation == fold.generation else {
      return wipeEnded()
    }
    return wipe(wipeOfEnd(keeping: generation))
  }

  mutating func revoked(
    _ generation: Generation, _ outcome: RevocationOutcome, status: UInt16, at now: ClockReading
  ) -> [SessionEffect] {
    telling.remove(generation)
    guard stopped == nil else { return resumeLeaving(generation, outcome, status: status) }
    guard fold.intents.revocations.contains(generation) else {
      // Another process has told the server.
      return [.forgetRevocation(generation)] + retryRevocations(at: now)
        + resumeLeaving(generation, outcome, status: status)
    }
    // Noted once; that it still cannot be said is no news, and it is said in the end.
    if outcome == .failed, untellable.contains(generation),
      !pendingLogouts.contains(where: { $0.generation == generation })
    {
      return retryRevocations(at: now)
    }
    let note = SessionNote.RevocationSettled(
      generation: generation, outcome: outcome, status: status)
    return commit(
      [.note(.revocationSettled(note))],
      for: .revoked(generation, outcome, status: status), at: now)
  }

  mutating func revocationNoted(
    _ generation: Generation, _ outcome: RevocationOutcome, status: UInt16, at now: ClockReading
  ) -> [SessionEffect] {
    var forgotten: [SessionEffect] = []
    if outcome == .failed {
      untellable.insert(generation)
    } else {
      untellable.remove(generation)
      revocationTries = 0
      forgotten = [.forgetRevocation(generation)]
    }
    return forgotten + retryRevocations(at: now)
      + resumeLeaving(generation, outcome, status: status)
  }

  /// Goes on with the next logout; once every one was tried, puts the next try off, ever longer, since
  /// nobody waits for it.
  private mutating func retryRevocations(at now: ClockReading) -> [SessionEffect] {
    let next = tellNext()
    guard stopped == nil, telling.isEmpty, !fold.intents.revocations.isEmpty else { return next }
    let delay = policy.revocationDelay(tries: revocationTries)
    revocationTries = revocationTries &+ 1
    return [.schedule(.revocation, uptime: now.uptime.addingSaturating(delay))]
  }

  /// Tells the server again of every logout that it was not told of.
  mutating func tellAgain() -> [SessionEffect] {
    guard stopped == nil else { return [] }
    return tell(each: fold.intents.revocations)
  }

  /// Tells the server of these, one after the other.
  mutating func tell(each generations: [Generation]) -> [SessionEffect] {
    untold = generations.filter { !telling.contains($0) }
    return tellNext()
  }

  private mutating func tellNext() -> [SessionEffect] {
    untold.removeAll { !fold.intents.revocations.contains($0) }
    guard telling.isEmpty, !untold.isEmpty else { return [] }
    return tell(untold.removeFirst())
  }

  /// Another process ended the session.
  ///
  /// It may have died before it kept what the revocation needs, and
  /// before it told the server.
  ///
  /// What is stored is kept and wiped at once. The other process tells the server first: this one tells
  /// it if that was not done within a lease.
  ///
  /// - Requirement: OUT-1, OUT-6
  mutating func takeOverRevocation(of generation: Generation, at now: ClockReading)
    -> [SessionEffect]
  {
    wipe(wipeOfEnd(keeping: generation)) + [
      .schedule(.revocation, uptime: now.uptime.addingSaturating(policy.leaseDuration))
    ]
  }

  mutating func resumeLeaving(
    _ generation: Generation?, _ outcome: RevocationOutcome?, status: UInt16
  ) -> [SessionEffect] {
    guard
      let index = pendingLogouts.firstIndex(where: { $0.isTelling && $0.generation == generation })
    else { return [] }
    let left = pendingLogouts.remove(at: index)
    return left.caller.map {
      [.resume($0, .loggedOut(outcome, status: status, isWiped: left.isWiped))]
    } ?? []
  }
}

extension [SessionRecord.Content] {
  /// Whether the first end of a session in these records is a user's logout that revokes nothing.
  package var leavesTokens: Bool {
    var isLoggedOut = false
    for content in self {
      switch content {
      case .event(.logout(let logout)):
        guard !isLoggedOut, logout.reason == .user else { return false }
        isLoggedOut = true
      case .event(.login), .event(.sessionExpired): return isLoggedOut
      // It is in the batch of the logout.
      case .note(.revocationPending): return false
      default: continue
      }
    }
    return isLoggedOut
  }
}

extension LogoutReason {
  /// Whether the server may still accept the tokens of a session that ended so.
  ///
  /// A policy's logout follows an expiry, whose reason decides. A server that calls the account deleted
  /// may have said so of another account, or keep the tokens for a while.
  ///
  /// - Requirement: OUT-6
  fileprivate var leavesTokens: Bool { self == .user || self == .userDeleted }
}

extension ExpiryReason {
  /// Whether the server may still accept the tokens of a session that ended so.
  ///
  /// A refused refresh token is dead, and so is a token that expired without one. What the stored items
  /// of an end at opening hold is not known by its reason.
  ///
  /// - Requirement: OUT-6
  fileprivate var leavesTokens: Bool {
    self == .inactivity || self == .lifetimeEnded || self == .userInactive
      || self == .attemptsExhausted
  }
}

extension PendingCommit.Purpose {
  /// Whether this is an opening that found the token of this generation.
  fileprivate func finds(_ generation: Generation?) -> Bool {
    guard case .restore(let facts) = self else { return false }
    return facts.token == .present && facts.generation == generation
  }
}
