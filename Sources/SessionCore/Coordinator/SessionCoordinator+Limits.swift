/// Ends or locks a session that is not used for too long (``Inactivity``).
///
/// - Requirement: POL-5
extension SessionCoordinator {
  /// Whether this process measures: it knows who is logged in, and a user is.
  private var isMeasuringUse: Bool {
    inactivity.isLimited && isRestored && fold.kind == .authenticated
  }

  /// Starts the measurement after a login, in this process or another one.
  mutating func beginUse(at now: ClockReading) -> [SessionEffect] {
    inactivity.begin(at: now.uptime)
    return used(at: now.uptime, now)
  }

  /// Resumes the measurement at an opening; `idle` is how long the session was unused, if known.
  mutating func resumeUse(idle: Int64?, at now: ClockReading) -> [SessionEffect] {
    guard isMeasuringUse else { return [] }
    return follow(inactivity.resume(idle: idle, at: now.uptime), isOpening: true, at: now)
  }

  /// Records a use.
  mutating func used(at uptime: Int64, _ now: ClockReading) -> [SessionEffect] {
    guard isMeasuringUse else { return [] }
    return inactivity.use(at: uptime, now: now.uptime)
  }

  mutating func inactivityIsDue(at now: ClockReading) -> [SessionEffect] {
    guard isMeasuringUse, stopped == nil else { return [] }
    return inactivity.isDue(isLocked: isLocked, at: now.uptime)
  }

  mutating func useRead(_ last: Int64?, at now: ClockReading) -> [SessionEffect] {
    guard isMeasuringUse, stopped == nil else { return [] }
    return follow(inactivity.read(last, retryPause: retryPause, at: now.uptime), at: now)
  }

  private mutating func follow(
    _ verdict: Inactivity.Verdict, isOpening: Bool = false, at now: ClockReading
  ) -> [SessionEffect] {
    switch verdict {
    case .goesOn(let effects): effects
    case .unused(let effects): effects + lockItself(.unused, isOpening: isOpening, at: now)
    case .expired: end(by: .unused, at: now)
    }
  }
}

/// Ends a session that lasts too long (``SessionLifetime``).
///
/// - Requirement: POL-10
extension SessionCoordinator {
  /// When the session ends, by the policy or by a response; `Int64.max` if there is no limit.
  package var lifetimeEnd: Int64 { lifetime.end }

  /// When the session ends according to the responses; `Int64.max` for never.
  package var statedEnd: Int64 { lifetime.statedEnd }

  /// Starts the measurement after a login, in this process or another one.
  mutating func beginLifetime(at now: ClockReading) -> [SessionEffect] {
    guard case .authenticated(let session) = state else { return [] }
    let age = max(0, now.time.milliseconds(since: session.since))
    return lifetime.begin(age: age, at: now.uptime)
  }

  /// Resumes the measurement at an opening.
  ///
  /// If another end is being journaled, the timer checks again afterwards.
  mutating func resumeLifetime(_ facts: StoredItemsReport, at now: ClockReading) -> [SessionEffect]
  {
    guard case .authenticated(let session) = state else { return [] }
    var stated: Int64?
    if let end = facts.sessionEnd, facts.tellsEnd(of: session.token),
      lifetime.statedEnd == .max || facts.deadline != nil
    {
      stated = sessionEnd(end, of: session.token, deadline: facts.deadline, at: now)
    }
    let verdict = lifetime.resume(
      stated: stated, age: age(of: session, as: facts, at: now), mayExpire: sequencer.isDeciding,
      at: now.uptime)
    return follow(verdict, at: now)
  }

  mutating func lifetimeIsDue(at now: ClockReading) -> [SessionEffect] {
    guard stopped == nil, isRestored, fold.kind == .authenticated else { return [] }
    return follow(lifetime.check(at: now.uptime), at: now)
  }

  private mutating func follow(
    _ verdict: SessionLifetime.Verdict, at now: ClockReading
  ) -> [SessionEffect] {
    switch verdict {
    case .goesOn(let effects): effects
    case .expired: end(by: .tooOld, at: now)
    }
  }

  // MARK: What a response says

  /// Returns the end to store with the token of a response; a login does not keep the previous end.
  func storedSessionEnd(with arrival: TokenRequest.ReceivedResponse) -> Timestamp? {
    // The end is stored with the token, because it must not be lost between the response and the
    // journal, and because a process that takes over a peer's token reads that item anyway. A note
    // in the journal was rejected: a kind of its own, a section in each reader, and ignored by
    // older versions.
    let kept = request?.isLogin == true || statedEnd == .max ? nil : statedEnd
    guard let end = arrival.sessionEnd ?? kept else { return nil }
    let moment = arrival.moment
    return moment.time.advanced(by: end.subtractingSaturating(moment.uptime))
  }

  /// Returns how long the server keeps the refresh token; `nil` if it does not say, or said it before.
  ///
  /// A server counts whole seconds: a hundredth more is the same. The tokens of a login have their own.
  func newRefreshTokenLife(in arrival: TokenRequest.ReceivedResponse) -> Int64? {
    guard let life = arrival.facts.refreshTokenLife else { return nil }
    guard request?.signsIn != true, let known = fold.intents.refreshTokenLife else { return life }
    let longer = life.subtractingSaturating(known)
    return longer < 0 || longer > known / 100 ? life : nil
  }

  /// Returns the key to which the server bound the token; `nil` if it bound none, or one before to it.
  func newBoundKey(in arrival: TokenRequest.ReceivedResponse) -> Identifier? {
    guard request?.isLogin == true || arrival.facts.boundKey != fold.intents.boundKey else {
      return nil
    }
    return arrival.facts.boundKey
  }

  /// Converts a stored end to the clock that never jumps.
  ///
  /// The end and the token's expiry were stored with the same reading of the civil clock. So the
  /// end follows from the token's deadline. Without a deadline the civil time counts.
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

  /// Returns how long ago the session began, in milliseconds.
  ///
  /// The journal holds the civil time at which the stored token was issued. On the clock that never
  /// jumps, it was issued one lifetime before its deadline. From there that clock counts. After a
  /// reboot the deadline is unknown, and the civil time counts.
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
  /// Whether the stored end belongs to the session with this token.
  ///
  /// The token item is that session's, or that of the journal which it continues.
  fileprivate func tellsEnd(of token: TokenMetadata) -> Bool {
    generation == token.generation || self.token == .otherJournal
  }
}

extension TokenMetadata {
  /// Returns the remaining lifetime of a session in milliseconds, bounded to 0 … ten years.
  ///
  /// - Requirement: POL-10
  package static func boundedSessionLifetime(_ milliseconds: Int64) -> Int64 {
    min(max(0, milliseconds), unknownLifetime)
  }
}
