extension SessionCoordinator {
  /// First the event: from there nothing brings the session back (OUT-1, OUT-4).
  mutating func logout(_ caller: Caller, at now: Moment) -> [SessionEffect] {
    if let stopped { return [.resume(caller, .failed(stopped))] }
    guard state.kind != .unauthenticated else {
      let waiting = stopWaiting()
      return waiting + [.resume(caller, .alreadyLoggedOut)]
    }
    return commit(
      [.event(.logout(SessionEvent.Logout(reason: .user)))], for: .logout(caller), at: now)
  }

  /// What a batch that ends the session for good notes beside it, so that the server is told (OUT-1).
  ///
  /// The token of whoever logs out is revoked. An account that a provider keeps goes with every such end,
  /// also with one that the policy or the server decided, or of a session that has expired (WEB-6).
  func revocation(with contents: [SessionRecord.Content]) -> [SessionRecord.Content] {
    guard state.kind != .unauthenticated else { return [] }
    for case .event(.logout(let logout)) in contents {
      let known = hasProvider ? fold.generation : nil
      let token = logout.reason == .user || hasProvider ? state.token : nil
      guard let generation = token?.generation ?? known else { return [] }
      // So many have what they need to be tried again; the oldest give way.
      let oldest = fold.intents.revocations.dropLast(Self.maximumRevocations - 1)
      return oldest.filter { !telling.contains($0) }.map(Self.abandoned)
        + [.note(.revocationPending(generation))]
    }
    return []
  }

  /// How many logouts may wait for the server to be told of them.
  package static let maximumRevocations = 8

  /// The logout of `generation` is durable: wipe, then tell the server, then let the caller go on, where
  /// there is one.
  mutating func left(_ caller: Caller?, _ generation: Generation?) -> [SessionEffect] {
    leavings.append(Leaving(caller: caller, generation: generation))
    return wipe(.everything(keepingRevocation: generation))
  }

  mutating func wiped(_ ending: SessionInput.WipeEnding, at now: Moment) -> [SessionEffect] {
    guard let wipe = wiping else { return [] }
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
      // Before their token takes the place of the one that is to be revoked.
      return wipeAgain(wipe) + effects
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
      guard case .everything = wipe else { return forgotten + self.wipe(wipe) }
      return forgotten + self.wipe(.everything(keepingRevocation: kept))
    }
    guard let kept else { return forgotten + wipeEnded(isWiped: true) }
    return self.wipe(.nothing(keepingRevocation: kept))
  }

  private mutating func wipeEnded(isWiped: Bool) -> [SessionEffect] {
    guard let index = leavings.firstIndex(where: { !$0.isTelling }) else { return [] }
    leavings[index].isTelling = true
    leavings[index].isWiped = isWiped
    guard let generation = leavings[index].generation else {
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
    guard state.kind == .unauthenticated, let generation = fold.intents.revocations.last else {
      return wipeEnded()
    }
    return wipe(.everything(keepingRevocation: generation))
  }

  mutating func revoked(
    _ generation: Generation, _ outcome: RevocationOutcome, status: UInt16, at now: Moment
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
      !leavings.contains(where: { $0.generation == generation })
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
    _ generation: Generation, _ outcome: RevocationOutcome, status: UInt16, at now: Moment
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
  private mutating func retryRevocations(at now: Moment) -> [SessionEffect] {
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

  /// Others have logged out: whoever did may have died before it kept what the server is to be told
  /// with, and before it was told (OUT-1).
  ///
  /// What is stored is kept and wiped at once. Who logged out tells the server first: it is told from
  /// here where that was not done within a lease.
  mutating func takeOverLogout(of generation: Generation, at now: Moment) -> [SessionEffect] {
    wipe(.everything(keepingRevocation: generation)) + [
      .schedule(.revocation, uptime: now.uptime.addingSaturating(policy.leaseDuration))
    ]
  }

  mutating func resumeLeaving(
    _ generation: Generation?, _ outcome: RevocationOutcome?, status: UInt16
  ) -> [SessionEffect] {
    guard let index = leavings.firstIndex(where: { $0.isTelling && $0.generation == generation })
    else { return [] }
    let left = leavings.remove(at: index)
    return left.caller.map {
      [.resume($0, .loggedOut(outcome, status: status, isWiped: left.isWiped))]
    } ?? []
  }
}
