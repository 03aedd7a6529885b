@_spi(Internals) import SessionCore

extension CauseFamily {
  /// Ends by a token that expired and could not be refreshed.
  static let tokenLifetimes: [Cause] = [.tokenExpired, .expiredOnArrival, .clockForward]
}

extension Cause {
  package static let tokenExpired = Cause(
    "token-expired", .end,
    "Expired: the token's lifetime was over, and it could not be refreshed",
    .signedOut,
    english: Plain(
      "the token had expired, and the app had no way to renew it",
      fix: "let the server issue a token for renewal (a refresh token), check that the app's "
        + "settings find it in a response, and that the app hands it over when it adopts a token"),
    spanish: Plain(
      "el token había caducado, y la app no tenía cómo renovarlo",
      fix: "haz que el servidor emita un token para renovar (un refresh token), comprueba que la "
        + "configuración de la app lo encuentra en una respuesta, y que la app lo entrega cuando "
        + "adopta un token"),
    portuguese: Plain(
      "o token tinha expirado, e o app não tinha como renová-lo",
      fix: "faça o servidor emitir um token de renovação (um refresh token), verifique se a "
        + "configuração do app o encontra em uma resposta, e se o app o entrega quando adota um "
        + "token"))
  /// A login replaced a session that no server had renewed.
  package static let tokenNotRenewed = tokenExpired.worded(
    english: Plain(
      "the token had expired, and the attempts to renew it had failed",
      fix: "find out from the failures and from the server's log why the session was not renewed"),
    spanish: Plain(
      "el token había caducado, y los intentos de renovarlo habían fallado",
      fix: "averigua por los fallos y por el registro del servidor por qué no se renovó la sesión"),
    portuguese: Plain(
      "o token tinha expirado, e as tentativas de renová-lo tinham falhado",
      fix: "descubra pelas falhas e pelo log do servidor por que a sessão não foi renovada"))
  package static let expiredOnArrival = Cause(
    "expired-on-arrival", .end,
    "Expired: the token had no lifetime left when it arrived",
    .signedOut,
    english: Plain(
      "the token had expired, or almost, when the app received it",
      fix: "check whether the app adopted an old token, and the lifetime that the server states"),
    spanish: Plain(
      "el token había caducado, o casi, cuando la app lo recibió",
      fix: "comprueba si la app adoptó un token viejo, y la duración que indica el servidor"),
    portuguese: Plain(
      "o token tinha expirado, ou quase, quando o app o recebeu",
      fix: "verifique se o app adotou um token antigo, e a duração que o servidor informa"))
  package static let clockForward = Cause(
    "clock-forward", .end,
    "Expired early: the device's clock was set forward by {}",
    .signedOut,
    english: Plain(
      "the device's clock was set forward by {}, so the token seemed to have expired",
      fix: "check the device's clock, and correct it if it is wrong; then sign in again"),
    spanish: Plain(
      "el reloj del dispositivo se adelantó {}, así que el token parecía caducado",
      fix: "comprueba el reloj del dispositivo, y corrígelo si está mal; después vuelve a iniciar "
        + "sesión"),
    portuguese: Plain(
      "o relógio do dispositivo foi adiantado em {}, então o token parecia expirado",
      fix: "verifique o relógio do dispositivo, e corrija-o se estiver errado; depois entre de "
        + "novo"))
}

extension ExplanationDraft {
  mutating func explainExpiry() {
    // Without the record of its announcement, the token's lifetime is not known.
    guard let token, !token.isLost else { return conclude(.tokenExpired, .possible) }
    ruleOutUser()
    if token.requests.isEmpty, token.isWhole { ruleOut(.nothingSent) }
    ruleOutStorage()
    guard token.facts.lifetimeMilliseconds >= 1_000 else { return explainStillbirth(token) }
    let early = token.facts.expiresAt.milliseconds(since: endTime)
    guard early <= 0 else {
      // The clock was set back during the wait, or it was read in another way.
      conclude(.tokenExpired, .possible)
      prove(
        .lifeNotOver, [.token(token.generation), .span(early)], on: token.announced,
        evidence.expiry)
      return
    }
    // According to the records, a refreshable token did not expire for lack of a refresh token.
    let couldRefresh = token.facts.isRefreshable
    prove(
      couldRefresh ? .tokenOver : .lifeWasOver,
      [.token(token.generation), .time(token.facts.expiresAt)], on: token.announced, evidence.expiry
    )
    let forward = token.announced.map(trail.clock.forward(since:)) ?? 0
    let left = token.facts.expiresAt.milliseconds(since: endTime.advanced(by: -forward))
    if forward > 0, endTime >= token.facts.expiresAt, left > 0 {
      conclude(.clockForward, .likely, [.span(forward)])
      showsOpenings = true
      let start = token.announced?.sequence ?? 0
      explanation.findings.proven += trail.clock.jumps.filter { $0.to > start && !$0.isStepBack }
        .map(Self.finding)
      infer(.clockMadeItExpire, .likely, [.token(token.generation), .span(left)])
      advise(.clockIsUsers)
      advise(.signInAgain)
      return
    }
    ruleOutClock(to: token.facts.expiresAt)
    if couldRefresh, wasReplaced, let last = token.failures.last, let failure = last.failure {
      conclude(.tokenNotRenewed, .proven)
      if token.failures.answered > 0 {
        countFailures(token.failures, isWhole: token.announced != nil && !token.hasStrayEnds)
      }
      prove(.refreshFailedSo, [.token(token.generation), Self.words(failure)], on: last)
      showCode(failure)
      advise(.seeClasses)
      return adviseServerLog(near: last)
    }
    conclude(.tokenExpired, couldRefresh ? .possible : .proven)
    if couldRefresh { explainNoneToRead(token) } else { advise(.issueRefreshTokens) }
  }

  /// Whether the batch of the end has a login: the core ends a session so that was not renewed.
  private var wasReplaced: Bool {
    evidence.aftermath.contains { $0.isLogin && $0.batch == evidence.expiry?.batch }
  }

  /// Explains a token that had expired when it arrived.
  private mutating func explainStillbirth(_ token: TokenHistory) {
    conclude(.expiredOnArrival, .proven)
    prove(
      .deadOnArrival, [.token(token.generation), .span(token.facts.lifetimeMilliseconds)],
      on: token.announced)
    if case .login(let login)? = token.announced?.event, login.method == .adoption {
      maybe(.oldWhenAdopted, .noLifetimeStated)
    } else {
      infer(.noLifetimeStated, .likely)
    }
    advise(.checkExpiresIn)
  }
}
