import SessionCore

extension SessionConfiguration {
  /// Has a logout ask for the changes in `log` that the server has not taken, and discards them after it
  /// (OUT-3).
  ///
  /// What was given up and not dismissed counts too. What `pendingChanges` counts counts beside them, and what
  /// `clearLocalData` clears is cleared behind them, whenever those are set. A logout by the user throws
  /// `pendingChanges` unless it may discard them, and while it is under way nothing is taken in. An expiry
  /// keeps them. Where the account is deleted they go. Where the policy logs out, nobody was asked: they
  /// stay, as that user's, unless `discardingOnPolicyLogout`. Behind every logout nothing is taken in or sent
  /// through that sign-in any more, also by other processes that have not seen it.
  ///
  /// Every session of the journal must have the log settled.
  ///
  /// When the status of each user last changed is kept in the log too, in a scope of its own
  /// (``ChangeLog/scope(of:)``), and outlives the clearing (SYN-4): what `statusChanged` did before is done
  /// first, and what `knownStatus` knew counts where it is newer.
  public mutating func settle(_ log: ChangeLog, discardingOnPolicyLogout: Bool = false) {
    settled.append(SettledLog(log: log, discardsOnPolicyLogout: discardingOnPolicyLogout))
    let (known, tell) = (knownStatus, statusChanged)
    knownStatus = { user in
      let times = [await known?(user), await log.knownStatus(of: user)]
      return times.compactMap(\.self).max()
    }
    statusChanged = { change in
      await tell?(change)
      await log.keep(change)
    }
  }

  /// Whether the host, or a log, has data that goes with a logout.
  var hasLocalData: Bool { clearLocalData != nil || !settled.isEmpty }
}

/// A change log that a session's logouts have to do with.
struct SettledLog: Sendable {
  let log: ChangeLog
  let discardsOnPolicyLogout: Bool

  func end(_ ended: EndedSession) async throws(ChangeLogError) {
    try await log.end(
      ended.signIn, of: ended.user, discards: ended.reason != .policy || discardsOnPolicyLogout)
  }
}

/// A session that was closed for good, as far as its data is concerned.
struct EndedSession: Sendable {
  let reason: LogoutReason
  /// Its user, where that is known.
  let user: Identifier?
  /// Its journal, and its last token.
  let signIn: SignIn
  /// Whether somebody has signed in since: then only the change logs can tell what is whose.
  var isOvertaken = false
}
