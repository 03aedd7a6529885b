@_spi(Internals) import SessionCore

extension ExplanationDraft {
  /// Explains the current session at the end of what was read.
  mutating func explainOpen() {
    switch trail.fold.state {
    case .authenticated(let session): explainSignedIn(session)
    case .expired(let session):
      // The end itself is not in the file.
      conclude(.endedBefore, .proven)
      explanation.reason = session.reason.description
      prove(
        .expiredEarlier, [.time(session.since), .word(EventFormatter.reason(session.reason))])
    case .unauthenticated: explainNobody()
    }
  }

  private mutating func explainNobody() {
    showsOpenings = true
    if trail.fold.generation != .none {
      conclude(.endedBefore, .proven)
      prove(.endedEarlier, [.place(trail.firstSequence)])
      return
    }
    if let stray = trail.stray, case .secretsWiped(let cause)? = stray.note,
      cause == .otherJournal
    {
      conclude(.journalReplaced, .proven)
      prove(.otherJournalsSecrets, on: stray)
      maybe(.reinstalled, .journalDeleted)
      leaveUntold(.failedSignIns)
      advise(.keepJournal)
      return
    }
    // The earlier user is in the journal that this one continues.
    // So is the user of the secrets whose journal was not found.
    let isMissed = trail.storage.runs.contains { $0.failed.cause == .ownerMissing }
    conclude(.neverSignedIn, trail.continued == nil && !isMissed ? .proven : .possible)
    prove(.nobodyYet, [.place(endSequence)])
    leaveUntold(.failedSignIns)
  }

  private mutating func explainSignedIn(_ session: SessionState.Authenticated) {
    if let fact = trail.losses.end { return explainLostEnd(fact, of: session.token) }
    prove(.signedInSince, [.time(session.since)], on: trail.login)
    let lock = trail.fold.intents.lock
    if let lock {
      prove(
        .lockedSince, [.time(lock.since), .word(NoteFormatter.reason(lock.reason))], on: trail.lock)
    }
    // A request for an older token is not what the session waits for.
    if explainStore() {
      // A store that does not work comes first: no request can help.
    } else if let request = trail.fold.intents.request,
      request.sent.generation == session.token.generation
    {
      explainOpenRequest(request)
    } else if let last = session.failures.last ?? token?.failures.lastAnswered?.failure {
      explainFailures(session, last)
    } else if let need = trail.fold.intents.need?.needed, need.isOfCall {
      conclude(.stillCallNeedsUser, .proven)
      if let fact = trail.need {
        prove(
          .callNeedsUser,
          [.token(need.generation), .place(fact.sequence), Self.words(need.failure)], on: fact)
      }
      prove(.nobodyEnded)
      advise(.giveFactor)
    } else if let lock {
      conclude(.stillLocked, .proven, [.time(lock.since)])
      prove(.nobodyEnded)
      advise(.unlockApp)
    } else {
      conclude(.stillSignedIn, .proven, [.time(session.since)])
    }
    if trail.losses.isAssumed {
      // It is only known that a user was logged in then.
      explanation.findings.proven.removeAll { $0.what == .signedInSince }
    } else {
      proveTokensLife(session.token)
    }
    let start = trail.start
    ruleOut(.noEnd, [.place(start)], searched: range(from: start))
  }

  /// Explains a session whose end is lost; a note proves the end, but not its reason.
  private mutating func explainLostEnd(_ fact: Fact, of token: TokenMetadata) {
    conclude(.unexplained, .possible, [.word("the end is lost")])
    explanation.after = .unauthenticated
    let generation = fact.revocationSettled?.generation ?? token.generation
    prove(.endLost, [.place(fact.sequence), .token(generation)], on: fact)
  }

  private mutating func proveTokensLife(_ token: TokenMetadata) {
    guard token.isLifetimeKnown else { return }
    let isOver = endTime >= token.expiresAt
    prove(
      isOver ? .tokenOver : .tokenLives, [.token(token.generation), .time(token.expiresAt)],
      on: self.token?.announced)
  }

  private mutating func explainOpenRequest(_ request: OpenIntents.Request) {
    conclude(.stillRequestOpen, .proven)
    showsOpenings = true
    prove(.noEndOf, [.place(request.sequence)])
    maybe(.stillAtIt, .killedBySystem, .crashed, .suspended)
    nameEndings()
    let living = UInt64(trail.processes.processCount)
    if living > 1 { explanation.findings.untold.append(Untold(.whoElse, [.number(living)])) }
    advise(.openOrFollow)
  }

