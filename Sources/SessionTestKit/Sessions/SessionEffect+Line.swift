@_spi(Internals) import SessionCore

extension SessionEffect {
  /// The name of the kind of effect.
  package var name: String {
    switch self {
    case .commit: "commit"
    case .send: "send"
    case .discard: "discard"
    case .publish: "publish"
    case .skip: "skip"
    case .resume: "resume"
    case .schedule: "schedule"
    case .cancel: "cancel"
    case .wipe: "wipe"
    case .revoke: "revoke"
    case .forgetRevocation: "forgetRevocation"
    case .reloadToken: "reloadToken"
    case .readSecrets: "readSecrets"
    case .readJournal: "readJournal"
    case .askProfile: "askProfile"
    case .markActive: "noteUse"
    case .readUse: "readUse"
    case .clearLocalData: "clearLocalData"
    }
  }

  /// The effect in a few words, for the trace of a failing run.
  package var line: String {
    switch self {
    case .commit(let commit): "commit [\(commit.contents.map(\.line).joined(separator: "; "))]"
    case .send(let number, let request): "send \(number.number) \(request.line)"
    case .discard(let number, let revoking):
      "discard \(number.number)\(revoking ? ", revoking" : "")"
    case .publish(let events): "publish \(events.map { $0.event.kind.description })"
    case .skip(let sequence): "skip through \(sequence)"
    case .resume(let caller, let reply): "tell caller \(caller.number) \(reply.line)"
    case .schedule(let timer, let uptime): "set \(timer) for \(uptime)"
    case .cancel(let timer): "cancel \(timer)"
    case .wipe(let wipe): "wipe \(wipe.line)"
    case .revoke(let generation): "revoke \(generation)"
    case .readSecrets, .readJournal, .readUse: name
    case .askProfile(let user, let generation): "ask for \(user.short)'s profile with \(generation)"
    case .markActive(let uptime): "note the use at \(uptime)"
    case .clearLocalData(let reason): "clear the host's data, \(reason)"
    case .forgetRevocation(let generation): "forget the revocation of \(generation)"
    case .reloadToken(let generation): "reload \(generation)"
    }
  }
}

extension SessionEffect.Request {
  var line: String {
    switch self {
    case .login: "login"
    case .refresh(let generation): "refresh \(generation)"
    case .switchContext(_, let generation): "switchContext \(generation)"
    }
  }
}

extension SessionEffect.Reply {
  /// The reply in a few words, without names of types.
  package var line: String {
    switch self {
    case .signedIn, .accountCreated, .current, .notAdopted, .refreshed, .switched,
      .alreadyLoggedOut, .closed:
      "\(self)"
    case .unlocking(let number): "check \(number)"
    case .loggedOut(let outcome, _, let isWiped):
      "loggedOut, server \(outcome?.description ?? "not to be told")"
        + (isWiped ? "" : ", not wiped")
    case .failed(let problem): "failed: \(problem.line)"
    }
  }
}

extension SessionEffect.Wipe {
  /// The items that are wiped, and those that are kept.
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

extension CommandFailure {
  package var line: String {
    switch self {
    case .rejected(let rejection): "rejected, \(rejection.reason)"
    case .request(let failure): "\(failure)"
    case .unidentified(let failure): "unidentified, \(failure)"
    case .userNeeded(let need): "userNeeded, \(need.reason)"
    case .ended(let state, let failure):
      "ended, \(state)" + (failure.map { " by \($0)" } ?? "")
    case .webSignIn(let problem): "webSignIn, \(problem)"
    case .unusableJournal: "unusableJournal"
    case .tooManyAttempts(let wait): "too many attempts, \(wait) ms to wait"
    case .busy, .storage, .unsettled, .dropped, .locked, .appLocked, .needsPresence, .newerItems,
      .closed,
      .cancelled:
      "\(self)"
    }
  }
}

extension ResponseMetadata {
  package var line: String {
    "good for \(lifetime) ms" + (user.map { ", user \($0.short)" } ?? "")
      + (context.map { ", context \($0.role.id.short)" } ?? "")
  }
}
