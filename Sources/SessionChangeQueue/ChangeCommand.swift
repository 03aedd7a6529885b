@_spi(Internals) package import SessionCore

/// A request to change a queue, which accepts it with events or refuses it.
package enum ChangeCommand: Hashable, Sendable {
  /// Adds a change.
  case add(Addition)
  /// Sends a dead letter again, with its key.
  case retry(Identifier)
  /// Removes a pending change or a dead letter.
  case discard(Identifier)
  /// Removes all pending changes and dead letters.
  case discardAll
  /// Allows every process to send a change again that `sender` has sent without a response.
  case release(Identifier, sender: Identifier)
  /// Stores when the user's status last changed.
  case noteStatus(ChangeEvent.ScopeChecked)
  /// Stores when the user's status last changed, if that is newer than the stored time.
  case noteNewerStatus(ChangeEvent.ScopeChecked)
  /// Accepts nothing through the session of `journal` until a time, if nothing of `user` is unsent.
  case hold(journal: Identifier, user: Identifier?, by: LogoutHolder, until: Timestamp)
  /// Ends a hold, because the session was not logged out.
  case releaseHold(journal: Identifier, by: LogoutHolder)
  /// Ends a sign-in permanently; with `discards`, its changes are removed.
  case endSignIn(SignIn, user: Identifier?, discards: Bool)

  /// A new change, and what decides whether it is accepted.
  package struct Addition: Hashable, Sendable {
    /// The change.
    package let change: Change
    /// The user who made it.
    package let user: Identifier
    /// The sign-in through which it was made; `nil` if it is unknown.
    package let signIn: SignIn?
    /// The maximum size of the queue.
    package let limits: ChangeLimits

    package init(
      _ change: Change, by user: Identifier, through signIn: SignIn?, in limits: ChangeLimits
    ) {
      (self.change, self.user, self.signIn, self.limits) = (change, user, signIn, limits)
    }
  }
}

/// The maximum number and size of a queue's changes.
package struct ChangeLimits: Hashable, Sendable {
  /// The maximum size of one change's content or body, in bytes.
  package let content: Int
  /// The maximum number of pending changes and dead letters.
  package let count: Int
  /// The maximum size of pending changes and dead letters, in bytes.
  package let bytes: Int

  package init(content: Int, count: Int, bytes: Int) {
    (self.content, self.count, self.bytes) = (content, count, bytes)
  }
}

/// Why a queue refuses a command.
///
/// It is not a ``ChangeRejection``: no record exists, and the caller may do something about it.
package enum ChangeRefusal: Error, Hashable, Sendable {
  /// The content is longer than allowed; both values are in bytes.
  case contentTooLong(bytes: Int, limit: Int)
  /// Another pending change has this key.
  case keyInUse(Identifier)
  /// A dead letter has this key.
  case givenUp(Identifier)
  /// There is no pending change or dead letter with this key.
  case unknownKey(Identifier)
  /// This number of changes of another user are pending.
  case othersChanges(Int)
  /// There is no space; the values are the number and size of all changes.
  case full(count: Int, bytes: Int)
  /// The user is being logged out, until this time at most.
  case loggingOut(until: Timestamp)
  /// The user was logged out.
  case signInEnded
}

