import SessionChangeQueue
public import SessionCore
public import SessionKit

extension SessionConfiguration {
  /// Has a logout ask for the changes in `log` that the server has not taken, and discards them after it
  /// (OUT-3).
  ///
  /// Adds the log to the end of ``hosts``: the app's hosts stand in front of it. What was given up and not
  /// dismissed counts too. A logout by the user throws `pendingChanges` unless it may discard them, and while it
  /// is under way nothing is taken in. An expiry keeps them. Where the account is deleted they go. Where the
  /// policy logs out, nobody was asked: they stay, as that user's, unless `discardingOnPolicyLogout`. After every
  /// logout nothing is taken in or sent through that sign-in any more, also by other processes that have not
  /// seen it.
  ///
  /// Every session of the journal must have the log settled.
  ///
  /// When the status of each user last changed is kept in the log too, in a scope of its own
  /// (``ChangeLog/scope(of:)``), and outlives the clearing (SYN-4).
  public mutating func attach(_ log: ChangeLog, discardingOnPolicyLogout: Bool = false) {
    hosts.append(AttachedLog(log: log, discardsOnPolicyLogout: discardingOnPolicyLogout))
  }
}

extension ChangeLog: SessionHost {
  /// `true`: a change says through which sign-in it came.
  public var separatesSignIns: Bool { true }

  /// How many changes of `user` the server has not taken; if there are none, nothing is taken in through the
  /// session of `journal` from here on, until that logout or the sign-in ends, or for a minute.
  ///
  /// If the file cannot be used, what was there at the last look counts: nothing is lost by asking the user
  /// once too often.
  public func prepareForLogout(user: Identifier?, journal: Identifier) async -> Int {
    do throws(ChangeLogError) {
      return try await holdForLogout(journal, of: user)
    } catch {
      return queue.unsentCount(of: user)
    }
  }

  /// Takes in changes again; if that cannot be written, a minute after the logout was prepared.
  public func cancelLogout(journal: Identifier) async { await releaseHold(journal) }

  /// Ends the sign-in, and discards what is left of it and of its user, unless the policy logged out.
  ///
  /// If it throws, ``problem`` says why.
  public func sessionEnded(_ session: EndedSession) async throws(ChangeLogError) {
    try await end(session, discardsOnPolicyLogout: false)
  }

  /// The time that the log keeps for a user, by a look at the file.
  public func lastKnownStatus(of user: Identifier) async -> Timestamp? {
    await knownStatus(of: user)
  }

  /// Keeps the time, if it is newer than the one that is kept.
  public func accountStatusChanged(_ change: StatusChange) async { await keep(change) }

  fileprivate func end(
    _ ended: EndedSession, discardsOnPolicyLogout: Bool
  ) async throws(ChangeLogError) {
    try await end(
      SignIn(journal: ended.journal, generation: ended.generation), of: ended.user,
      discards: ended.reason != .policy || discardsOnPolicyLogout)
  }
}

/// A change log as a session's host, that may discard its changes at a logout by the policy.
private struct AttachedLog: SessionHost {
  let log: ChangeLog
  let discardsOnPolicyLogout: Bool

  var separatesSignIns: Bool { log.separatesSignIns }

  func prepareForLogout(user: Identifier?, journal: Identifier) async -> Int {
    await log.prepareForLogout(user: user, journal: journal)
  }

  func cancelLogout(journal: Identifier) async { await log.cancelLogout(journal: journal) }

  func sessionEnded(_ session: EndedSession) async throws(ChangeLogError) {
    try await log.end(session, discardsOnPolicyLogout: discardsOnPolicyLogout)
  }

  func lastKnownStatus(of user: Identifier) async -> Timestamp? {
    await log.lastKnownStatus(of: user)
  }

  func accountStatusChanged(_ change: StatusChange) async {
    await log.accountStatusChanged(change)
  }
}
