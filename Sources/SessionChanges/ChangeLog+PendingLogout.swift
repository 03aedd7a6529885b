@_spi(Internals) import SessionChangeQueue
@_spi(Internals) public import SessionCore
import SessionJournal
import SessionKit
import Synchronization

/// What a logout, and what was given up, has to do with a log.
extension ChangeLog {
  /// For how long a logout that was begun keeps others from adding, where its process lives; in
  /// milliseconds.
  static let leavingLease: Int64 = 60_000

  /// Tries a change again that was given up: with its key, in front of what was never sent, and never put
  /// together with another.
  ///
  /// Its content is as old as it was: where a later change of the same entity was taken meanwhile, dismiss it
  /// (``discard(_:)``) instead. Throws `unknownKey` where none was given up with that key, and `othersChanges` where another user's wait.
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

  /// How many changes of `user` the server has not taken; where there are none, nothing is taken in through
  /// the session of `journal` from here on, until ``stay(_:)``, the end of the sign-in, or a while.
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

  /// The logout came to nothing: changes are taken in again.
  ///
  /// Where that cannot be written, they are a while later.
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

  /// Ends a sign-in for good, behind its logout: nothing is taken in or sent through it any more, and
  /// where `discards` says so, what it has left goes, also from the file and what is kept beside it.
  ///
  /// May be done again: where it threw, what is left to be done is done then.
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

  /// Lets go of the change that was about to be sent, or may have been: it is sent again with its key, by
  /// whoever comes first.
  func release(_ key: Identifier) async throws(ChangeLogError) {
    let sender = sender
    try await commit { (queue, time) throws(ChangeLogError) in
      guard let first = queue.pending.first, first.change.key == key, first.postponed == nil,
        first.sent?.sender == sender
      else { return ([], ()) }
      let reason = "stopped before an answer came"
      return (
        [.postponed(.init(key: key, isCounted: false, retryAt: time, reason: reason))], ()
      )
    }
  }
}

extension OpeningPresence {
  /// Whether a record says that this opening holds the logout of a session.
  fileprivate func holds(_ journal: Identifier, by leaving: ChangeEvent.PendingLogout) -> Bool {
    guard let identity else { return leaving.journal == journal && leaving.process == process }
    return leaving.named.map { $0.journal == journal && $0.holder.opening == identity.opening }
      ?? false
  }

  /// What a log says of a logout that this opening holds, or held.
  fileprivate func records(of journal: Identifier, until: Timestamp) -> [ChangeEvent] {
    guard let identity else {
      return [.leaving(.init(journal: journal, process: process, until: until))]
    }
    return ChangeEvent.PendingLogout.records(journal, by: identity, process: process, until: until)
  }
}

extension ChangeQueue {
  /// Throws where nothing is taken in any more, or now, through that sign-in.
  func check(
    _ pass: SyncGate.Pass, at time: Timestamp, in log: String, by presence: OpeningPresence
  ) throws(ChangeLogError) {
    guard let signIn = pass.signIn else { return }
    if hasEnded(signIn) { throw .signInEnded }
    let until = isLeaving(signIn.journal, at: time) { holder, process in
      // This process may have ended a logout and not been able to write so.
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
  /// Why nothing is taken in through it.
  var refusal: ChangeLogError {
    guard !isFinished, !isLoading else { return .notKnown }
    return state.kind == .expired ? .sessionExpired : .notSignedIn
  }
}
