/// How long the session lasts at most (POL-10), on the clock that never jumps.
extension SessionCoordinator {
  /// A session began, here or in another process.
  mutating func beginLifetime(at now: ClockReading) -> [SessionEffect] {
    guard let limit = policy.absoluteLifetime, case .authenticated(let session) = state else {
      return []
    }
    let passed = max(0, now.time.milliseconds(since: session.since))
    lifetimeEnd = now.uptime.addingSaturating(limit.subtractingSaturating(passed))
    return [.schedule(.lifetime, uptime: lifetimeEnd)]
  }

  /// The session was opened.
  ///
  /// If another end is being journaled, the timer looks again after that.
  mutating func resumeLifetime(_ facts: StoredItemsReport, at now: ClockReading) -> [SessionEffect]
  {
    guard let limit = policy.absoluteLifetime, case .authenticated(let session) = state else {
      return []
    }
    if lifetimeEnd == .max {
      let passed = max(0, age(of: session, as: facts, at: now))
      lifetimeEnd = now.uptime.addingSaturating(limit.subtractingSaturating(passed))
    }
    guard now.uptime >= lifetimeEnd, pending == nil else {
      return [.schedule(.lifetime, uptime: lifetimeEnd)]
    }
    return expire(.lifetimeEnded, at: now)
  }

  /// The end was reached when the timer was set: another process may have begun a new session since.
  mutating func lifetimeIsDue(at now: ClockReading) -> [SessionEffect] {
    guard policy.absoluteLifetime != nil, stopped == nil, isRestored, state.kind == .authenticated
    else { return [] }
    guard now.uptime >= lifetimeEnd else { return [.schedule(.lifetime, uptime: lifetimeEnd)] }
    return expire(.lifetimeEnded, at: now)
  }

  /// The session is over.
  mutating func endLifetime() -> [SessionEffect] {
    guard policy.absoluteLifetime != nil else { return [] }
    lifetimeEnd = .max
    return [.cancel(.lifetime)]
  }

  /// How long ago the session began, in milliseconds.
  ///
  /// The stored token was issued by both clocks: by the civil time in the journal, and by the clock that
  /// never jumps one life before its deadline. From there the latter counts. After a restart of the system the
  /// deadline is not known, and the civil time counts.
  private func age(
    of session: SessionState.Authenticated, as facts: StoredItemsReport, at now: ClockReading
  ) -> Int64 {
    let token = session.token
    guard let deadline = facts.deadline, facts.generation == token.generation else {
      return now.time.milliseconds(since: session.since)
    }
    let sinceIssue = now.uptime.subtractingSaturating(
      deadline.subtractingSaturating(token.lifetimeMilliseconds))
    return sinceIssue.addingSaturating(token.issuedAt.milliseconds(since: session.since))
  }
}
