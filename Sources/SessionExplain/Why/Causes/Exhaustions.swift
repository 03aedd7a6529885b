@_spi(Internals) import SessionCore

extension CauseFamily {
  /// Ends after the policy's number of failed attempts.
  static let exhaustions = CauseFamily(
    causes: [
      .serverFailing, .rateLimited, .refreshingTooOften, .answersUnreadable, .appRefused,
      .endpointMissing, .attemptsExhausted,
    ],
    findings: [.countedFailures, .countNotWhole, .askedToWait, .wireDoesNotFit],
    advice: [
      .nothingOnDevice, .stayOnExhaustion, .honourWaits, .compareWire, .checkClient, .seeClasses,
    ])
}

extension Cause {
  package static let serverFailing = Cause(
    "server-failing", .end,
    "Expired: the server failed, {} with no success between")
  package static let rateLimited = Cause(
    "rate-limited", .end,
    "Expired: the server limited the rate")
  package static let refreshingTooOften = Cause(
    "refreshing-too-often", .end,
    "Expired: refreshed at every half life, until the server limited the rate")
  package static let answersUnreadable = Cause(
    "answers-unreadable", .end,
    "Expired: the server's answers could not be read")
  package static let appRefused = Cause(
    "app-refused", .end,
    "Expired: the server does not accept this app's client")
  package static let endpointMissing = Cause(
    "endpoint-missing", .end,
    "Expired: the refresh endpoint was not there")
  package static let attemptsExhausted = Cause(
    "attempts-exhausted", .end,
    "Expired: {} failed, with no success between")
}

extension FindingWord {
  package static let countedFailures = FindingWord(
    "countedFailures",
    "{} answered between {} and {}: {}")
  package static let countNotWhole = FindingWord(
    "countNotWhole",
    "at least {} answered: {}")
  package static let askedToWait = FindingWord(
    "askedToWait",
    "the server asked to wait, at the longest {}")
  package static let wireDoesNotFit = FindingWord(
    "wireDoesNotFit",
    "the backend's response paths do not match the server's responses")
}

extension AdviceWord {
  package static let nothingOnDevice = AdviceWord(
    "nothingOnDevice",
    "nothing on the device: the server was failing")
  package static let stayOnExhaustion = AdviceWord(
    "stayOnExhaustion",
    "ending.onExhaustion = .stay in the policy keeps the user signed in through such a time")
  package static let honourWaits = AdviceWord(
    "honourWaits",
    "ask less often: longer delays, fewer attempts")
  package static let compareWire = AdviceWord(
    "compareWire",
    "compare the backend's response paths with a response of the server")
  package static let checkClient = AdviceWord(
    "checkClient",
    "check client id, secret and method of the app's registration")
  package static let seeClasses = AdviceWord(
    "seeClasses",
    "see the failures, one by one")
}

extension ExplanationDraft {
  /// Explains that the server answered every attempt with a failure.
  mutating func explainExhaustion() {
    guard let token, token.answered > 0 else {
      conclude(.attemptsExhausted, .possible, [.counted(token?.answered ?? 0, "attempt")])
      ruleOutTheUsual()
      return
    }
    let total = token.answered
    let isWhole = token.announced != nil && !token.hasStrayEnds
    countFailures(token, isWhole: isWhole)
    proveLateAnswers(token)
    ruleOutTheUsual()
    ruleOutRefusal()
    leaveUntold(.policyLimits)
    func count(_ kind: RequestFailure.Kind) -> UInt64 { token.tally[kind] ?? 0 }
    guard isWhole else {
      // Failures before may have been of another kind.
      conclude(.attemptsExhausted, .possible, [.counted(total, "attempt")])
      advise(.seeClasses)
      adviseServerLog(near: token.lastAnswered)
      return
    }
    if token.answeredBy.refusesClient == total {
      conclude(.appRefused, .proven)
      proveLastWord(token)
      advise(.checkClient)
    } else if token.answeredBy.isNotThere == total {
      conclude(.endpointMissing, .proven)
      proveLastWord(token)
      infer(.wrongPath, .likely)
      advise(.checkPath)
    } else if count(.unreadable) == total {
      conclude(.answersUnreadable, .proven)
      infer(.wireDoesNotFit, .likely)
      advise(.compareWire)
    } else if count(.rateLimited) * 2 > total {
      explainRate(token)
    } else if count(.server) == total {
      conclude(.serverFailing, .proven, [.counted(total, "attempt")])
      advise(.nothingOnDevice)
      advise(.stayOnExhaustion)
    } else {
      conclude(.attemptsExhausted, .proven, [.counted(total, "attempt")])
      advise(.seeClasses)
      advise(.stayOnExhaustion)
    }
    adviseServerLog(near: token.lastAnswered)
  }

  private mutating func explainRate(_ token: TokenHistory) {
    if token.longestWait > 0 { prove(.askedToWait, [.span(token.longestWait)]) }
    let schedule = evidence.schedule
    let isShort = schedule.longestLife <= 600_000
    let goesBack = evidence.clock.jumps.contains { $0.span < 0 }
    let isOnly = token.tally[.rateLimited] == token.answered
    // A few early refreshes among many are not a refresh at every half of the lifetime.
    let isEarly = schedule.early >= 3 && schedule.early * 4 >= schedule.count * 3
    guard isEarly, isShort, !goesBack else {
      conclude(.rateLimited, isOnly ? .proven : .possible)
      advise(.honourWaits)
      return
    }
    conclude(.refreshingTooOften, isOnly ? .likely : .possible)
    explanation.inferred.append(tooLongThreshold)
    advise(.shorterThreshold, [.span(schedule.longestLife)])
  }

  private mutating func proveLastWord(_ token: TokenHistory) {
    guard let fact = token.lastAnswered, let failure = fact.failure else { return }
    prove(.serverSaid, [Self.words(failure)], on: fact)
  }

  private mutating func countFailures(_ token: TokenHistory, isWhole: Bool) {
    let classes = Self.classes(token.tally.filter { $0.key.isAnswered })
    guard isWhole, let first = token.firstAnswered, let last = token.lastAnswered else {
      prove(.countNotWhole, [.counted(token.answered, "failure"), .word(classes)])
      return
    }
    prove(
      .countedFailures,
      [
        .counted(token.answered, "failure"), .place(first.sequence), .place(last.sequence),
        .word(classes),
      ],
      on: first, last)
  }

  /// Returns the number of each kind, the greatest first: `server 3, rateLimited 1`.
  static func classes(_ tally: [RequestFailure.Kind: UInt64]) -> String {
    tally.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
      .map { "\($0.key) \($0.value.grouped)" }.joined(separator: ", ")
  }
}
