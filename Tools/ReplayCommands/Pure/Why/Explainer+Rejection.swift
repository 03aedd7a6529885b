internal import SessionCore

/// What a server's own code says of a refresh token it refused.
enum RefusalWord: Hashable, Sendable {
  /// It was used already.
  case reused
  case revoked
  case expired
  /// The server does not know it.
  case unknown
  /// Nothing that tells one cause from another.
  case unsaid

  init(_ code: String?) {
    let code = code?.uppercased() ?? ""
    if code.contains("REUSE") || code.contains("ALREADY_USED") {
      self = .reused
    } else if code.contains("REVOK") {
      self = .revoked
    } else if code.contains("EXPIRED") {
      self = .expired
    } else if code.contains("UNKNOWN") || code.contains("NOT_FOUND") {
      self = .unknown
    } else {
      self = .unsaid
    }
  }
}

extension ExplanationDraft {
  /// The server refused to refresh.
  mutating func explainRejection() {
    guard let refusal = evidence.failure, let failure = refusal.failure, let token else {
      conclude(.refused, .possible)
      ruleOutTheUsual()
      maybe(.revokedAtServer, .expiredAtServer)
      return
    }
    leaveUntold(.serverLog)
    proveDoubts(token)
    if failure.kind == .noRefreshToken { return explainNothingToUse(refusal, token) }
    if failure.kind == .otherUser { return explainOtherUser(refusal) }
    proveWords(token.doubted + [refusal])
    // Who has refused a token as used may say later that it is revoked: that is what came of it.
    let said = (token.doubted + [refusal]).map { RefusalWord($0.failure?.serverCode) }
    let word = said.contains(.reused) ? .reused : RefusalWord(failure.serverCode)
    let lost = token.lastLost(before: token.doubted.first?.sequence ?? refusal.sequence)
    if let lost, word == .reused || word == .unsaid {
      return explainLoss(lost, refusal, word, token)
    }
    ruleOutTheUsual()
    ruleOutLostReply()
    switch word {
    case .reused: explainReuse(refusal, token)
    case .revoked:
      conclude(.revokedElsewhere, .proven)
      maybe(.signedOutElsewhere, .passwordChanged, .administrator)
      advise(.lookWhoEnded)
      addLateTwin()
    case .expired:
      conclude(.refreshTokenExpired, .proven)
      let unused = max(0, refusal.time.milliseconds(since: token.facts.issuedAt))
      infer(.unusedTooLong, .possible, [.span(unused)], on: token.announced)
      maybe(.livedItsTime)
      advise(.longerRefreshToken)
    case .unknown:
      conclude(.unknownToServer, .proven)
      maybe(.otherBackend, .databaseReset)
      if let login = evidence.login { advise(.sameBackend, [.place(login.sequence)]) }
    case .unsaid: explainSilence(refusal, token)
    }
    if let lost {
      infer(
        .rotatedReplyLost, .possible, [.token(token.generation), .place(lost.number)],
        on: lost.sent)
    }
    adviseServerLog(near: refusal)
  }

  /// What the server said, each word once, at its first place.
  private mutating func proveWords(_ refusals: [Fact]) {
    var said: Set<Value> = []
    for refusal in refusals {
      guard let failure = refusal.failure, said.insert(Self.words(failure)).inserted else {
        continue
      }
      prove(.serverSaid, [Self.words(failure)], on: refusal)
    }
  }

  private mutating func proveDoubts(_ token: TokenHistory) {
    for fact in token.doubted { prove(.refusalDoubted, [.place(fact.sequence)], on: fact) }
  }

  private mutating func explainNothingToUse(_ refusal: Fact, _ token: TokenHistory) {
    conclude(.noRefreshToken, .proven)
    prove(.neverHeld, [.token(token.generation)], on: refusal)
    ruleOut(.nothingSent, on: refusal)
    ruleOutUser()
    maybe(.notCarried, .keychainCleared)
    explanation.untold.removeAll { $0.what == .serverLog }
    advise(.issueRefreshTokens)
  }

