@_spi(Internals) import SessionCore

extension CauseFamily {
  /// Ends that the server stated: the account, or the session itself.
  static let serverEnds: [Cause] = [.accountDeleted, .accountInactive, .endedByServer]
}

extension Cause {
  package static let accountDeleted = Cause(
    "account-deleted", .end,
    "Logged out: the server says that the account is deleted",
    reliesOn: .ownRecords,
    .signedOut,
    english: Plain(
      "the server reported that the account was deleted",
      fix: "ask the server's team who deleted the account, and when"),
    spanish: Plain(
      "el servidor informó de que la cuenta fue eliminada",
      fix: "pregunta al equipo del servidor quién eliminó la cuenta y cuándo"),
    portuguese: Plain(
      "o servidor informou que a conta foi excluída",
      fix: "pergunte à equipe do servidor quem excluiu a conta e quando"))
  package static let accountInactive = Cause(
    "account-inactive", .end,
    "Expired: the server says that the account is inactive",
    reliesOn: .ownRecords,
    .signedOut,
    english: Plain(
      "the server reported that the account is not active",
      fix: "activate the account again, then sign in"),
    spanish: Plain(
      "el servidor informó de que la cuenta no está activa",
      fix: "vuelve a activar la cuenta y después inicia sesión"),
    portuguese: Plain(
      "o servidor informou que a conta não está ativa",
      fix: "ative a conta de novo e depois entre"))
  package static let endedByServer = Cause(
    "ended-by-server", .end,
    "Expired: the server ended the session",
    reliesOn: .ownRecords,
    .signedOut,
    english: Plain(
      "the server told the app that the session is over",
      fix: "find out at the server who or what ended it"),
    spanish: Plain(
      "el servidor comunicó a la app que la sesión terminó",
      fix: "averigua en el servidor quién o qué la terminó"),
    portuguese: Plain(
      "o servidor comunicou ao app que a sessão terminou",
      fix: "descubra no servidor quem ou o que a encerrou"))
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
    maybe(.signedOutElsewhere, .passwordChanged, .administrator, .sessionDisplaced, .otherSignIn)
    maybe(.userRemoved)
    if let expiry = evidence.expiry { addAge(at: expiry) }
    ruleOutTheUsual()
    advise(.lookWhoEnded)
  }
}
