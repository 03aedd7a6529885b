extension SessionCoordinator {
  /// Journals the logout first: after that, nothing restores the session.
  ///
  /// - Requirement: OUT-1, OUT-4
  mutating func logout(
    _ caller: Caller, _ scope: LogoutScope, at now: ClockReading
  ) -> [SessionEffect] {
    if let stopped { return [.resume(caller, .failed(stopped))] }
    guard fold.kind != .unauthenticated else {
      let waiting = stopWaiting()
      guard sparesOthers else { return waiting + [.resume(caller, .alreadyLoggedOut)] }
      // The app wants no secrets to be left, not even those of a journal that is missed (RES-7).
      sparesOthers = false
      return waiting
        + logouts.begin(for: caller, revoking: nil, .everything(keepingRevocation: nil))
    }
    return commit(
      [.event(.logout(SessionEvent.Logout(reason: .user)))], for: .logout(caller, scope), at: now)
  }

  /// Returns the notes for a batch that ends the session, so that its tokens are revoked.
  ///
  /// - Requirement: OUT-1, OUT-6
  func revocation(
    with contents: [SessionRecord.Content], for purpose: PendingCommit.Purpose
  ) -> [SessionRecord.Content] {
    if case .logout(_, .thisDeviceOnly) = purpose.asked { return [] }
    guard fold.kind != .unauthenticated, let generation = leftAtServer(by: contents, for: purpose)
    else { return [] }
    // At most `maximumRevocations` keep the secrets for another attempt. The oldest ones are
    // abandoned.
    let oldest = fold.intents.revocations.dropLast(Self.maximumRevocations - 1)
    return oldest.filter { !revocations.isSending($0) }.map(Self.abandoned)
      + [.note(.revocationPending(generation))]
  }

  /// Marks open requests whose late responses are not revoked, if these contents are a logout of
  /// this device only.
  ///
  /// Only a refresh or a switch is spared. A login that is open is revoked at the server, like
  /// every login whose caller is gone.
  ///
  /// - Requirement: OUT-7, LOG-10
  mutating func spareLateResponses(after contents: [SessionRecord.Content]) {
    guard fold.kind != .unauthenticated, contents.leavesTokens else { return }
    // Other processes' tokens superseded these requests, and their own responses may still arrive.
    late.spareSuperseded()
    if let request, !request.isLogin { late.spare(request.number) }
  }

  /// Returns the token that the server still accepts after these events; `nil` if there is none.
  ///
  /// With an identity provider, every logout removes its account. That includes a logout by the
  /// policy or the server, and the logout of an expired session.
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
        // A session that ended by itself once left tokens at the server that were valid for weeks,
        // because only a user's logout revoked them. A deleted account is revoked too: the server
        // may keep its tokens for a while, and a code in the response to a call may be about
        // another account.
        if expiry.reason.leavesTokens || purpose.finds(token), let token { return token }
      case .login, .refreshSucceeded, .refreshFailed, .contextSwitched: continue
      }
    }
    return isLogout && opening.hasProvider ? token ?? fold.generation : nil
  }

  /// The highest number of logouts whose revocation may be pending.
  ///
  /// One item holds the secrets of all, so that each logout without a network reaches the server later
  /// (`revoke-tokens-when-a-session-ends`).
  package static let maximumRevocations = 8

  /// Continues after a durable logout: wipes, then revokes `generation`, then resumes the caller.
  ///
  /// The wipe comes first, so that no later opening can use the tokens if the process dies. It keeps what
  /// the revocation needs in an item of its own (`revoke-tokens-when-a-session-ends`).
  mutating func finishEnd(_ caller: Caller?, _ generation: Generation?) -> [SessionEffect] {
    logouts.begin(for: caller, revoking: generation, wipeOfEnd(keeping: generation))
  }

  /// Returns what to wipe after the end of a session: only the token item if it has expired.
  func wipeOfEnd(keeping generation: Generation?) -> SessionEffect.Wipe {
    fold.kind == .expired
      ? .token(keepingRevocation: generation) : .everything(keepingRevocation: generation)
  }

  mutating func wiped(_ ending: SessionInput.WipeEnding, at now: ClockReading) -> [SessionEffect] {
    let asked = logouts.endWipe()
    switch ending {
    case .done:
      return continueLogout(isWiped: true)
    case .failed:
      let again = now.uptime.addingSaturating(policy.longestRetryDelay)
      return (stopped == nil ? [.schedule(.wipe, uptime: again)] : [])
        + continueLogout(isWiped: false)
    case .overtaken(let records):
      let effects = followPeers(records, at: now)
      // A newer version's record may be a login, whose items must not be touched.
      guard stopped == nil else { return effects + continueLogout(isWiped: false) }
      guard let asked else { return effects + continueLogout(isWiped: false) }
      // Wiped before the new token replaces the one that is to be revoked.
      return wipeAgain(asked) + effects
    }
  }

  /// Repeats a wipe after others appended; the items of their login are not wiped.
  private mutating func wipeAgain(_ wipe: SessionEffect.Wipe) -> [SessionEffect] {
    // Another process that ended the session again has requested its own wipe.
    guard !logouts.isWiping else { return [] }
    // Secrets of a revocation that was settled meanwhile are not kept.
    let kept = wipe.keptRevocation.flatMap { fold.intents.revocations.contains($0) ? $0 : nil }
    let forgotten: [SessionEffect] =
      kept == nil ? wipe.keptRevocation.map { [.forgetRevocation($0)] } ?? [] : []
    guard fold.kind == .authenticated else {
      let again = SessionEffect.Wipe(wipe.extent, keepingRevocation: kept)
      return forgotten + logouts.request(again.sparing(others: wipe.sparesOthers))
    }
    guard let kept else { return forgotten + continueLogout(isWiped: true) }
    return logouts.request(.nothing(keepingRevocation: kept))
  }

  /// Continues with the end that requested the wipe, if one still waits.
  private mutating func continueLogout(isWiped: Bool) -> [SessionEffect] {
    let (token, effects) = logouts.wiped(completely: isWiped)
    return effects + (token.map { revocations.begin($0) } ?? [])
  }

  /// Repeats a failed wipe, unless a user has logged in since.
  mutating func wipeAgain() -> [SessionEffect] {
    guard !logouts.isWiping, fold.kind != .authenticated else { return [] }
    // An older revocation belongs to another session, perhaps of another user.
    guard let generation = fold.intents.revocations.last, generation == fold.generation else {
      return wipeItems()
    }
    return logouts.request(wipeOfEnd(keeping: generation))
  }

  mutating func revoked(
    _ generation: Generation, _ outcome: RevocationOutcome, status: UInt16, at now: ClockReading
  ) -> [SessionEffect] {
    revocations.ended(generation)
    guard stopped == nil else { return logouts.end(generation, outcome, status: status) }
    guard fold.intents.revocations.contains(generation) else {
      // Another process has revoked the token.
      return [.forgetRevocation(generation)] + proceedRevoking(at: now)
        + logouts.end(generation, outcome, status: status)
    }
    // A failure is journaled once. Only its end is journaled later.
    if outcome == .failed, revocations.hasReported(generation),
      !logouts.waits(for: generation)
    {
      return proceedRevoking(at: now)
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
    revocations.journaled(generation, outcome)
    let forgotten: [SessionEffect] = outcome == .failed ? [] : [.forgetRevocation(generation)]
    return forgotten + proceedRevoking(at: now)
      + logouts.end(generation, outcome, status: status)
  }

  /// Sends the next pending revocation, or schedules another attempt.
  mutating func proceedRevoking(at now: ClockReading) -> [SessionEffect] {
    guard stopped == nil else { return [] }
    return revocations.proceed(pending: fold.intents.revocations, policy: policy, at: now)
  }

  /// Tries all pending revocations again.
  mutating func revokeAgain() -> [SessionEffect] {
    guard stopped == nil else { return [] }
    let pending = fold.intents.revocations
    return revocations.begin(each: pending, pending: pending)
  }

  /// Handles the end of the session by another process.
  ///
  /// That process may have died before it kept the secrets of the revocation or revoked the token.
  /// So this process keeps the secrets and wipes the items at once. It revokes the token itself if
  /// the other process has not done so within a lease.
  ///
  /// - Requirement: OUT-1, OUT-6
  mutating func takeOverRevocation(of generation: Generation, at now: ClockReading)
    -> [SessionEffect]
  {
    logouts.request(wipeOfEnd(keeping: generation)) + [
      .schedule(.revocation, uptime: now.uptime.addingSaturating(policy.leaseDuration))
    ]
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
      // This note is in the batch of its logout.
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
  /// A policy's logout follows an expiry, whose reason decides. A server that calls the account
  /// deleted may have meant another account, or may keep the tokens for a while.
  ///
  /// - Requirement: OUT-6
  fileprivate var leavesTokens: Bool { self == .user || self == .userDeleted }
}

extension ExpiryReason {
  /// Whether the server may still accept the tokens of a session that ended so.
  ///
  /// A rejected refresh token is invalid, and so is a token that expired without one. For an end at
  /// an opening, the reason alone does not tell what is stored.
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