  private mutating func explainOtherUser(_ refusal: Fact) {
    conclude(.otherUser, .proven)
    prove(.otherUserNamed, on: refusal)
    ruleOutTheUsual()
    advise(.checkUserClaim)
    adviseServerLog(near: refusal)
  }

  /// The code says that it was used, and no request of this journal is without its answer.
  private mutating func explainReuse(_ refusal: Fact, _ token: TokenHistory) {
    if let dubious = token.lastDubious(before: refusal.sequence),
      case .failed(let answer) = dubious.fate
    {
      conclude(.lostReply, .possible)
      infer(
        .rotatedAnswerUnusable, .possible,
        [.token(token.generation), .place(dubious.number), Self.words(answer)],
        on: dubious.sent, dubious.end)
      infer(.otherCopyUsed, .possible, [.token(token.generation)])
      advise(.serverGrace)
      adviseServerLog(near: dubious.sent)
      return
    }
    // A network may have brought one request twice; no record can show that it did not.
    conclude(.usedElsewhere, .possible)
    infer(.otherCopyUsed, .possible, [.token(token.generation)])
    maybe(.restoredBackup, .secondDevice, .stolen)
    if let request = refusal.answers {
      infer(.requestRepeated, .possible, [.place(request)], on: refusal)
    }
    if token.announced == evidence.login, !token.isWhole, token.announced != nil {
      maybe(.oldLayer)
    }
    addLateTwin()
    if token.announced == nil || token.omitted > 0 {
      infer(
        .rotatedReplyLost, .possible, [.token(token.generation), .place(evidence.firstSequence)])
    }
    leaveUntold(.otherDevices)
    advise(.deviceOnlySecrets)
    advise(.compareTokenUses)
  }

  private mutating func explainSilence(_ refusal: Fact, _ token: TokenHistory) {
    conclude(.refused, .possible)
    maybe(.revokedAtServer, .expiredAtServer)
    infer(.otherCopyUsed, .possible, [.token(token.generation)])
    maybe(.clientChanged, .otherBackend)
    if let dubious = token.lastDubious(before: refusal.sequence),
      case .failed(let answer) = dubious.fate
    {
      infer(
        .rotatedAnswerUnusable, .possible,
        [.token(token.generation), .place(dubious.number), Self.words(answer)],
        on: dubious.sent, dubious.end)
    }
    addLateTwin()
    leaveUntold(.otherDevices)
    advise(.tellingCode)
  }

  /// A request with the token before whose answer was lost: it may reach the server late.
  private var lateTwin: RequestTrace? {
    guard let previous = evidence.previous else { return nil }
    return previous.requests.last { $0.isLost }
  }

  private mutating func addLateTwin() {
    guard let lateTwin else { return }
    infer(.lateTwin, .possible, [.place(lateTwin.number)], on: lateTwin.sent)
  }

  // MARK: A lost answer

  private mutating func explainLoss(
    _ lost: RequestTrace, _ refusal: Fact, _ word: RefusalWord, _ token: TokenHistory
  ) {
    ruleOutTheUsual()
    let isWhole = token.isWhole && token.omitted == 0
    var certainty = isWhole ? Certainty.likely : .possible
    var cause = Cause.lostReply
    switch lost.fate {
    case .lost(.connection):
      prove(.noReplyTo, [.place(lost.number)], on: lost.sent, lost.end)
      ruleOutDeath(lost)
    case .lost(.unnoted), .open, .answered, .failed:
      proveNoEnd(lost)
    case .lost(.gone):
      cause = .killedInRefresh
      proveDeath(lost)
    case .lost(.restarted(let by)):
      cause = .killedInRefresh
      proveRestart(lost, by)
    case .lost(.replaced(let by)):
      cause = .killedInRefresh
      // It may have been suspended as well.
      certainty = .possible
      proveReplacement(lost, by)
    case .lost(.overtaken(let by)):
      cause = .suspendedInRefresh
      proveOvertaking(lost, by)
    }
    conclude(cause, certainty)
    let isRotation = isWhole ? Certainty.likely : .possible
    infer(
      .rotatedReplyLost, isRotation, [.token(token.generation), .place(lost.number)],
      on: lost.sent, lost.end)
    if cause == .suspendedInRefresh {
      infer(.answerHeldOnlyToken, isRotation, [.place(lost.number)], on: lost.sent)
    }
    if word == .unsaid { maybe(.revokedAtServer, .expiredAtServer) }
    if !isWhole { infer(.otherCopyUsed, .possible, [.token(token.generation)]) }
    if token.announced != nil, !token.doubted.contains(where: { $0.sequence < lost.number }) {
      ruleOut(
        .noRefusalBefore, [.token(token.generation), .place(lost.number)],
        searched: token.announced.map { min($0.sequence, lost.number)...lost.number })
    }
    if cause == .killedInRefresh { advise(.finishInBackground) }
    if cause == .suspendedInRefresh {
      advise(.longerGrace)
      advise(.finishInBackground)
    }
    advise(.serverGrace)
    adviseServerLog(near: lost.sent)
  }

