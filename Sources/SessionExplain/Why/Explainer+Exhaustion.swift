@_spi(Internals) import SessionCore

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
