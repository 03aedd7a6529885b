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
    // One revocation at a time has what it needs; an older one gives way to this.
    contents += fold.intents.revocations.map(Self.abandoned)
    if let token = state.token { contents.append(.note(.revocationPending(token.generation))) }
    return commit(contents, for: .logout(caller), at: now)
  }

  /// The logout is durable: wipe, then tell the server, then let the caller go on.
  mutating func left(_ caller: Caller) -> [SessionEffect] {
    let generation = fold.intents.revocations.last
    let effects = stopWaiting()
    leaving = Leaving(caller: caller, generation: generation)
    return effects + [.wipe(generation.map { .sessionKeepingRevocation($0) } ?? .session)]
  }

  mutating func wiped(_ isWiped: Bool, at now: Moment) -> [SessionEffect] {
    let again: [SessionEffect] =
      isWiped || stopped != nil
      ? [] : [.schedule(.wipe, uptime: now.uptime.addingSaturating(policy.longestRetryDelay))]
    guard var left = leaving, !left.isTelling else { return again }
    (left.isWiped, left.isTelling) = (isWiped, true)
    leaving = left
    if let generation = left.generation { return again + [.revoke(generation)] }
    leaving = nil
    return again
      + (left.caller.map { [.resume($0, .loggedOut(nil, status: 0, isWiped: isWiped))] } ?? [])
  }

  /// Removes again what could not be removed, unless somebody has signed in since.
  func wipeAgain() -> [SessionEffect] {
    switch state {
    case .authenticated: []
    case .expired: [.wipe(.token)]
    case .unauthenticated: [.wipe(.session)]
    }
  }

  mutating func revoked(
    _ generation: Generation, _ outcome: RevocationOutcome, status: UInt16, at now: Moment
  ) -> [SessionEffect] {
    guard stopped == nil, fold.intents.revocations.contains(generation) else {
      return resumeLeaving(generation, outcome, status: status)
    }
    let note = SessionNote.RevocationSettled(
      generation: generation, outcome: outcome, status: status)
    return commit(
      [.note(.revocationSettled(note))],
      for: .revoked(generation, outcome, status: status), at: now)
  }

  mutating func revocationNoted(
    _ generation: Generation, _ outcome: RevocationOutcome, status: UInt16
  ) -> [SessionEffect] {
    let isSettled = fold.intents.revocations.isEmpty
    return (isSettled ? [.forgetRevocation] : [])
      + resumeLeaving(generation, outcome, status: status)
  }

  mutating func resumeLeaving(
    _ generation: Generation, _ outcome: RevocationOutcome, status: UInt16
  ) -> [SessionEffect] {
    guard let left = leaving, left.generation == generation else { return [] }
    leaving = nil
    return left.caller.map {
      [.resume($0, .loggedOut(outcome, status: status, isWiped: left.isWiped))]
    } ?? []
  }
}
