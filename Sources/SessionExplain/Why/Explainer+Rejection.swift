@_spi(Internals) import SessionCore

extension ExplanationDraft {
  /// A refresh failed for good: the server refused it, or there was nothing to refresh with.
  mutating func explainRejection() {
    guard let refusal = evidence.failure, let failure = refusal.failure, let token else {
      conclude(.refused, .possible, [.word("the journal has no code that says why")])
      ruleOutTheUsual()
      maybe(.revokedAtServer, .expiredAtServer)
      return
    }
    leaveUntold(.serverLog)
    proveDoubts(token)
    if failure.kind == .noRefreshToken { return explainNothingToUse(refusal, token) }
    if failure.kind == .otherUser {
      return explainOtherUser(refusal, failure.serverCode.flatMap { NamingSource(rawValue: $0) })
    }
    proveWords((token.refusals + [token.firstReuse, refusal]).compactMap { $0 })
    // Who has refused a token as used may say later that it is revoked: that is what came of it.
    let word = token.firstReuse == nil ? refusal.refusalWord ?? .unsaid : .reused
    // What was sent behind the first answer that says so did not bring it about.
    let first = token.firstReuse ?? refusal
    let lost = token.lost(before: first.sequence)
    for request in token.requests where !request.isLost { proveReturn(request) }
    let reuse = evidence.earlier.reuse(after: token.announced?.sequence ?? 0)
    if let reuse, word != .expired {
      return explainFamily(reuse.request, reuse.answer, refusal, word, lost, token)
    }
    // A code that was not kept may have said "used".
    if !lost.isEmpty, word == .reused || word == .unsaid || word == .notKept {
      return explainLosses(lost, first, word, token)
    }
    ruleOutTheUsual()
    ruleOutLostReply()
    inferLostWrite(token)
    switch word {
    case .reused: explainReuse(first, token)
    case .revoked:
      conclude(.revokedElsewhere, .proven)
      maybe(.signedOutElsewhere, .passwordChanged, .administrator)
      advise(.lookWhoEnded)
      addEarlier()
    case .expired: explainOldToken(refusal, token)
    case .unknown:
      conclude(.unknownToServer, .proven)
      maybe(.signedOutElsewhere, .otherBackend, .databaseReset)
      addEarlier()
      if let login = evidence.login { advise(.sameBackend, [.place(login.sequence)]) }
    case .unsaid, .notKept, .strange: explainSilence(refusal, word, token)
    }
    // A server that sees a token again may say that it is revoked, or whatever it calls that.
    for lost in lost {
      infer(
        .rotatedReplyLost, .possible, [.token(token.generation), .place(lost.number)],
        on: lost.sent)
    }
    if !lost.isEmpty { advise(.serverGrace) }
    adviseServerLog(near: refusal)
  }

  /// A newer token that could not be stored leaves the one before it, which the server takes no more.
  private mutating func inferLostWrite(_ token: TokenHistory) {
    guard let run = evidence.storage.lostWrite(after: token.announced?.sequence ?? 0) else {
      return
    }
    infer(.answerNotStored, .possible, [.place(run.fact.sequence)], on: run.fact)
    advise(.checkStore)
  }

  /// What the server said, each word once, at its first place.
  private mutating func proveWords(_ refusals: [Fact]) {
    var said: Set<Value> = []
    for refusal in refusals {
      guard let failure = refusal.failure, failure.kind.isAnswered,
        said.insert(Self.words(failure)).inserted
      else { continue }
      prove(.serverSaid, [Self.words(failure)], on: refusal)
    }
  }

  mutating func proveDoubts(_ token: TokenHistory) {
    for fact in token.doubted { prove(.refusalDoubted, [.place(fact.sequence)], on: fact) }
  }

  /// What came when others had taken the request for lost: it decided nothing, and is an answer.
  mutating func proveLateAnswers(_ token: TokenHistory) {
    for request in token.requests {
      guard let late = request.lateAnswer, let failure = late.failure else { continue }
      prove(
        .answeredLate, [.place(request.number), .place(late.sequence), Self.words(failure)],
        on: request.sent, late)
    }
  }

