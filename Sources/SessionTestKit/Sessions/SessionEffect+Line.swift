import SessionCore

extension SessionEffect.Reply {
  /// The reply on a few words, without the names of types.
  package var line: String {
    switch self {
    case .signedIn, .refreshed, .switched, .alreadyLoggedOut, .closed: "\(self)"
    case .loggedOut(let outcome, _, let isWiped):
      "loggedOut, server \(outcome?.description ?? "not to be told")"
        + (isWiped ? "" : ", not wiped")
    case .failed(let problem): "failed: \(problem.line)"
    }
  }
}

extension SessionProblem {
  package var line: String {
    switch self {
    case .rejected(let rejection): "rejected, \(rejection.reason)"
    case .request(let failure): "\(failure)"
    case .ended(let state, let failure):
      "ended, \(state)" + (failure.map { " by \($0)" } ?? "")
    case .unusableJournal: "unusableJournal"
    case .busy, .storage, .unsettled, .locked, .closed, .cancelled: "\(self)"
    }
  }
}
