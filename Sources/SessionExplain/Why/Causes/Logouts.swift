@_spi(Internals) import SessionCore

extension CauseFamily {
  /// Ends that the app or the policy asked for, and ends whose reason is not known.
  static let logouts = CauseFamily(
    causes: [.userLogout, .userLogoutAfterExpiry, .unexplained],
    findings: [.appCalledLogout, .settledExpiry, .newReason, .closedByPolicy],
    untold: [.personOrProgram],
    advice: [.findLogoutCallers, .asRoot, .newerTool])
}

extension Cause {
  package static let userLogout = Cause(
    "user-logout", .end,
    "Logged out: the app asked for it")
  package static let userLogoutAfterExpiry = Cause(
    "user-logout-after-expiry", .end,
    "Logged out by the app, after the session had expired")
  package static let unexplained = Cause(
    "unexplained", .end,
    "Ended, for a reason that is not known ({})")
}

extension FindingWord {
  package static let appCalledLogout = FindingWord(
    "appCalledLogout",
    "the app called logout()")
  package static let settledExpiry = FindingWord(
    "settledExpiry",
    "the session had expired at {}; the logout settled that")
  package static let newReason = FindingWord(
    "newReason",
    "the reason is {}, which this version does not know")
  package static let closedByPolicy = FindingWord(
    "closedByPolicy",
    "the policy closed the session, and no expiry that says why can be read")
}

extension UntoldWord {
  package static let personOrProgram = UntoldWord(
    "personOrProgram",
    "whether a person asked for it or a program")
}

extension AdviceWord {
  package static let findLogoutCallers = AdviceWord(
    "findLogoutCallers",
    "if nobody pressed it, look for callers of logout()")
  package static let asRoot = AdviceWord(
    "asRoot",
    "as for the expiry below")
  package static let newerTool = AdviceWord(
    "newerTool",
    "a newer sessionreplay")
}

extension ExplanationDraft {
  mutating func explainUser() {
    leaveUntold(.personOrProgram)
    if evidence.before == .expired {
      conclude(.userLogoutAfterExpiry, .proven)
      explanation.root = evidence.root.map(Explainer.explain)
      prove(.appCalledLogout, on: evidence.logout)
      if let root = evidence.root.first?.place {
        prove(.settledExpiry, [.place(root.sequence)], on: root)
      }
      if evidence.root.isEmpty, let gone = evidence.compactedBefore, evidence.login != nil {
        explanation.untold.append(Untold(.beforeCompaction, [.place(gone + 1)]))
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
    let reason = Explainer.explain(root)
    // A session that began and expired in lost records may be the one that was closed.
    let isWhole = evidence.gaps == root.gaps
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
    conclude(.unexplained, .possible, [.word(code)])
    prove(.newReason, [.word(code)], on: evidence.place)
    if evidence.logout == nil || evidence.logout?.logout == .policy { ruleOutUser() }
    advise(.newerTool)
  }
}
