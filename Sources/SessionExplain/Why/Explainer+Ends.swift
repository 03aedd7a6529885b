@_spi(Internals) import SessionCore

extension ExplanationDraft {
  mutating func explainEnd() {
    let logout = evidence.logout?.logout
    explanation.isClosedByPolicy = logout == .policy
    explanation.reason = (evidence.expiry?.expiry?.description) ?? logout?.description
    if logout == .user {
      explanation.reason = logout?.description
      explainUser()
    } else if logout == .userDeleted {
      explanation.reason = logout?.description
      explainDeleted()
    } else if let reason = evidence.expiry?.expiry {
      explain(reason)
    } else if logout == .policy {
      if let root = evidence.root.first { explainClosing(of: root) } else { explainPolicyAlone() }
    } else {
      explainUnknown()
    }
  }

  private mutating func explain(_ reason: ExpiryReason) {
    switch reason {
    case .refreshRejected: explainRejection()
    case .attemptsExhausted: explainExhaustion()
    case .tokenExpired: explainExpiry()
    case .secretsMissing: explainMissingSecret()
    case .corruptStorage: explainCorruptStorage()
    case .secretsOutdated: explainOutdatedSecrets()
    case .secretsNewer: explainNewerSecrets()
    case .userInactive: explainInactiveAccount()
    case .inactivity: explainInactivity()
    case .lifetimeEnded: explainLifetime()
    case .endedByServer: explainServersEnd()
    // A reason of a newer version; a test covers all known reasons.
    default: explainUnknown()
    }
  }

  // MARK: The app's own logout

  private mutating func explainUser() {
    leaveUntold(.personOrProgram)
    if evidence.before == .expired {
      conclude(.userLogoutAfterExpiry, .proven)
      explanation.root = evidence.root.map(Explainer.explain)
      prove(.appCalledLogout, on: evidence.logout)
      if let root = evidence.root.first?.place {
        prove(.settledExpiry, [.place(root.sequence)], on: root)
      }
      if evidence.root.isEmpty, let gone = evidence.compactedBefore, evidence.login != nil {
        explanation.untold.append(Untold(.beforeCompaction, [.place(gone + 1)]))
      }
      if !explanation.root.isEmpty { advise(.asRoot) }
      return
    }
    conclude(.userLogout, .proven)
    showsAftermath = true
    prove(.appCalledLogout, on: evidence.logout)
    ruleOutRefusal()
    ruleOutLocalExpiry()
    ruleOutStorage()
    advise(.findLogoutCallers)
  }

  /// Explains that the policy closed an expired session later.
  private mutating func explainClosing(of root: Evidence) {
    let reason = Explainer.explain(root)
    // A session that began and expired in lost records may be the one that was closed.
    let isWhole = evidence.gaps == root.gaps
    conclude(reason.cause, isWhole ? reason.certainty : .possible, reason.headline)
    explanation.root = [reason]
    prove(.settledExpiry, [.place(root.place?.sequence ?? 0)], on: root.place)
    advise(.asRoot)
  }

  // MARK: The server's statements

  private mutating func explainDeleted() {
    conclude(.accountDeleted, .proven)
    serverSaidOfUser(.userDeleted)
    ruleOutTheUsual()
    advise(.askWhoDeleted)
  }

  private mutating func explainInactiveAccount() {
    conclude(.accountInactive, .proven)
    serverSaidOfUser(.userInactive)
    ruleOutTheUsual()
    advise(.reactivate)
  }

  private mutating func serverSaidOfUser(_ kind: RequestFailure.Kind) {
    if let fact = evidence.failure, let failure = fact.failure, failure.kind == kind {
      prove(.serverSaid, [Self.words(failure)], on: fact)
    } else {
      prove(.serverSaidOfUser, on: evidence.place)
    }
  }

  private mutating func explainServersEnd() {
    conclude(.endedByServer, .proven)
    prove(.serverEndedIt, on: evidence.expiry)
    // A server rejects such a token to end the session (POL-7).
    if let token, !token.facts.isRefreshable, !token.facts.isLifetimeKnown { maybe(.livedItsTime) }
    maybe(.signedOutElsewhere, .passwordChanged, .administrator)
    ruleOutTheUsual()
    advise(.lookWhoEnded)
  }

  private mutating func explainInactivity() {
    // If the clock was set forward, the session may have been unused for less time.
    let wasSet = evidence.clock.jumps.contains { $0.span > 0 && $0.to > evidence.sessionStart }
    conclude(.inactive, wasSet ? .possible : .proven)
    if let before = evidence.lastBefore {
      let gap = max(0, endTime.milliseconds(since: before.time))
      prove(.unusedForLimit, [.span(gap)], on: before)
    }
    ruleOutUser()
    ruleOutRefusal()
    ruleOutStorage()
    leaveUntold(.policyLimits)
    advise(.raiseLimit)
  }

  private mutating func explainLifetime() {
    // If the clock was set forward, the session may have lasted for less time.
    let wasSet = evidence.clock.jumps.contains { $0.span > 0 && $0.to > evidence.sessionStart }
    conclude(.lifetimeOver, wasSet ? .possible : .proven)
    if let login = evidence.login {
      let age = max(0, endTime.milliseconds(since: login.time))
      prove(.lastedForLifetime, [.span(age)], on: login)
    }
    ruleOutUser()
    ruleOutRefusal()
    ruleOutStorage()
    leaveUntold(.policyLimits)
    advise(.raiseLifetime)
  }