extension ChangeQueue {
  /// Returns the events to append for a command; none if nothing changes.
  ///
  /// `isGone` returns whether the holder of a logout is proven to be gone.
  package func decide(
    _ command: ChangeCommand, at time: Timestamp,
    isGone: (_ holder: ProcessIdentity, _ process: UInt32) -> Bool = { _, _ in false }
  ) throws(ChangeRefusal) -> [ChangeEvent] {
    // The queue decides, and the store reads the file under the lock, asks, and appends. The guards
    // of a new change were between the calls of the shell before, so a test of one needed a file, a
    // session and a clock. Whether another process is gone is not known here, so it is passed as a
    // function. Sending stays a question (`turn`), since its reply is more than events.
    switch command {
    case .add(let addition):
      return try events(adding: addition, at: time, isGone: isGone)
    case .retry(let key):
      guard let failure = failures.first(where: { $0.change.key == key }) else {
        throw .unknownKey(key)
      }
      guard !pending.contains(where: { $0.change.key == key }) else { throw .keyInUse(key) }
      try requireOwner(failure.user)
      return [.retried(key)]
    case .discard(let key):
      let isKnown =
        pending.contains { $0.change.key == key } || failures.contains { $0.change.key == key }
      guard isKnown else { throw .unknownKey(key) }
      return [.discarded(.init(key: key, cause: .app))]
    case .discardAll:
      return unsentCount == 0 ? [] : [.discarded(.init(cause: .app))]
    case .release(let key, let sender):
      // Another process may have sent it since, or the app may have discarded it.
      guard let first = pending.first, first.change.key == key, first.postponed == nil,
        first.sent?.sender == sender
      else { return [] }
      let reason = "stopped before a response arrived"
      return [.postponed(.init(key: key, isCounted: false, retryAt: time, reason: reason))]
    case .noteStatus(let check):
      return scopes[check.scope] == check.statusChangedAt ? [] : [.scopeChecked(check)]
    case .noteNewerStatus(let check):
      let isNewer = scopes[check.scope].map { $0 < check.statusChangedAt } ?? true
      return isNewer ? [.scopeChecked(check)] : []
    case .hold(let journal, let user, let holder, let until):
      return unsentCount(of: user) == 0 ? holder.records(of: journal, until: until) : []
    case .releaseHold(let journal, let holder):
      let isHeld = leaving.contains { holder.holds(journal, by: $0.leaving) }
      return isHeld ? holder.records(of: journal, until: time) : []
    case .endSignIn(let signIn, let user, let discards):
      return ending(signIn, of: user, discards: discards)
    }
  }

  private func events(
    adding addition: ChangeCommand.Addition, at time: Timestamp,
    isGone: (ProcessIdentity, UInt32) -> Bool
  ) throws(ChangeRefusal) -> [ChangeEvent] {
    let (change, key, limits) = (addition.change, addition.change.key, addition.limits)
    guard change.contentSize <= limits.content else {
      throw .contentTooLong(bytes: change.contentSize, limit: limits.content)
    }
    if let same = pending.first(where: { $0.change.key == key }) {
      // The caller repeats a call whose result it did not see.
      guard same.change.isMade(of: change) else { throw .keyInUse(key) }
      return []
    }
    guard !failures.contains(where: { $0.change.key == key }) else { throw .givenUp(key) }
    try requireOpen(addition.signIn, at: time, isGone: isGone)
    try requireOwner(addition.user)
    try requireRoom(for: change, in: limits)
    let added = ChangeEvent.added(.init(user: addition.user, change: change))
    // A sign-in is named by the generation of its token, which the session shows without a read of
    // the disk. A generation of logins would need a field in a journal with a stable format. The
    // price is one `addedBy` after each refresh after which something is added.
    guard let signIn = addition.signIn, signIn != author else { return [added] }
    return [.addedBy(signIn), added]
  }

  private func requireOpen(
    _ signIn: SignIn?, at time: Timestamp, isGone: (ProcessIdentity, UInt32) -> Bool
  ) throws(ChangeRefusal) {
    guard let signIn else { return }
    // It is written and read under this log's own lock. So no order of processes, and no crash,
    // lets a change in after its logout, which is an event of another file.
    if hasEnded(signIn) { throw .signInEnded }
    if let until = isLeaving(signIn.journal, at: time, isGone: isGone) {
      throw .loggingOut(until: until)
    }
  }

  private func requireOwner(_ user: Identifier) throws(ChangeRefusal) {
    // An owner as a value of its own was rejected, since it could disagree with the records.
    guard owner ?? user == user else { throw .othersChanges(pending.count) }
  }

  /// Throws if a change makes the queue larger than its limits.
  ///
  /// A change that makes a full queue no larger is accepted.
  private func requireRoom(for change: Change, in limits: ChangeLimits) throws(ChangeRefusal) {
    let after = load(with: change)
    let (failed, failedBytes) = (failures.count, failureBytes)
    let isMore = after.count > pending.count || after.bytes > pendingBytes
    guard
      !isMore
        || (after.count + failed <= limits.count && after.bytes + failedBytes <= limits.bytes)
    else { throw .full(count: pending.count + failed, bytes: pendingBytes + failedBytes) }
  }
}
