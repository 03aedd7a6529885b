@_spi(Internals) import SessionCore

extension CauseFamily {
  /// Ends by an older refresh token that reached the server again (RFC 9700, section 4.14.2).
  static let revokedFamilies: [Cause] = [.familyRevoked]
}

extension Cause {
  package static let familyRevoked = Cause(
    "family-revoked", .end,
    "Expired: the server saw an older refresh token again, and revoked the session",
    .signedOut,
    english: Plain(
      "the server received an older token of the session again, treated that as misuse, and ended "
        + "the session",
      fix: "let the server accept an older token for some seconds"),
    spanish: Plain(
      "el servidor volvió a recibir un token más antiguo de la sesión, lo trató como un abuso y "
        + "terminó la sesión",
      fix: "haz que el servidor acepte un token más antiguo durante unos segundos"),
    portuguese: Plain(
      "o servidor recebeu de novo um token mais antigo da sessão, tratou isso como abuso e "
        + "encerrou a sessão",
      fix: "faça o servidor aceitar um token mais antigo por alguns segundos"))
}

// The effects that requests with older tokens of the same login may have had (RPL-6).
extension ExplanationDraft {
  /// The greatest number of requests with older tokens in an explanation.
  static let shownEarlier = 4

  /// Explains that the server reported the reuse of an older token.
  ///
  /// A server with reuse detection then revokes the whole family, and also rejects the newest
  /// token.
  mutating func explainFamily(
    _ request: RequestTrace, _ answer: Fact, _ refusal: Fact, _ word: RefusalWord,
    _ losses: [RequestTrace], _ token: TokenHistory
  ) {
    showsEarlier = true
    proveEarlierAnswer(request, answer)
    ruleOutTheUsual()
    let kept = (trail.tokens.earlier.requests + token.requests).unstored(before: request)
    let losses = losses.filter { $0.number != kept?.number && $0.number != request.number }
    // Without the server's word for a reuse, its revocation may have another reason.
    let isTold = word == .reused || word == .revoked && request.reuseAnswer != nil
    let isOnly = losses.isEmpty && token.lastDubious(before: refusal.sequence) == nil
    let isWhole = token.isComplete
    // Never proven: the user may have logged out elsewhere in the same minute.
    let certainty = isTold && isOnly && isWhole ? Certainty.likely : .possible
    conclude(.familyRevoked, certainty)
    infer(
      .familyEnded, certainty, [.place(request.number), .token(Self.generation(request))],
      on: request.sent, answer)
    if let kept {
      showsOpenings = true
      _ = inferArrival(of: kept)
      proveTaker(of: kept)
      adviseStore()
    }
    for lost in losses {
      infer(
        .rotatedReplyLost, .possible, [.token(token.generation), .place(lost.number)],
        on: lost.sent)
    }
    if !isTold { maybe(.revokedAtServer, .expiredAtServer) }
    addUnused()
    if case .lost(.overtaken) = request.fate { advise(.longerGrace) }
    advise(.serverGrace)
    adviseServerLog(near: request.sent)
  }

  private mutating func proveEarlierAnswer(_ request: RequestTrace, _ answer: Fact) {
    guard let failure = answer.failure else { return }
    prove(
      .serverSaidOfOlder,
      [.place(request.number), .token(Self.generation(request)), Self.words(failure)],
      on: request.sent, answer)
    guard request.late != nil else { return }
    showsOpenings = true
    proveTaker(of: request)
    proveReturn(request)
  }

  private mutating func proveTaker(of request: RequestTrace) {
    switch fate(of: request) {
    case .lost(.gone(let by)), .lost(.replaced(let by)), .lost(.overtaken(let by)),
      .lost(.taken(let by)):
      proveTaking(of: request, by)
    case .lost(.connection), .lost(.restarted), .lost(.unnoted), .lost(.reopened), .open,
      .answered, .failed:
      break
    }
  }

  /// Adds requests with older tokens that may have reached the server late, each as a possible
  /// cause.
  mutating func addEarlier() {
    let late = trail.tokens.earlier.requests.filter { $0.isLost || $0.isRefused }
    for request in late.suffix(Self.shownEarlier) {
      showsEarlier = true
      infer(
        .lateTwin, .possible, [.place(request.number), .token(Self.generation(request))],
        on: request.sent)
    }
    addUnused()
  }

  /// Adds tokens that arrived late: a server may accept only the last token that it issued.
  private mutating func addUnused() {
    for request in trail.tokens.earlier.requests.suffix(Self.shownEarlier) where request.wasUnused {
      showsEarlier = true
      infer(
        .answerHeldOnlyToken, .possible, [.place(request.number)], on: request.sent, request.late)
    }
  }

  private static func generation(_ request: RequestTrace) -> Generation {
    request.sent.requestSent?.generation ?? .none
  }
}