  /// Explains a closing by the policy whose expiry is not in the file.
  private mutating func explainPolicyAlone() {
    conclude(.unexplained, .possible, [.word(LogoutReason.policy.description)])
    prove(.closedByPolicy, on: evidence.logout)
  }

  private mutating func explainUnknown() {
    let code = explanation.reason ?? ""
    conclude(.unexplained, .possible, [.word(code)])
    prove(.newReason, [.word(code)], on: evidence.place)
    if evidence.logout == nil || evidence.logout?.logout == .policy { ruleOutUser() }
    advise(.newerTool)
  }

  // MARK: Storage

  private mutating func explainMissingSecret() {
    conclude(.secretsMissing, .proven)
    showsOpenings = true
    prove(.itemMissing, on: evidence.expiry)
    maybe(.itemsNotMoved, .keychainCleared, .accessLost)
    ruleOutUser()
    ruleOutRefusal()
    leaveUntold(.whichItem)
    advise(.signInAgain)
  }

  private mutating func explainCorruptStorage() {
    showsOpenings = true
    ruleOutUser()
    ruleOutRefusal()
    let unreadable = evidence.batch.compactMap { fact -> (Fact, SecretItem)? in
      guard case .itemUnreadable(let item)? = fact.note else { return nil }
      return (fact, item)
    }
    guard let first = unreadable.first(where: { $0.1 == .token }) ?? unreadable.first else {
      conclude(.secretsAhead, .proven)
      prove(
        .storedTokenNewer, [tokenWord], on: evidence.expiry, token?.announced)
      maybe(.journalRestored, .itemGarbled)
      advise(.noJournalBackup)
      return
    }
    // An item other than the token matters only if the policy requires it.
    let isSure = first.1 == .token
    conclude(.secretUnreadable, isSure ? .proven : .likely, [.word(first.1.description)])
    for (fact, item) in unreadable { prove(.itemNotRead, [.word(item.description)], on: fact) }
    if !isSure {
      infer(.journalRestored, .possible)
      leaveUntold(.policyLimits)
    }
    infer(.itemGarbled, .likely)
    advise(.sendItemFacts)
  }

  /// The token that was current, even if no readable record names it.
  private var tokenWord: Value {
    token.map { .token($0.generation) } ?? .word("the session's token")
  }

  private mutating func explainOutdatedSecrets() {
    conclude(.secretsOutdated, .proven)
    showsOpenings = true
    prove(
      .storedTokenOlder, [tokenWord], on: evidence.expiry, token?.announced)
    infer(.secretsRestored, .likely)
    ruleOutUser()
    ruleOutRefusal()
    advise(.noJournalBackup)
  }

  /// Explains that an earlier version of the app was installed, which cannot read the newer items.
  private mutating func explainNewerSecrets() {
    conclude(.secretsNewer, .proven)
    showsOpenings = true
    prove(.itemsOfNewerVersion, on: evidence.expiry)
    infer(.appDowngraded, .likely)
    ruleOutUser()
    ruleOutRefusal()
    advise(.updateApp)
  }

  // MARK: The lifetime of a token

  private mutating func explainExpiry() {
    // Without the record of its announcement, the token's lifetime is not known.
    guard let token, !token.isLost else { return conclude(.tokenExpired, .possible) }
    ruleOutUser()
    if token.requests.isEmpty, token.isWhole { ruleOut(.nothingSent) }
    ruleOutStorage()
    guard token.facts.lifetimeMilliseconds >= 1_000 else { return explainStillbirth(token) }
    let early = token.facts.expiresAt.milliseconds(since: endTime)
    guard early <= 0 else {
      // The clock was set back during the wait, or it was read in another way.
      conclude(.tokenExpired, .possible)
      prove(
        .lifeNotOver, [.token(token.generation), .span(early)], on: token.announced,
        evidence.expiry)
      return
    }
    // According to the records, a refreshable token did not expire for lack of a refresh token.
    let couldRefresh = token.facts.isRefreshable
    prove(
      couldRefresh ? .tokenOver : .lifeWasOver,
      [.token(token.generation), .time(token.facts.expiresAt)], on: token.announced, evidence.expiry
    )
    let forward = token.announced.map(evidence.clock.forward(since:)) ?? 0
    let left = token.facts.expiresAt.milliseconds(since: endTime.advanced(by: -forward))
    if forward > 0, endTime >= token.facts.expiresAt, left > 0 {
      conclude(.clockForward, .likely, [.span(forward)])
      showsOpenings = true
      let start = token.announced?.sequence ?? 0
      explanation.proven += evidence.clock.jumps.filter { $0.to > start && !$0.isStepBack }
        .map(Self.finding)
      infer(.clockMadeItExpire, .likely, [.token(token.generation), .span(left)])
      advise(.clockIsUsers)
      advise(.signInAgain)
      return
    }
    conclude(.tokenExpired, couldRefresh ? .possible : .proven)
    ruleOutClock(to: token.facts.expiresAt)
    if couldRefresh { explainNoneToRead(token) } else { advise(.issueRefreshTokens) }
  }

  /// Explains a token that had expired when it arrived.
  private mutating func explainStillbirth(_ token: TokenHistory) {
    conclude(.expiredOnArrival, .proven)
    prove(
      .deadOnArrival, [.token(token.generation), .span(token.facts.lifetimeMilliseconds)],
      on: token.announced)
    if case .login(let login)? = token.announced?.event, login.method == .adoption {
      maybe(.oldWhenAdopted, .noLifetimeStated)
    } else {
      infer(.noLifetimeStated, .likely)
    }
    advise(.checkExpiresIn)
  }
}
