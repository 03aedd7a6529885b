import SessionChangeQueue
@_spi(Internals) public import SessionCore
public import SessionKit

extension SessionConfiguration {
  /// Has a logout ask for the changes in `log` that the server has not taken, and discards them after it.
  ///
  /// Adds the log to ``SessionKit/SessionConfiguration/hosts``. Attach it in every session of the journal, once
  /// in each.
  ///
  /// - A logout by the user throws `pendingChanges` unless it may discard them. Changes that were given up and
  ///   not dismissed count too. While the logout is under way, the log takes in no changes.
  /// - An expiry keeps the changes. If the account is deleted, they go.
  /// - If the policy logs out, the user was not asked: the changes stay, as that user's. They go if
  ///   `discardingOnPolicyLogout` is `true`.
  /// - After every logout, no process adds or sends changes through that sign-in any more. This is so also for a
  ///   process that has not seen the logout.
  ///
  /// The log also keeps when the status of each user last changed, in a scope of its own
  /// (``ChangeLog/scope(of:)``). A logout does not remove it.
  ///
  /// - Requirement: OUT-3, SYN-4
  public mutating func attach(_ log: ChangeLog, discardingOnPolicyLogout: Bool = false) {
    add(host: AttachedLog(log: log, discardsOnPolicyLogout: discardingOnPolicyLogout))
  }
}

extension ChangeLog: SessionHost {
  /// `true`: a change says through which sign-in it came.
  public var separatesSignIns: Bool { true }

  /// `true`: the log keeps a time for each user.
  public var keepsStatusTimes: Bool { true }

  /// The number of changes of `user` that the server has not taken.
  ///
  /// If there are none, the log takes in no changes through the session of `journal` until that logout or the
  /// sign-in ends, for a minute at most. If the file cannot be used, what was there at the last look counts:
  /// asking the user once too often loses nothing.
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
  var keepsStatusTimes: Bool { log.keepsStatusTimes }

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
