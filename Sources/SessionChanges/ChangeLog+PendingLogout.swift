@_spi(Internals) import SessionChangeQueue
@_spi(Internals) public import SessionCore
import SessionJournal
import SessionKit
import Synchronization

/// Logouts and dead letters in a change log.
extension ChangeLog {
  /// The time for which a logout prevents additions, in milliseconds, if its process lives.
  static let leavingLease: Int64 = 60_000

  /// Retries a dead letter with its key.
  ///
  /// It is placed before all changes that were never sent, and is never coalesced.
  ///
  /// Its content is as old as it was. If a later change of the same entity was added meanwhile,
  /// dismiss the dead letter (``discard(_:)``) instead.
  ///
  /// - Throws: `unknownKey` if there is no dead letter with this key.
  /// - Throws: `othersChanges` if changes of another user are pending.
  public func retry(_ key: Identifier) async throws(ChangeLogError) {
    defer { bell.ring() }
    try await commit { (queue, _) throws(ChangeLogError) in
      let failure = queue.failures.first { $0.change.key == key }
      guard let failure else { throw .unknownKey(key) }
      guard queue.owner ?? failure.user == failure.user else {
        throw .othersChanges(queue.pending.count)
      }
      return ([.retried(key)], ())
    }
  }

  // MARK: Logout

  /// Returns the number of changes of `user` that the server has not accepted.
  ///
  /// If there are none, the log accepts no changes through the session of `journal`. This ends with
  /// ``releaseHold(_:)``, with the end of the sign-in, or after ``leavingLease``.
  func holdForLogout(_ journal: Identifier, of user: Identifier?) async throws(ChangeLogError)
    -> Int
  {
    let (hold, presence) = (hold(journal), presence)
    return try await commit { (queue, time) throws(ChangeLogError) in
      let count = queue.unsentCount(of: user)
      guard count == 0 else { return ([], count) }
      ProcessLogoutHolds.insert(hold)
      let until = time.advanced(by: Self.leavingLease)
      return (presence.records(of: journal, until: until), 0)
    }
  }

  private func hold(_ journal: Identifier) -> ProcessLogoutHolds.Hold {
    .init(log: path, journal: journal, sender: sender)
  }

  /// Ends the hold after a logout that did not happen, so that changes are accepted again.
  ///
  /// If the release cannot be written, changes are accepted after ``leavingLease``.
  func releaseHold(_ journal: Identifier) async {
    ProcessLogoutHolds.remove(hold(journal))
    let presence = presence
    do throws(ChangeLogError) {
      try await commit { (queue, time) throws(ChangeLogError) in
        let isOurs = queue.leaving.contains { presence.holds(journal, by: $0.leaving) }
        guard isOurs else { return ([], ()) }
        return (presence.records(of: journal, until: time), ())
      }
      note(nil, in: .leaving)
    } catch {
      note(error, in: .leaving)
    }
  }

  /// Ends a sign-in permanently after its logout.
  ///
  /// The log accepts and sends nothing through it any more. With `discards`, its changes are
  /// removed, from the file and from files next to it.
  ///
  /// The call may be repeated. If it threw, the next call completes the remaining steps.
  func end(_ signIn: SignIn, of user: Identifier?, discards: Bool) async throws(ChangeLogError) {
    do throws(ChangeLogError) {
      try await commit { (queue, _) throws(ChangeLogError) in
        (queue.ending(signIn, of: user, discards: discards), ())
      }
      if discards {
        let store = store
        try await runtime.result { () throws(ChangeLogError) in
          try store.compact()
          try store.forgetKept()
        }
      }
      ProcessLogoutHolds.remove(hold(signIn.journal))
      note(nil, in: .clearing)
    } catch {
      note(error, in: .clearing)
      throw error
    }
  }

  /// Releases the change that was about to be sent or may have been sent.
  ///
  /// Any process can send it again with its key.
  func release(_ key: Identifier) async throws(ChangeLogError) {
    let sender = sender
    try await commit { (queue, time) throws(ChangeLogError) in
      guard let first = queue.pending.first, first.change.key == key, first.postponed == nil,
        first.sent?.sender == sender
      else { return ([], ()) }
      let reason = "stopped before a response arrived"
      return (
        [.postponed(.init(key: key, isCounted: false, retryAt: time, reason: reason))], ()
      )
    }
  }
}

extension OpeningPresence {
  /// Returns whether a record says that this opening holds the logout of a session.
  fileprivate func holds(_ journal: Identifier, by leaving: ChangeEvent.PendingLogout) -> Bool {
    guard let identity else { return leaving.journal == journal && leaving.process == process }
    return leaving.named.map { $0.journal == journal && $0.holder.opening == identity.opening }
      ?? false
  }

  /// Returns the records of a logout that this opening holds, or held.
  fileprivate func records(of journal: Identifier, until: Timestamp) -> [ChangeEvent] {
    guard let identity else {
      return [.leaving(.init(journal: journal, process: process, until: until))]
    }
    return ChangeEvent.PendingLogout.records(journal, by: identity, process: process, until: until)
  }
}

extension ChangeQueue {
  /// Throws if the log accepts no changes through that sign-in, now or permanently.
  func check(
    _ pass: SyncGate.Pass, at time: Timestamp, in log: String, by presence: OpeningPresence
  ) throws(ChangeLogError) {
    guard let signIn = pass.signIn else { return }
    if hasEnded(signIn) { throw .signInEnded }
    let until = isLeaving(signIn.journal, at: time) { holder, process in
      // This process may have ended a logout but failed to write the record.
      if let own = presence.identity, own.isSameProcess(presence.process, as: holder, process) {
        let sender = Identifier(holder.spelling)
        return !ProcessLogoutHolds.contains(
          .init(log: log, journal: signIn.journal, sender: sender))
      }
      return presence.isGone(holder, process)
    }
    if let until { throw .loggingOut(until: until) }
  }
}

extension SyncGate {
  /// Why the log accepts nothing through the gate.
  var refusal: ChangeLogError {
    guard !isFinished, !isLoading else { return .notKnown }
    return state.kind == .expired ? .sessionExpired : .notSignedIn
  }
}
