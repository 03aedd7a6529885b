@_spi(Internals) import SessionCore

extension CauseFamily {
  /// Ends that the server stated: the account, or the session itself.
  static let serverEnds = CauseFamily(
    causes: [.accountDeleted, .accountInactive, .endedByServer],
    findings: [.serverSaidOfUser, .serverEndedIt],
    advice: [.askWhoDeleted, .reactivate])
}

extension Cause {
  package static let accountDeleted = Cause(
    "account-deleted", .end,
    "Logged out: the server says that the account is deleted", reliesOn: .ownRecords)
  package static let accountInactive = Cause(
    "account-inactive", .end,
    "Expired: the server says that the account is inactive", reliesOn: .ownRecords)
  package static let endedByServer = Cause(
    "ended-by-server", .end,
    "Expired: the server ended the session", reliesOn: .ownRecords)
}

extension FindingWord {
  package static let serverSaidOfUser = FindingWord(
    "serverSaidOfUser",
    "the server said so of the user, when it was asked who that is")
  package static let serverEndedIt = FindingWord(
    "serverEndedIt",
    "the server ended the session")
}

extension AdviceWord {
  package static let askWhoDeleted = AdviceWord(
    "askWhoDeleted",
    "ask the backend who deleted the account, and when")
  package static let reactivate = AdviceWord(
    "reactivate",
    "have the account reactivated, then sign in")
}

extension ExplanationDraft {
  mutating func explainDeleted() {
    conclude(.accountDeleted, .proven)
    serverSaidOfUser(.userDeleted)
    ruleOutTheUsual()
    advise(.askWhoDeleted)
  }

  mutating func explainInactiveAccount() {
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

  mutating func explainServersEnd() {
    conclude(.endedByServer, .proven)
    prove(.serverEndedIt, on: evidence.expiry)
    // A server rejects such a token to end the session (POL-7).
    if let token, !token.facts.isRefreshable, !token.facts.isLifetimeKnown { maybe(.livedItsTime) }
    maybe(.signedOutElsewhere, .passwordChanged, .administrator)
    ruleOutTheUsual()
    advise(.lookWhoEnded)
  }
}
