@_spi(Internals) import SessionCore

extension ExplanationDraft {
  /// Explains a final failure of a refresh: the server rejected it, or there was no refresh token.
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
    proveWords((token.failures.refusals + [token.failures.firstReuse, refusal]).compactMap { $0 })
    // A server that rejected a token as used may later report it as revoked; the first report is
    // the cause.
    let word = token.failures.firstReuse == nil ? refusal.refusalWord ?? .unsaid : .reused
    // A request after the first such answer cannot be its cause.
    let first = token.failures.firstReuse ?? refusal
    let lost = token.lost(before: first.sequence)
    for request in token.requests where !request.isLost { proveReturn(request) }
    // A code that states another reason is not about an older token.
    var isStated = false
    if case .stated = word { isStated = true }
    if let reuse = trail.tokens.earlier.reuse(since: token), word != .expired, !isStated {
      return explainFamily(reuse.request, reuse.answer, refusal, word, lost, token)
    }
    if word == .reused || word == .revoked, let twin = evidence.resent(token, until: first) {
      return explainFamily(twin, twin.end ?? twin.sent, refusal, word, lost, token)
    }
    // A code that was not kept may have meant *used*.
    if !lost.isEmpty, word == .reused || word == .unsaid || word == .notKept {
      return explainLosses(lost, first, word, token)
    }
    if lost.isEmpty, word == .reused || word == .unsaid || word == .notKept,
      let unread = token.lastUnread(before: first.sequence)
    {
      return explainUnread(unread, word, token)
    }
    ruleOutTheUsual()
    ruleOutLostReply()
    inferLostWrite(token)
    let isBeyond = proveUnusedBeyond(refusal, token)
    switch word {
    case .unsaid where isBeyond, .notKept where isBeyond:
      conclude(.unusedTooLong, .likely)
      advise(.longerRefreshToken)
    case .reused: explainReuse(first, token)
    case .revoked:
      conclude(.revokedElsewhere, .proven)
      maybe(.signedOutElsewhere, .passwordChanged, .administrator, .sessionDisplaced, .otherSignIn)
      advise(.lookWhoEnded)
      addEarlier()
    case .expired: explainOldToken(refusal, token)
    case .unknown:
      conclude(.unknownToServer, .proven)
      maybe(.signedOutElsewhere, .oldRowRemoved, .sessionDisplaced, .otherSignIn, .userRemoved)
      maybe(.otherBackend, .databaseReset)
      addEarlier()
      if let login = trail.login { advise(.sameBackend, [.place(login.sequence)]) }
    case .stated(let reason): explainStated(reason, refusal)
    case .unsaid, .notKept, .strange: explainSilence(refusal, word, token)
    }
    if word != .reused { addAge(at: refusal) }
    // A server that receives a token again may report it as revoked, or with another code.
    for lost in lost where !isStated {
      infer(
        .rotatedReplyLost, .possible, [.token(token.generation), .place(lost.number)],
        on: lost.sent)
    }
    if !lost.isEmpty, !isStated { advise(.serverGrace) }
    adviseServerLog(near: refusal)
  }

  /// Infers that a newer token was not stored, so that the older one was sent, which the server
  /// rejects.
  private mutating func inferLostWrite(_ token: TokenHistory) {
    guard let run = trail.storage.lostWrite(after: token.announced?.sequence ?? 0) else {
      return
    }
    infer(.answerNotStored, .possible, [.place(run.fact.sequence)], on: run.fact)
    adviseStore()
  }

  /// Proves the server's statements, each once, at its first record.
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
    for fact in token.failures.doubted { prove(.refusalDoubted, [.place(fact.sequence)], on: fact) }
  }

  /// Proves answers that arrived after their request was presumed lost; they decided nothing.
  mutating func proveLateAnswers(_ token: TokenHistory) {
    for request in token.requests {
      guard let late = request.lateAnswer, let failure = late.failure else { continue }
      prove(
        .answeredLate, [.place(request.number), .place(late.sequence), Self.words(failure)],
        on: request.sent, late)
    }
  }

  /// Proves that the token was not refreshed while the server kept it, if that is known.
  ///
  /// Returns `false` also if a request was sent in that time: then the app did not miss it.
  private mutating func proveUnusedBeyond(_ refusal: Fact, _ token: TokenHistory) -> Bool {
    guard let told = trail.refreshTokenLife, case .refreshTokenLife(let life)? = told.note,
      !token.isLost, !trail.clock.mayJump(behind: token.announced?.sequence ?? 0)
    else { return false }
    // A later token may have another lifetime of which nothing was said: it is the same until noted.
    let issued = token.facts.issuedAt
    let age = refusal.time.milliseconds(since: issued)
    guard life.generation <= token.generation, age >= life.milliseconds else { return false }
    prove(
      .unusedBeyond, [.span(age), .place(told.sequence), .span(life.milliseconds)], on: told,
      refusal)
    return !token.requests.contains {
      $0.sent.time.milliseconds(since: issued) < life.milliseconds
    }
  }

  private mutating func explainOldToken(_ refusal: Fact, _ token: TokenHistory) {
    conclude(.refreshTokenExpired, .proven)
    if explanation.findings.proven.contains(where: { $0.what == .unusedBeyond }) {
      // It is known for how long the server keeps the token.
    } else if token.isLost {
      // The time of issue is in records that are lost.
    } else if trail.clock.mayJump(behind: token.announced?.sequence ?? 0) {
      // If the clock was set, its times do not show how long the token was unused.
      maybe(.unusedUntold)
    } else {
      let unused = max(0, refusal.time.milliseconds(since: token.facts.issuedAt))
      infer(.unusedTooLong, .possible, [.span(unused)], on: token.announced)
    }
    maybe(.livedItsTime)
    advise(.longerRefreshToken)
  }

  /// The ages at which servers commonly end a session, in milliseconds: from an hour to a year.
  private static let windows: [Int64] =
    [1, 2, 4, 8, 12].map { $0 * 3_600_000 }
    + [1, 2, 3, 7, 14, 30, 60, 90, 180, 365].map { $0 * 86_400_000 }

  /// Shows the time since the login, and names a common limit that it had just passed.
  mutating func addAge(at end: Fact) {
    // The age of an adopted session, and a span over a change of the clock, are not known.
    guard let login = trail.login, case .login(let facts)? = login.event,
      facts.method != .adoption, !trail.clock.mayJump(behind: login.sequence)
    else { return }
    let age = end.time.milliseconds(since: login.time)
    guard age > 0 else { return }
    prove(.sessionAge, [.span(age)], on: login, end)
    // The server accepted the session when it issued the current token.
    let accepted = token?.announced.map { $0.time.milliseconds(since: login.time) } ?? 0
    guard let window = Self.windows.last(where: { accepted < $0 && $0 <= age }),
      age - window <= window / 20 || age - accepted <= window / 4
    else { return }
    infer(.serverWindow, .possible, [.span(window)], on: login, end)
  }

  private mutating func explainNothingToUse(_ refusal: Fact, _ token: TokenHistory) {
    conclude(.noRefreshToken, .proven)
    prove(.noneToRead, [.token(token.generation)], on: refusal)
    if let request = refusal.answers { ruleOut(.notSent, [.place(request)], on: refusal) }
    ruleOutUser()
    explanation.findings.untold.removeAll { $0.what == .serverLog }
    explainNoneToRead(token)
  }

  /// Adds why no refresh token could be read: none is stored, or it belongs to another session or
  /// was set aside.
  mutating func explainNoneToRead(_ token: TokenHistory) {
    let wasSent = token.requests.contains { $0.isAnswered }
    if !wasSent { maybe(.notCarried) }
    maybe(.keychainCleared)
    maybeAccessLost()
    maybe(.itemsNotMoved)
    if !wasSent { advise(.issueRefreshTokens) }
    advise(.lookAtItem)
  }

  /// Explains an answer for another user; it is proven only if the record names the source.
  ///
  /// Then it is the same source that had named the session's user. A claim of the access token that
  /// changed is not always a user. Older versions compared the statements of different sources, and
  /// one user may have two names.
  private mutating func explainOtherUser(_ refusal: Fact, _ source: NamingSource?) {
    if source == .changedAccessToken {
      conclude(.otherUser, .likely)
      prove(.accessTokenChanged, on: refusal)
      infer(.otherUserIndeed, .likely, on: refusal)
    } else if let source {
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
    case .accessToken, .changedAccessToken: "the access token"
    case .identityToken: "the identity token"
    case .reader: "the app's reader of responses"
    case .provider: "the identity SDK"
    }
  }

  /// Explains a reported reuse if every request in this journal has its answer.
  private mutating func explainReuse(_ refusal: Fact, _ token: TokenHistory) {
    if let dubious = token.lastDubious(before: refusal.sequence) {
      conclude(.lostReply, .possible)
      inferUnusable(dubious, token)
      infer(.otherCopyUsed, .possible, [.token(token.generation)])
      advise(.serverGrace)
      adviseServerLog(near: dubious.sent)
      return
    }
    // The network may have delivered one request twice; no record can disprove it.
    conclude(.usedElsewhere, .possible)
    infer(.otherCopyUsed, .possible, [.token(token.generation)])
    maybe(.restoredBackup, .secondDevice, .stolen, .otherSignIn)
    if let request = refusal.answers {
      infer(.requestRepeated, .possible, [.place(request)], on: refusal)
    }
    if token.announced == trail.login, !token.isWhole, token.announced != nil {
      maybe(.oldLayer)
    }
    addEarlier()
    if token.announced == nil {
      infer(
        .lostBefore, .possible, [.token(token.generation), .place(trail.firstSequence)])
    } else if !token.isComplete {
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
      showCode(refusal.failure)
    case .notKept:
      conclude(.refused, .proven, [.word("gave a reason whose code was not kept")])
    default:
      // Older versions dropped codes without a note.
      let said = refusal.failure?.serverCode.map { "its code does not say why (\($0))" }
      conclude(.refused, .possible, [.word(said ?? "the journal has no code that says why")])
      showCode(refusal.failure)
    }
    // Earlier versions took every 403 at a refresh for the refusal of the server.
    if refusal.failure?.status == 403, refusal.failure?.serverCode == nil {
      maybe(.refusedInFront)
      advise(.lookInFront)
    }
    // A response that leaves open what the server did is evidence; the others are only possible.
    if let dubious = token.lastDubious(before: refusal.sequence) { inferUnusable(dubious, token) }
    maybe(.revokedAtServer, .expiredAtServer)
    infer(.otherCopyUsed, .possible, [.token(token.generation)])
    maybe(.passwordChanged, .administrator, .sessionDisplaced, .otherSignIn, .oldRowRemoved)
    maybe(.userRemoved, .clientChanged, .otherBackend, .databaseReset)
    addEarlier()
    leaveUntold(.otherDevices)
    switch word {
    case .strange(let code): advise(.lookUpCode, [.word(code)])
    case .notKept: advise(.nameCodes)
    default: advise(.tellingCode)
    }
  }
}