  private mutating func explainFailures(
    _ session: SessionState.Authenticated, _ last: RequestFailure
  ) {
    let newest = token?.failures.lastUnanswered
    let answered = UInt64(session.failures.answered) + (token?.failures.answeredLate ?? 0)
    if let run = standstill(last) {
      explainStandstill(run, in: session)
      addLastAnswered(last, newest)
      addNextTry()
    } else if answered > 0 {
      conclude(.stillServerFailing, .proven, [.counted(answered, "attempt")])
      if last.kind == .unexpected { showCode(last) }
      if let token, let first = token.failures.firstAnswered, token.announced != nil {
        prove(
          .serverFailedSince,
          [
            .counted(token.failures.answered, "attempt"), .place(first.sequence),
            .word(Self.classes(token.failures.answeredKinds)),
          ], on: first, token.failures.lastAnswered)
      }
      prove(.nobodyEnded)
      if let token { doubtUser(token.failures) }
      addLastAnswered(last, newest)
      addNextTry()
      advise(.waitForNextTry)
    } else if last.kind == .intercepted, (500...599).contains(last.status), last.status != 511 {
      // 511 is a network's own status (RFC 6585, section 6).
      explainErrorPage(last, newest)
    } else if last.kind == .intercepted {
      conclude(.stillIntercepted, .proven)
      if let newest { prove(.pageInstead, [.place(newest.sequence)], on: newest) }
      prove(.nobodySignedOut)
      if Standstill.isRedirect(last) {
        // Earlier versions did not record whether the redirect led to the same origin.
        explanation.certainty = .possible
        infer(.captivePortal, .possible)
        maybe(.addressMoved)
        advise(.checkPath)
      } else {
        infer(.captivePortal, .likely)
      }
      advise(.networkSignIn)
    } else if last.kind == .secretsUnavailable {
      let isRefused = trail.device.isServer
      conclude(
        isRefused ? .stillAccessRefused : .stillSecretsLocked, isRefused ? .likely : .proven)
      if let newest { prove(.notReadYet, [.place(newest.sequence)], on: newest) }
      prove(.nobodySignedOut)
      if isRefused { adviseStore() } else { advise(.firstUnlock) }
    } else if let request = token?.requests.last, request.unwritten != nil {
      // The process that could not store the answer is gone, and nothing was stored since.
      conclude(.stillStoreFailing, .possible)
      inferLostToken(in: request)
      prove(.nobodySignedOut)
      addNextTry()
      adviseStore()
    } else if let request = token?.requests.last, proveDropping(of: request) {
      // The server was reached, so the device is not offline.
      conclude(.stillSignedIn, .proven, [.time(session.since)])
      prove(.nobodySignedOut)
      addNextTry()
      advise(.makeStorable)
    } else {
      explainOffline(session, last)
    }
  }

  /// Explains a page with a status of a failing server: it says neither who sent it, nor that
  /// someone must sign in to a network.
  private mutating func explainErrorPage(_ last: RequestFailure, _ newest: Fact?) {
    conclude(.stillErrorPage, .proven, [.number(UInt64(last.status))])
    if let newest {
      prove(.pageOfEither, [Self.words(last), .place(newest.sequence)], on: newest)
    }
    prove(.nobodyEnded)
    maybe(.serversPage, .gatewaysPage)
    addNextTry()
    advise(.waitForNextTry)
    adviseServerLog(near: newest)
  }

  /// Adds doubted refusals, late responses, and a newest attempt without a response.
  private mutating func addLastAnswered(_ last: RequestFailure, _ newest: Fact?) {
    if let token {
      proveDoubts(token)
      proveLateAnswers(token)
    }
    let lastAnswered = token?.failures.lastAnswered?.sequence ?? 0
    // A response in the server's place is explained as such.
    guard let newest, newest.sequence > lastAnswered, Standstill(last) == nil else { return }
    prove(.lastUnansweredSo, [Self.words(last), .place(newest.sequence)], on: newest)
    // The server answered after the failed request was sent, so being offline is only possible.
    inferOffline(last, lastAnswered < newest.answers ?? 0 ? .likely : .possible)
  }

  private mutating func explainOffline(
    _ session: SessionState.Authenticated, _ last: RequestFailure
  ) {
    conclude(.stillOffline, .proven, [.counted(UInt64(session.failures.total), "attempt")])
    if let token, let first = token.failures.firstUnanswered, token.announced != nil {
      prove(
        .noServerReached, [.counted(token.failures.count, "attempt"), .time(first.time)], on: first)
    }
    if last.kind == .noRefreshToken, let token {
      explanation.cause = .nothingToSend
      prove(.noneToRead, [.token(token.generation)], on: token.failures.lastUnanswered)
      prove(.nobodyEnded)
      addNextTry()
      explainNoneToRead(token)
      return
    }
    prove(.nobodySignedOut)
    inferOffline(last)
    if explanation.findings.inferred.contains(where: { $0.what == .answerEndsProcess }) {
      explanation.cause = .endedInRefreshes
    }
    addNextTry()
    leaveUntold(.networkDid)
    advise(.noSignInScreen)
  }

  /// Infers an offline device; it is likely only if the request could not be sent.
  private mutating func inferOffline(
    _ last: RequestFailure, _ certainty: Certainty = .likely
  ) {
    if last.kind == .noConnection {
      infer(.offline, certainty)
    } else if RequestTrace.isNoAnswer(last) {
      inferNoReply(token?.requests.last)
    }
  }

  private mutating func inferNoReply(_ request: RequestTrace?) {
    switch request.map({ fate(of: $0) }) {
    case .lost(.gone), .lost(.restarted), .lost(.reopened):
      showsOpenings = true
      if let request { maybeEnded(request) }
      leaveUntold(.processDeath)
    case .lost(.replaced), .lost(.overtaken), .lost(.taken):
      showsOpenings = true
      if let request { maybeEnded(request) }
      if request?.wasClosed != true { maybe(.suspended) }
      leaveUntold(.processDeath)
    case .lost(.connection), .lost(.unnoted), .open, .answered, .failed, nil:
      infer(.offline, .possible)
    }
  }

  private mutating func addNextTry() {
    guard let fact = token?.failures.last, let retryAt = fact.refreshFailed?.retryAt else { return }
    prove(.nextTry, [.time(retryAt)], on: fact)
  }
}
