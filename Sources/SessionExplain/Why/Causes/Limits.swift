@_spi(Internals) import SessionCore

extension CauseFamily {
  /// Ends by a limit of the policy: inactivity and the absolute lifetime.
  static let limits: [Cause] = [.inactive, .lifetimeOver]
}

extension Cause {
  package static let inactive = Cause(
    "inactive", .end,
    "Expired: unused for too long",
    .signedOut,
    english: Plain(
      "the session was unused for as long as the app's settings allow",
      fix: "sign in again; if it was too soon, allow a longer pause in the app's settings"),
    spanish: Plain(
      "nadie usó la sesión durante el tiempo máximo que permite la configuración de la app",
      fix: "vuelve a iniciar sesión; si fue demasiado pronto, permite una pausa más larga en la "
        + "configuración de la app"),
    portuguese: Plain(
      "ninguém usou a sessão durante o tempo máximo que a configuração do app permite",
      fix: "entre de novo; se foi cedo demais, permita uma pausa mais longa na configuração do "
        + "app"))
  package static let lifetimeOver = Cause(
    "lifetime-over", .end,
    "Expired: the session had lasted for as long as the policy or the backend allows",
    .signedOut,
    english: Plain(
      "the session had lasted for as long as the app or the server allows",
      fix: "sign in again; if it was too soon, allow longer sessions in the app or at the server"),
    spanish: Plain(
      "la sesión había durado todo lo que permite la app o el servidor",
      fix: "vuelve a iniciar sesión; si fue demasiado pronto, permite sesiones más largas en la "
        + "app o en el servidor"),
    portuguese: Plain(
      "a sessão tinha durado tudo o que o app ou o servidor permite",
      fix: "entre de novo; se foi cedo demais, permita sessões mais longas no app ou no servidor"))
}

extension ExplanationDraft {
  mutating func explainInactivity() {
    // If the clock was set forward, the session may have been unused for less time.
    let wasSet = trail.clock.jumps.contains { $0.span > 0 && $0.to > trail.start }
    conclude(.inactive, wasSet ? .possible : .proven)
    if let before = evidence.lastBefore {
      let gap = max(0, endTime.milliseconds(since: before.time))
      prove(.unusedForLimit, [.span(gap)], on: before)
    }
    ruleOutUser()
    ruleOutRefusal()
    ruleOutStorage()
    leaveUntold(.policyLimits)
    advise(.raiseLimit)
  }

  mutating func explainLifetime() {
    // If the clock was set forward, the session may have lasted for less time.
    let wasSet = trail.clock.jumps.contains { $0.span > 0 && $0.to > trail.start }
    conclude(.lifetimeOver, wasSet ? .possible : .proven)
    if let login = trail.login {
      let age = max(0, endTime.milliseconds(since: login.time))
      prove(.lastedForLifetime, [.span(age)], on: login)
    }
    ruleOutUser()
    ruleOutRefusal()
    ruleOutStorage()
    leaveUntold(.policyLimits)
    advise(.raiseLifetime)
  }
}
