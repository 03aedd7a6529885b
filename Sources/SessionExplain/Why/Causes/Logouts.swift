@_spi(Internals) import SessionCore

extension CauseFamily {
  /// Ends that the app or the policy asked for, and ends whose reason is not known.
  static let logouts: [Cause] = [.userLogout, .userLogoutAfterExpiry, .unexplained]
}

extension Cause {
  package static let userLogout = Cause(
    "user-logout", .end,
    "Logged out: the app asked for it",
    .signedOutByApp,
    english: Plain(
      "the app called its own sign-out, as it does when the user asks for it",
      fix: "nothing to do if the user asked for it; otherwise find the code that signs out"),
    spanish: Plain(
      "la app llamó a su propio cierre de sesión, como hace cuando el usuario lo pide",
      fix: "nada que hacer si el usuario lo pidió; si no, busca el código que cierra la sesión"),
    portuguese: Plain(
      "o app chamou o seu próprio encerramento de sessão, como faz quando o usuário pede",
      fix: "nada a fazer se o usuário pediu; senão, procure o código que encerra a sessão"))
  package static let userLogoutAfterExpiry = Cause(
    "user-logout-after-expiry", .end,
    "Logged out by the app, after the session had expired",
    .signedOutByApp,
    english: Plain(
      "the session had already ended, and the app then completed the sign-out",
      fix: "look for the earlier end of the session, which has the reason"),
    spanish: Plain(
      "la sesión ya había terminado, y después la app completó el cierre",
      fix: "busca el final anterior de la sesión, que tiene el motivo"),
    portuguese: Plain(
      "a sessão já tinha terminado, e depois o app concluiu o encerramento",
      fix: "procure o fim anterior da sessão, que tem o motivo"))
  package static let unexplained = Cause(
    "unexplained", .end,
    "Ended, for a reason that is not known ({})",
    .signedOut,
    english: Plain(
      "the records of the app do not say why",
      fix: "look for an earlier or undamaged copy of the file, or use a newer version of this tool"),
    spanish: Plain(
      "los registros de la app no dicen por qué",
      fix: "busca una copia anterior o sin daños del archivo, o usa una versión más nueva de esta "
        + "herramienta"),
    portuguese: Plain(
      "os registros do app não dizem por quê",
      fix: "procure uma cópia anterior ou sem danos do arquivo, ou use uma versão mais nova desta "
        + "ferramenta"))
  /// The records have the reason, by a number of a newer version.
  package static let newerReason = unexplained.worded(
    english: Plain(
      "the session ended for a reason ({}) that this version does not know",
      fix: "explain it with a newer version of this tool"),
    spanish: Plain(
      "la sesión terminó por un motivo ({}) que esta versión no conoce",
      fix: "explícalo con una versión más nueva de esta herramienta"),
    portuguese: Plain(
      "a sessão terminou por um motivo ({}) que esta versão não conhece",
      fix: "explique com uma versão mais nova desta ferramenta"))
}

extension ExplanationDraft {
  mutating func explainUser() {
    leaveUntold(.personOrProgram)
    if evidence.before == .expired {
      conclude(.userLogoutAfterExpiry, .proven)
      explanation.root = evidence.root.map { Explainer.explain($0, in: journal) }
      prove(.appCalledLogout, on: evidence.logout)
      if let root = evidence.root.first?.place {
        prove(.settledExpiry, [.place(root.sequence)], on: root)
      }
      if evidence.root.isEmpty, let gone = trail.compactedBefore, trail.login != nil {
        explanation.findings.untold.append(Untold(.beforeCompaction, [.place(gone + 1)]))
      }
      if !explanation.root.isEmpty { advise(.asRoot) }
      return
    }
    conclude(.userLogout, .proven)
    showsAftermath = true
    prove(.appCalledLogout, on: evidence.logout)
    ruleOutRefusal()
    ruleOutLocalExpiry()
    ruleOutStorage()
    advise(.findLogoutCallers)
  }

  /// Explains that the policy closed an expired session later.
  mutating func explainClosing(of root: Evidence) {
    let reason = Explainer.explain(root, in: journal)
    // A session that began and expired in lost records may be the one that was closed.
    let isWhole = trail.losses.gaps == root.trail.losses.gaps
    conclude(reason.cause, isWhole ? reason.certainty : .possible, reason.headline)
    explanation.root = [reason]
    prove(.settledExpiry, [.place(root.place?.sequence ?? 0)], on: root.place)
    advise(.asRoot)
  }

  /// Explains a closing by the policy whose expiry is not in the file.
  mutating func explainPolicyAlone() {
    conclude(.unexplained, .possible, [.word(LogoutReason.policy.description)])
    prove(.closedByPolicy, on: evidence.logout)
  }

  mutating func explainUnknown() {
    let code = explanation.reason ?? ""
    let number = evidence.expiry?.expiry?.rawValue ?? evidence.logout?.logout?.rawValue
    conclude(.newerReason, .possible, [.word(number.map { "\($0)" } ?? code)])
    prove(.newReason, [.word(code)], on: evidence.place)
    if evidence.logout == nil || evidence.logout?.logout == .policy { ruleOutUser() }
    advise(.newerTool)
  }
}
