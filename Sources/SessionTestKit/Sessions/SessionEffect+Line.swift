import SessionCore

extension SessionEffect.Reply {
  /// The reply on a few words, without the names of types.
  package var line: String {
    switch self {
    case .signedIn, .accountCreated, .current, .notAdopted, .refreshed, .switched,
      .alreadyLoggedOut, .closed:
      "\(self)"
    case .loggedOut(let outcome, _, let isWiped):
      "loggedOut, server \(outcome?.description ?? "not to be told")"
        + (isWiped ? "" : ", not wiped")
    case .failed(let problem): "failed: \(problem.line)"
    }
  }
}

extension SessionEffect.Wipe {
  /// What is wiped, and what is kept apart.
  package var line: String {
    let extent =
      switch self.extent {
      case .nothing: "nothing"
      case .token: "the token"
      case .session: "the session"
      case .everything: "everything"
      }
    return extent + (keptRevocation.map { ", keeping what revoking \($0) needs" } ?? "")
  }
}

extension SessionProblem {
  package var line: String {
    switch self {
    case .rejected(let rejection): "rejected, \(rejection.reason)"
    case .request(let failure): "\(failure)"
    case .unidentified(let failure): "unidentified, \(failure)"
    case .ended(let state, let failure):
      "ended, \(state)" + (failure.map { " by \($0)" } ?? "")
    case .webSignIn(let problem): "webSignIn, \(problem)"
    case .unusableJournal: "unusableJournal"
    case .tooManyAttempts(let wait): "too many attempts, \(wait) ms to wait"
    case .busy, .storage, .unsettled, .dropped, .locked, .needsPresence, .newerItems, .closed,
      .cancelled:
      "\(self)"
    }
  }
}
