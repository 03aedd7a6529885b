/// How long the session lasts at most, on the clock that never jumps.
///
/// - Requirement: POL-10
extension SessionCoordinator {
  /// When the session ends, by the policy or by what the responses said; `Int64.max` if nothing says so.
  package var lifetimeEnd: Int64 { min(policyEnd, statedEnd) }

  private var isLifetimeLimited: Bool { policy.absoluteLifetime != nil || statedEnd != .max }

  /// A session began, here or in another process.
  mutating func beginLifetime(at now: ClockReading) -> [SessionEffect] {
    let wasLimited = statedEnd != .max
    statedEnd = .max
    guard let limit = policy.absoluteLifetime, case .authenticated(let session) = state else {
      return wasLimited ? [.cancel(.lifetime)] : []
    }
    let passed = max(0, now.time.milliseconds(since: session.since))
    policyEnd = now.uptime.addingSaturating(limit.subtractingSaturating(passed))
    return [.schedule(.lifetime, uptime: lifetimeEnd)]
  }

  /// The session was opened.
  ///
  /// If another end is being journaled, the timer looks again after that.
  mutating func resumeLifetime(_ facts: StoredItemsReport, at now: ClockReading) -> [SessionEffect]
  {
    guard case .authenticated(let session) = state else { return [] }
    if let end = facts.sessionEnd, facts.tellsEnd(of: session.token),
      statedEnd == .max || facts.deadline != nil
    {
      statedEnd = sessionEnd(end, of: session.token, deadline: facts.deadline, at: now)
    }
    if let limit = policy.absoluteLifetime, policyEnd == .max {
      let passed = max(0, age(of: session, as: facts, at: now))
      policyEnd = now.uptime.addingSaturating(limit.subtractingSaturating(passed))
    }
    guard isLifetimeLimited else { return [] }
    guard now.uptime >= lifetimeEnd, pending == nil else {
      return [.schedule(.lifetime, uptime: lifetimeEnd)]
    }
    return expire(.lifetimeEnded, at: now)
  }

  /// The end was reached when the timer was set: another process may have begun a new session since.
  mutating func lifetimeIsDue(at now: ClockReading) -> [SessionEffect] {
    guard isLifetimeLimited, stopped == nil, isRestored, state.kind == .authenticated
    else { return [] }
    guard now.uptime >= lifetimeEnd else { return [.schedule(.lifetime, uptime: lifetimeEnd)] }
    return expire(.lifetimeEnded, at: now)
  }

  /// The session is over.
  mutating func endLifetime() -> [SessionEffect] {
    guard isLifetimeLimited else { return [] }
    (policyEnd, statedEnd) = (.max, .max)
    return [.cancel(.lifetime)]
  }

  // MARK: What a response says

  /// A response says when the session ends at the latest; `nil` keeps what one before it said.
  mutating func takeSessionEnd(_ end: Int64?) -> [SessionEffect] {
    guard let end, end != statedEnd else { return [] }
    statedEnd = end
    return [.schedule(.lifetime, uptime: lifetimeEnd)]
  }

  /// What is stored of it with the token of an answer: a login that says nothing has none.
  func storedSessionEnd(with arrival: TokenRequest.ReceivedResponse) -> Timestamp? {
    let kept = flight?.isLogin == true || statedEnd == .max ? nil : statedEnd
    guard let end = arrival.sessionEnd ?? kept else { return nil }
    let moment = arrival.moment
    return moment.time.advanced(by: end.subtractingSaturating(moment.uptime))
  }

  /// A stored end, on the clock that never jumps.
  ///
  /// It and the token's end were written by one reading of the civil clock. From the token's deadline it
  /// follows on the clock that never jumps; without a deadline the civil time counts.
  ///
  /// - Requirement: REF-8
  func sessionEnd(
    _ end: Timestamp, of token: TokenMetadata, deadline: Int64?, at now: ClockReading
  ) -> Int64 {
    guard let deadline else {
      let rest = end.milliseconds(since: now.time)
      return now.uptime.addingSaturating(TokenMetadata.boundedSessionLifetime(rest))
    }
    return deadline.addingSaturating(end.milliseconds(since: token.expiresAt))
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

extension StoredItemsReport {
  /// Whether the stored end is that of the session with this token: the item is its, or that of the
  /// journal it goes on from.
  fileprivate func tellsEnd(of token: TokenMetadata) -> Bool {
    generation == token.generation || self.token == .otherJournal
  }
}

extension TokenMetadata {
  /// Milliseconds that a session still lasts, within the bounds: 0 to ten years.
  ///
  /// - Requirement: POL-10
  package static func boundedSessionLifetime(_ milliseconds: Int64) -> Int64 {
    min(max(0, milliseconds), unknownLifetime)
  }
}