  private mutating func explainOldToken(_ refusal: Fact, _ token: TokenHistory) {
    conclude(.refreshTokenExpired, .proven)
    if token.isLost {
      // When it was issued stood in records that are lost.
    } else if evidence.clock.mayJump(behind: token.announced?.sequence ?? 0) {
      // A time that was set says nothing of how long it was.
      maybe(.unusedUntold)
    } else {
      let unused = max(0, refusal.time.milliseconds(since: token.facts.issuedAt))
      infer(.unusedTooLong, .possible, [.span(unused)], on: token.announced)
    }
    maybe(.livedItsTime)
    advise(.longerRefreshToken)
  }

  private mutating func explainNothingToUse(_ refusal: Fact, _ token: TokenHistory) {
    conclude(.noRefreshToken, .proven)
    prove(.noneToRead, [.token(token.generation)], on: refusal)
    if let request = refusal.answers { ruleOut(.notSent, [.place(request)], on: refusal) }
    ruleOutUser()
    explanation.untold.removeAll { $0.what == .serverLog }
    explainNoneToRead(token)
  }

  /// The vault gives none where it holds none, and where what it holds is another's or set aside.
  mutating func explainNoneToRead(_ token: TokenHistory) {
    let wasSent = token.requests.contains { $0.isAnswered }
    if !wasSent { maybe(.notCarried) }
    maybe(.keychainCleared, .accessLost, .itemsNotMoved)
    if !wasSent { advise(.issueRefreshTokens) }
    advise(.lookAtItem)
  }

  /// Proven only if the record names the source: then it is the one that named the session's user.
  ///
  /// Older versions compared what different sources said, and one user may have
  /// two names.
  private mutating func explainOtherUser(_ refusal: Fact, _ source: NamingSource?) {
    if let source {
      conclude(.otherUser, .proven)
      prove(.otherUserNamed, [.word(Self.word(source))], on: refusal)
    } else {
      conclude(.otherUser, .possible)
      infer(.otherNameOfUser, .possible, on: refusal)
      infer(.otherUserIndeed, .possible, on: refusal)
    }
    ruleOutTheUsual()
    advise(.checkUserClaim)
    adviseServerLog(near: refusal)
  }

  private static func word(_ source: NamingSource) -> String {
    switch source {
    case .member: "a member of the response"
    case .accessToken: "the access token"
    case .identityToken: "the identity token"
    case .reader: "the app's reader of responses"
    case .provider: "the identity SDK"
    }
  }

  /// The code says that it was used, and no request of this journal is without its answer.
  private mutating func explainReuse(_ refusal: Fact, _ token: TokenHistory) {
    if let dubious = token.lastDubious(before: refusal.sequence) {
      conclude(.lostReply, .possible)
      inferUnusable(dubious, token)
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
    addEarlier()
    if token.announced == nil {
      infer(
        .lostBefore, .possible, [.token(token.generation), .place(evidence.firstSequence)])
    } else if !token.isWhole || token.omitted > 0 {
      infer(.lostUnseen, .possible, [.token(token.generation)])
    }
    leaveUntold(.otherDevices)
    advise(.deviceOnlySecrets)
    advise(.compareTokenUses)
  }

  private mutating func explainSilence(
    _ refusal: Fact, _ word: RefusalWord, _ token: TokenHistory
  ) {
    switch word {
    case .strange(let code):
      conclude(.refused, .proven, [.word("gave a reason that this tool does not know (\(code))")])
    case .notKept:
      conclude(.refused, .proven, [.word("gave a reason whose code was not kept")])
    default:
      // Older versions dropped codes without a word.
      let said = refusal.failure?.serverCode.map { "its code does not say why (\($0))" }
      conclude(.refused, .possible, [.word(said ?? "the journal has no code that says why")])
    }
    maybe(.revokedAtServer, .expiredAtServer)
    infer(.otherCopyUsed, .possible, [.token(token.generation)])
    maybe(.clientChanged, .otherBackend, .databaseReset)
    if let dubious = token.lastDubious(before: refusal.sequence) { inferUnusable(dubious, token) }
    addEarlier()
    leaveUntold(.otherDevices)
    switch word {
    case .strange(let code): advise(.lookUpCode, [.word(code)])
    case .notKept: advise(.nameCodes)
    default: advise(.tellingCode)
    }
  }
}
