public import SessionCore
import SessionJournal
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
  func leave(_ journal: Identifier, of user: Identifier?) async throws(ChangeLogError) -> Int {
    let (hold, process) = (hold(journal), process)
    return try await commit { (queue, time) throws(ChangeLogError) in
      let count = queue.unsentCount(of: user)
      guard count == 0 else { return ([], count) }
      LeavingHolds.insert(hold)
      let until = time.advanced(by: Self.leavingLease)
      return ([.leaving(.init(journal: journal, process: process, until: until))], 0)
    }
  }

  private func hold(_ journal: Identifier) -> LeavingHolds.Hold {
    .init(log: path, journal: journal, process: process)
  }

  /// The logout came to nothing: changes are taken in again.
  ///
  /// Where that cannot be written, they are a while later.
  func stay(_ journal: Identifier) async {
    LeavingHolds.remove(hold(journal))
    let process = process
    do throws(ChangeLogError) {
      try await commit { (queue, time) throws(ChangeLogError) in
        let isOurs = queue.leaving.contains {
          $0.leaving.journal == journal && $0.leaving.process == process
        }
        guard isOurs else { return ([], ()) }
        return ([.leaving(.init(journal: journal, process: process, until: time))], ())
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
      LeavingHolds.remove(hold(signIn.journal))
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

extension ChangeQueue {
  /// Throws where nothing is taken in any more, or now, through that sign-in.
  func check(_ pass: SyncGate.Pass, at time: Timestamp, in log: String) throws(ChangeLogError) {
    guard let signIn = pass.signIn else { return }
    if hasEnded(signIn) { throw .signInEnded }
    let until = isLeaving(signIn.journal, at: time) { process in
      process == ProcessStatus.own
        ? !LeavingHolds.contains(.init(log: log, journal: signIn.journal, process: process))
        : ProcessStatus.isGone(process)
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
