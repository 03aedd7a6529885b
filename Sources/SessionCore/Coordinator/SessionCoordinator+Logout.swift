extension SessionCoordinator {
  /// First the event: from there nothing brings the session back (OUT-1, OUT-4).
  mutating func logout(_ caller: Caller, at now: Moment) -> [SessionEffect] {
    if let stopped { return [.resume(caller, .failed(stopped))] }
    guard state.kind != .unauthenticated else {
      let waiting = stopWaiting()
      return waiting + [.resume(caller, .alreadyLoggedOut)]
    }
    var contents: [SessionRecord.Content] = [
      .event(.logout(SessionEvent.Logout(reason: .user)))
    ]
    // One revocation at a time has what it needs to be tried again; an older one gives way.
    contents += fold.intents.revocations.filter { !telling.contains($0) }.map(Self.abandoned)
    if let token = state.token { contents.append(.note(.revocationPending(token.generation))) }
    return commit(contents, for: .logout(caller), at: now)
  }

  /// The logout of `generation` is durable: wipe, then tell the server, then let the caller go on.
  mutating func left(_ caller: Caller, _ generation: Generation?) -> [SessionEffect] {
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
      return effects + wipeAgain(wipe)
    }
  }

  /// Others have appended: what they signed in to is not to be wiped.
  private mutating func wipeAgain(_ wipe: SessionEffect.Wipe) -> [SessionEffect] {
    // Another process that ended the session anew, or expired it, has asked for its own wipe.
    guard wiping == nil else { return [] }
    guard state.kind == .authenticated else { return self.wipe(wipe) }
    guard case .everything(let generation?) = wipe else { return wipeEnded(isWiped: true) }
    return self.wipe(.nothing(keepingRevocation: generation))
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
    return wipeEnded()
  }

  mutating func revoked(
    _ generation: Generation, _ outcome: RevocationOutcome, status: UInt16, at now: Moment
  ) -> [SessionEffect] {
    telling.remove(generation)
    // Told of once; that it still cannot be said is no news, and it is said in the end.
    if outcome == .failed, revocationTries > 0, stopped == nil,
      fold.intents.revocations.last == generation,
      !leavings.contains(where: { $0.generation == generation })
    {
      return retryRevocation(at: now)
    }
    guard stopped == nil, fold.intents.revocations.contains(generation) else {
      let isSettled = fold.intents.revocations.isEmpty
      return (isSettled ? [.forgetRevocation] : [])
        + resumeLeaving(generation, outcome, status: status)
    }
    // A later logout has taken the place of what another try would need.
    let isOvertaken = outcome == .failed && fold.intents.revocations.last != generation
    let note = SessionNote.RevocationSettled(
      generation: generation, outcome: isOvertaken ? .abandoned : outcome, status: status)
    return commit(
      [.note(.revocationSettled(note))],
      for: .revoked(generation, note.outcome, status: status), at: now)
  }

  mutating func revocationNoted(
    _ generation: Generation, _ outcome: RevocationOutcome, status: UInt16, at now: Moment
  ) -> [SessionEffect] {
    if outcome != .failed { revocationTries = 0 }
    let isSettled = fold.intents.revocations.isEmpty
    let next = isSettled ? [.forgetRevocation] : retryRevocation(at: now)
    return next + resumeLeaving(generation, outcome, status: status)
  }

  /// Puts the next try off: ever longer, since nobody waits for it.
  private mutating func retryRevocation(at now: Moment) -> [SessionEffect] {
    guard stopped == nil else { return [] }
    let delay = policy.revocationDelay(tries: revocationTries)
    revocationTries = revocationTries &+ 1
    return [.schedule(.revocation, uptime: now.uptime.addingSaturating(delay))]
  }

  /// Tells the server again of the last logout: an earlier one has lost what that needs.
  mutating func tellAgain() -> [SessionEffect] {
    guard stopped == nil, let generation = fold.intents.revocations.last,
      !telling.contains(generation)
    else { return [] }
    return tell(generation)
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
