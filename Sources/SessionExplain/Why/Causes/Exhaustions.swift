@_spi(Internals) import SessionCore

extension CauseFamily {
  /// Ends after the policy's number of failed attempts.
  static let exhaustions: [Cause] = [
    .serverFailing, .rateLimited, .refreshingTooOften, .answersUnreadable, .appRefused,
    .endpointMissing, .attemptsExhausted,
  ]
}

extension Cause {
  package static let serverFailing = Cause(
    "server-failing", .end,
    "Expired: the server failed in {}, with no success between",
    .signedOut,
    english: Plain(
      "{} to renew the session failed at the server, with no success between",
      fix: "repair the server; a setting of the app can keep users signed in through such a time"),
    spanish: Plain(
      "renovar la sesión falló en el servidor ({}), sin ningún éxito entre medio",
      fix: "repara el servidor; un ajuste de la app puede mantener la sesión durante una avería "
        + "así"),
    portuguese: Plain(
      "renovar a sessão falhou no servidor ({}), sem nenhum sucesso nesse meio",
      fix: "repare o servidor; um ajuste do app pode manter a sessão durante uma falha assim"))
  package static let rateLimited = Cause(
    "rate-limited", .end,
    "Expired: the server limited the rate of requests",
    .signedOut,
    english: Plain(
      "the server limited how often the app may ask, until the app gave up",
      fix: "let the app ask less often, or raise the limit at the server"),
    spanish: Plain(
      "el servidor limitó la frecuencia con que la app puede preguntar, hasta que la app desistió",
      fix: "haz que la app pregunte con menos frecuencia, o sube el límite en el servidor"),
    portuguese: Plain(
      "o servidor limitou a frequência com que o app pode pedir, até o app desistir",
      fix: "faça o app pedir com menos frequência, ou aumente o limite no servidor"))
  package static let refreshingTooOften = Cause(
    "refreshing-too-often", .end,
    "Expired: refreshed at every half of the token's lifetime, until the server limited the rate",
    .signedOut,
    english: Plain(
      "the app renewed the session too early and too often, until the server limited it",
      fix: "renew later in the life of a token, or let tokens live longer"),
    spanish: Plain(
      "la app renovó la sesión demasiado pronto y demasiadas veces, hasta que el servidor la "
        + "limitó",
      fix: "renueva más tarde en la vida de un token, o haz que los tokens duren más"),
    portuguese: Plain(
      "o app renovou a sessão cedo demais e vezes demais, até o servidor o limitar",
      fix: "renove mais tarde na vida de um token, ou faça os tokens durarem mais"))
  package static let answersUnreadable = Cause(
    "answers-unreadable", .end,
    "Expired: the server's responses could not be read",
    .signedOut,
    english: Plain(
      "the app could not read the server's responses",
      fix: "compare the app's settings for responses with a response of the server"),
    spanish: Plain(
      "la app no pudo leer las respuestas del servidor",
      fix: "compara la configuración de la app para las respuestas con una respuesta del servidor"),
    portuguese: Plain(
      "o app não conseguiu ler as respostas do servidor",
      fix: "compare a configuração do app para as respostas com uma resposta do servidor"))
  package static let appRefused = Cause(
    "app-refused", .end,
    "Expired: the server does not accept this app's client",
    .signedOut,
    english: Plain(
      "the server does not accept this app as a client",
      fix: "check the client id, the secret and the method of the app's registration"),
    spanish: Plain(
      "el servidor no acepta esta app como cliente",
      fix: "comprueba el id de cliente, el secreto y el método del registro de la app"),
    portuguese: Plain(
      "o servidor não aceita este app como cliente",
      fix: "verifique o id de cliente, o segredo e o método do registro do app"))
  package static let endpointMissing = Cause(
    "endpoint-missing", .end,
    "Expired: the address of the refresh responds with 404 or 405",
    .signedOut,
    english: Plain(
      "the address at which the app renews the session responds with 404 or 405; it may be wrong, "
        + "or was moved",
      fix: "check the address of that request in the app's settings"),
    spanish: Plain(
      "la dirección en la que la app renueva la sesión responde con 404 o 405; puede ser "
        + "incorrecta, o cambió",
      fix: "comprueba la dirección de esa petición en la configuración de la app"),
    portuguese: Plain(
      "o endereço em que o app renova a sessão responde com 404 ou 405; pode estar errado, ou "
        + "mudou",
      fix: "verifique o endereço dessa requisição na configuração do app"))
  package static let attemptsExhausted = Cause(
    "attempts-exhausted", .end,
    "Expired: {} failed, with no success between",
    .signedOut,
    english: Plain(
      "{} to renew the session failed, with no success between",
      fix: "look at the failures one by one, and at the server's log"),
    spanish: Plain(
      "renovar la sesión falló ({}), sin ningún éxito entre medio",
      fix: "mira los fallos uno por uno, y el registro del servidor"),
    portuguese: Plain(
      "renovar a sessão falhou ({}), sem nenhum sucesso nesse meio",
      fix: "veja as falhas uma por uma, e o log do servidor"))
}

