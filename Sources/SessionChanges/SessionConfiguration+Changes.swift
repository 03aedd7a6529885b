import SessionChangeQueue
@_spi(Internals) public import SessionCore
public import SessionKit

extension SessionConfiguration {
  /// Adds `log` as a host: a logout first asks for its unsent changes, and discards them
  /// afterwards.
  ///
  /// Adds the log to ``/SessionKit/SessionConfiguration/hosts``. Attach it in every session of the
  /// journal, once in each.
  ///
  /// - A logout by the user throws `pendingChanges` unless it may discard them. Dead letters that
  ///   were not dismissed count too. During the logout, the log accepts no changes.
  /// - An expiry keeps the changes. If the account is deleted, they are discarded.
  /// - If the policy logs out, the user was not asked, so the changes stay as that user's. They are
  ///   discarded if `discardingOnPolicyLogout` is `true`.
  /// - After every logout, no process adds or sends changes through that sign-in any more. This
  ///   also applies to a process that has not seen the logout.
  ///
  /// The log also stores when the status of each user last changed, in a scope of its own
  /// (``ChangeLog/scope(of:)``). A logout does not remove it.
  ///
  /// - Requirement: OUT-3, SYN-4
  public mutating func attach(_ log: ChangeLog, discardingOnPolicyLogout: Bool = false) {
    add(host: AttachedLog(log: log, discardsOnPolicyLogout: discardingOnPolicyLogout))
  }
}

extension ChangeLog: SessionHost {
  /// `true`: each change records its sign-in.
  public var separatesSignIns: Bool { true }

  /// `true`: the log stores a time for each user.
  public var keepsStatusTimes: Bool { true }

  /// Returns the number of changes of `user` that the server has not accepted.
  ///
  /// If there are none, the log accepts no changes through the session of `journal` until that
  /// logout or the sign-in ends, for a minute at most. If the file cannot be used, the count of the
  /// last read is returned. At worst the user is asked once too often.
  public func prepareForLogout(user: Identifier?, journal: Identifier) async -> Int {
    do throws(ChangeLogError) {
      return try await holdForLogout(journal, of: user)
    } catch {
      return queue.unsentCount(of: user)
    }
  }

  /// Accepts changes again.
  ///
  /// If that cannot be written, it happens a minute after the logout was prepared.
  public func cancelLogout(journal: Identifier) async { await releaseHold(journal) }

  /// Ends the sign-in.
  ///
  /// Discards the changes of it and of its user, unless the policy logged out.
  ///
  /// If it throws, ``problem`` is the reason.
  public func sessionEnded(_ session: EndedSession) async throws(ChangeLogError) {
    try await end(session, discardsOnPolicyLogout: false)
  }

  /// Returns the time that the log stores for a user.
  ///
  /// It reads the file.
  public func lastKnownStatus(of user: Identifier) async -> Timestamp? {
    await knownStatus(of: user)
  }

  /// Stores the time, if it is newer than the stored one.
  public func accountStatusChanged(_ change: StatusChange) async { await keep(change) }

  fileprivate func end(
    _ ended: EndedSession, discardsOnPolicyLogout: Bool
  ) async throws(ChangeLogError) {
    try await end(
      SignIn(journal: ended.journal, generation: ended.generation), of: ended.user,
      discards: ended.reason != .policy || discardsOnPolicyLogout)
  }
}

/// A change log as a session's host that may discard its changes at a logout by the policy.
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
