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
    try await perform(.retry(key))
  }

  // MARK: Logout

  /// Returns the number of changes of `user` that the server has not accepted.
  ///
  /// If there are none, the log accepts no changes through the session of `journal`. This ends with
  /// ``releaseHold(_:)``, with the end of the sign-in, or after ``leavingLease``.
  func holdForLogout(_ journal: Identifier, of user: Identifier?) async throws(ChangeLogError)
    -> Int
  {
    let (hold, holder) = (hold(journal), presence.holder)
    return try await commit { (queue, time) throws(ChangeLogError) in
      let until = time.advanced(by: Self.leavingLease)
      let events = try queue.decided(
        .hold(journal: journal, user: user, by: holder, until: until), at: time)
      // Before the record is appended, so that no addition of this process comes in between.
      if !events.isEmpty { ProcessLogoutHolds.insert(hold) }
      return (events, queue.unsentCount(of: user))
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
    do throws(ChangeLogError) {
      try await perform(.releaseHold(journal: journal, by: presence.holder))
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
      try await perform(.endSignIn(signIn, user: user, discards: discards))
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
    try await perform(.release(key, sender: sender))
  }
}

extension OpeningPresence {
  /// This opening as the holder of a logout.
  fileprivate var holder: LogoutHolder { LogoutHolder(identity, process: process) }

  /// Returns whether the holder of a logout does not hold it any more.
  func isGone(
    _ holder: ProcessIdentity, _ process: UInt32, in log: String, journal: Identifier?
  ) -> Bool {
    // This process may have ended a logout but failed to write the record.
    if let journal, let own = identity, own.isSameProcess(self.process, as: holder, process) {
      let sender = Identifier(holder.spelling)
      return !ProcessLogoutHolds.contains(.init(log: log, journal: journal, sender: sender))
    }
    return isGone(holder, process)
  }
}

extension SyncGate {
  /// Why the log accepts nothing through the gate.
  var refusal: ChangeLogError {
    guard !isFinished, !isLoading else { return .notKnown }
    return state.kind == .expired ? .sessionExpired : .notSignedIn
  }
}

/// The logouts that this process has begun and that have not ended.
///
/// Another process with the same number holds none of them.
enum ProcessLogoutHolds {
  /// A logout of a journal's session that prevents a log from accepting changes.
  struct Hold: Hashable {
    let log: String
    let journal: Identifier
    /// The opening of the log that holds the logout.
    let sender: Identifier
  }

  private static let holds = Mutex<Set<Hold>>([])

  static func insert(_ hold: Hold) { holds.withLock { _ = $0.insert(hold) } }
  static func remove(_ hold: Hold) { holds.withLock { _ = $0.remove(hold) } }
  /// Returns whether any logout prevents the log at a path from accepting changes.
  static func contains(any log: String) -> Bool {
    holds.withLock { $0.contains { $0.log == log } }
  }
  static func contains(_ hold: Hold) -> Bool { holds.withLock { $0.contains(hold) } }
}