extension ExplanationDraft {
  /// Explains that the server answered every attempt with a failure.
  mutating func explainExhaustion() {
    guard let token, token.failures.answered > 0 else {
      conclude(.attemptsExhausted, .possible, [.counted(0, "attempt")])
      ruleOutTheUsual()
      return
    }
    let failures = token.failures
    let total = failures.answered
    let isWhole = token.announced != nil && !token.hasStrayEnds
    countFailures(failures, isWhole: isWhole)
    proveLateAnswers(token)
    ruleOutTheUsual()
    ruleOutRefusal()
    leaveUntold(.policyLimits)
    func count(_ kind: RequestFailure.Kind) -> UInt64 { failures.kinds[kind] ?? 0 }
    guard isWhole else {
      // Failures before may have been of another kind.
      conclude(.attemptsExhausted, .possible, [.counted(total, "attempt")])
      advise(.seeClasses)
      adviseServerLog(near: failures.lastAnswered)
      return
    }
    if failures.answeredBy.refusesClient == total {
      conclude(.appRefused, .proven)
      proveLastWord(failures)
      advise(.checkClient)
    } else if failures.answeredBy.demandsSignIn == total {
      conclude(.signInDemanded, .proven)
      showCode(failures.lastAnswered?.failure)
      proveLastWord(failures)
      advise(.giveFactor)
    } else if failures.answeredBy.isNotThere == total {
      conclude(.endpointMissing, .proven)
      proveLastWord(failures)
      infer(.wrongPath, .likely)
      advise(.checkPath)
    } else if count(.unreadable) == total {
      conclude(.answersUnreadable, .proven)
      infer(.wireDoesNotFit, .likely)
      advise(.compareWire)
    } else if count(.rateLimited) * 2 > total {
      explainRate(failures)
    } else if count(.server) == total {
      conclude(.serverFailing, .proven, [.counted(total, "attempt")])
      doubtUser(failures)
      advise(.nothingOnDevice)
      advise(.stayOnExhaustion)
    } else {
      conclude(.attemptsExhausted, .proven, [.counted(total, "attempt")])
      if count(.unexpected) == total { showCode(failures.lastAnswered?.failure) }
      advise(.seeClasses)
      advise(.stayOnExhaustion)
    }
    adviseServerLog(near: failures.lastAnswered)
  }

  private mutating func explainRate(_ failures: FailureTally) {
    if failures.longestWait > 0 { prove(.askedToWait, [.span(failures.longestWait)]) }
    let schedule = trail.schedule
    let isShort = schedule.longestLife <= 600_000
    let goesBack = trail.clock.jumps.contains { $0.span < 0 }
    let isOnly = failures.kinds[.rateLimited] == failures.answered
    // A few early refreshes among many are not a refresh at every half of the lifetime.
    let isEarly = schedule.early >= 3 && schedule.early * 4 >= schedule.count * 3
    guard isEarly, isShort, !goesBack else {
      conclude(.rateLimited, isOnly ? .proven : .possible)
      advise(.honourWaits)
      return
    }
    conclude(.refreshingTooOften, isOnly ? .likely : .possible)
    explanation.findings.inferred.append(tooLongThreshold)
    advise(.shorterThreshold, [.span(schedule.longestLife)])
  }

  /// Names a deleted user if every response was 500: simplejwt 5.5.1 responds so to its refresh.
  mutating func doubtUser(_ failures: FailureTally) {
    guard failures.answered > 1, failures.answeredBy.isInternal == failures.answered else { return }
    maybe(.userRemoved)
    advise(.checkUserExists)
  }

  private mutating func proveLastWord(_ failures: FailureTally) {
    guard let fact = failures.lastAnswered, let failure = fact.failure else { return }
    prove(.serverSaid, [Self.words(failure)], on: fact)
  }

  mutating func countFailures(_ failures: FailureTally, isWhole: Bool) {
    let classes = Self.classes(failures.answeredKinds)
    guard isWhole, let first = failures.firstAnswered, let last = failures.lastAnswered else {
      prove(.countNotWhole, [.counted(failures.answered, "failure"), .word(classes)])
      return
    }
    prove(
      .countedFailures,
      [
        .counted(failures.answered, "failure"), .place(first.sequence), .place(last.sequence),
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