  private mutating func ruleOutDeath(_ lost: RequestTrace) {
    guard let end = lost.end, let sent = lost.sent.requestSent,
      evidence.processes.isAlone(sent.process),
      evidence.hasAllOpenings(since: lost.number),
      !evidence.openings.contains(where: { (lost.number..<end.sequence).contains($0.sequence) })
    else { return }
    ruleOut(
      .noOpeningBetween, [.place(lost.number), .place(end.sequence)],
      searched: min(lost.number, end.sequence)...end.sequence)
  }

  private mutating func proveNoEnd(_ lost: RequestTrace) {
    if let end = lost.end {
      prove(.endUnnoted, [.place(lost.number), .place(end.sequence)], on: lost.sent, end)
    } else {
      prove(.noEndOf, [.place(lost.number)], on: lost.sent)
    }
    leaveUntold(.networkDid)
  }

  private mutating func proveDeath(_ lost: RequestTrace) {
    showsOpenings = true
    leaveUntold(.processDeath)
    guard let sent = lost.sent.requestSent, let end = lost.end else { return }
    // By civil times, which may be set: no more than likely.
    let left = sent.deadline.milliseconds(since: end.time)
    infer(
      .goneBeforeDeadline, .likely, [.process(sent.process), .time(end.time), .span(left)],
      on: lost.sent, end)
    prove(.noReplyTo, [.place(lost.number)], on: lost.sent, end)
    maybe(.killedBySystem, .crashed, .closedByUser)
  }

  private mutating func proveRestart(_ lost: RequestTrace, _ by: UInt64) {
    showsOpenings = true
    guard let sent = lost.sent.requestSent else { return }
    prove(.systemRestarted, [.place(by), .process(sent.process)], on: lost.sent, lost.end)
    prove(.noReplyTo, [.place(lost.number)], on: lost.sent, lost.end)
    leaveUntold(.processDeath)
  }

  private mutating func proveReplacement(_ lost: RequestTrace, _ by: UInt64) {
    showsOpenings = true
    leaveUntold(.processDeath)
    guard let sent = lost.sent.requestSent else { return }
    let other = evidence.openings.first { $0.sequence == by }
    prove(
      .replacedAtOpening,
      [
        .process(sent.process), .place(lost.number), .process(other?.opened?.process ?? 0),
        .place(by),
      ], on: lost.sent, other)
    maybe(.killedBySystem, .crashed, .closedByUser, .suspended)
    proveReturn(lost)
  }

  private mutating func proveOvertaking(_ lost: RequestTrace, _ by: UInt64) {
    showsOpenings = true
    guard let sent = lost.sent.requestSent else { return }
    let other = token?.requests.first { $0.number == by }
    prove(
      .overtakenAfterDeadline,
      [
        .process(sent.process), .place(lost.number),
        .process(other?.sent.requestSent?.process ?? 0), .place(by),
      ], on: lost.sent, other?.sent)
    proveReturn(lost)
    if lost.late == nil { infer(.suspended, .likely, on: lost.sent) }
    leaveUntold(.processDeath)
  }

  private mutating func proveReturn(_ lost: RequestTrace) {
    guard let late = lost.late, let sent = lost.sent.requestSent else { return }
    prove(
      .cameBack, [.process(sent.process), .place(lost.number), .place(late.sequence)], on: late)
  }
}
