@_spi(Internals) public import SessionCore

/// A change that the server has not accepted yet.
public struct PendingChange: Hashable, Sendable {
  /// The user who made it.
  public let user: Identifier
  /// The change, coalesced with later ones.
  public internal(set) var change: Change
  /// When the change was added.
  ///
  /// If several were coalesced, it is the time of the first.
  public let since: Timestamp
  /// The last sending; `nil` if it was never sent.
  public internal(set) var sent: ChangeEvent.Sent?
  /// When the record of the last sending was written.
  ///
  /// Without meaning if it was never sent.
  public internal(set) var sentAt = Timestamp(milliseconds: 0)
  /// The number of sendings.
  ///
  /// It stays at the highest number.
  public internal(set) var sends: UInt32 = 0
  /// The number of sendings that failed and count as attempts.
  public internal(set) var attempts: UInt32 = 0
  /// Why the last sending failed, and when the next one is due; `nil` if none failed or one is in
  /// progress.
  public internal(set) var postponed: ChangeEvent.Postponed?
  /// When the change was postponed.
  ///
  /// Without meaning if it was not.
  public internal(set) var postponedAt = Timestamp(milliseconds: 0)

  /// The sign-in of the change; `nil` if it was not recorded.
  public internal(set) var signIn: SignIn?
  /// Whether the change was a dead letter before.
  ///
  /// Then it is not coalesced, because it was sent.
  public internal(set) var isRetried = false

  init(user: Identifier, change: Change, since: Timestamp) {
    self.user = user
    self.change = change
    self.since = since
  }
}

/// A change that was given up.
///
/// It is kept with its reason until the app dismisses it.
public struct DeadLetter: Hashable, Sendable {
  /// The user who made it.
  public let user: Identifier
  /// The change.
  public let change: Change
  /// The class of the reason.
  public let cause: DeadLetterCause
  /// The reason, as a text of the sender.
  public let reason: String
  /// When the change was given up.
  public let time: Timestamp
  /// The sign-in of the change; `nil` if it was not recorded.
  public internal(set) var signIn: SignIn?
}

/// Why a record of a change log does not fit those before it.
public enum ChangeRejection: Error, Hashable, Sendable, CustomStringConvertible {
  /// Another pending change has this key.
  case keyTaken(Identifier)
  /// There is no pending change or dead letter with this key.
  case unknownKey(Identifier)
  /// Another change must be sent before this one.
  case outOfOrder(Identifier)
  /// The change was not sent, so there can be no result of sending it.
  case notSent(Identifier)

  /// A description of the problem.
  public var description: String {
    switch self {
    case .keyTaken(let key): "a pending change already has the key \(key)"
    case .unknownKey(let key): "no change has the key \(key)"
    case .outOfOrder(let key): "another change must be sent before \(key)"
    case .notSent(let key): "the change \(key) was not sent"
    }
  }
}

/// A session that is being logged out, with the time of its record.
public struct LogoutHold: Hashable, Sendable {
  /// The session, and the end of the hold.
  public let leaving: ChangeEvent.PendingLogout
  /// When the record of the hold was written.
  public let since: Timestamp
}

/// The state of a change log: pending changes in the order of sending, dead letters, and logouts.
public struct ChangeQueue: Hashable, Sendable {
  /// The number of journals whose last ended sign-in and running logout are remembered.
  public static let journalLimit = 64

  /// The pending changes in order.
  ///
  /// At most the first one was ever sent.
  public internal(set) var pending: [PendingChange] = []
  /// The dead letters, oldest first.
  public internal(set) var failures: [DeadLetter] = []
  /// When the user's status last changed, by scope.
  ///
  /// - Requirement: SYN-4
  public internal(set) var scopes: [String: Timestamp] = [:]

  /// The sign-in of the changes that are added next.
  public internal(set) var author: SignIn?
  /// The last sign-in of each journal that ended permanently, newest last.
  public internal(set) var ended: [SignIn] = []
  /// The journals of sessions that are being logged out, newest last.
  public internal(set) var leaving: [LogoutHold] = []

  /// Creates an empty queue.
  public init() {}

  /// The total size of the pending changes, in bytes (``Change/size``).
  public var pendingBytes: Int { pending.reduce(0) { $0 + $1.change.size } }

  /// The total size of the dead letters, in bytes.
  public var failureBytes: Int { failures.reduce(0) { $0 + $1.change.size } }

  /// The number of changes that the server has not accepted: pending changes, and dead letters that
  /// were not dismissed.
  ///
  /// - Requirement: OUT-3
  public var unsentCount: Int { pending.count + failures.count }

  /// The user of the pending changes; `nil` if there are none.
  public var owner: Identifier? { pending.first?.user }

  /// Returns the effect of a new change on the pending ones.
  public func coalescing(_ change: Change) -> Coalescing {
    Coalescing.of(change, after: pending)
  }

  /// Returns the number and total size of pending changes after a new change was added.
  public func load(with change: Change) -> (count: Int, bytes: Int) {
    let (count, bytes) = (pending.count, pendingBytes)
    switch coalescing(change) {
    case .appended: return (count + 1, bytes + change.size)
    case .superseded(let place): return (count, bytes - pending[place].change.size + change.size)
    case .cancelled(let place): return (count - 1, bytes - pending[place].change.size)
    case .repeated: return (count, bytes)
    case .rewritten(let place):
      let earlier = pending[place].change
      return (count, bytes - earlier.size + earlier.rewritten(by: change).size)
    }
  }

  /// Takes in the next event.
  ///
  /// If it throws, nothing changes.
  public mutating func apply(_ event: ChangeEvent, at time: Timestamp) throws(ChangeRejection) {
    switch event {
    case .added(let added): try add(added, at: time)
    case .sent(let sent):
      guard pending.first?.change.key == sent.key else { throw .outOfOrder(sent.key) }
      pending[0].sent = sent
      pending[0].sentAt = time
      if pending[0].sends < .max { pending[0].sends += 1 }
      pending[0].postponed = nil
      pending[0].postponedAt = Timestamp(milliseconds: 0)
    case .acknowledged(let key):
      _ = try takeSent(key)
    case .postponed(let postponed):
      _ = try sent(postponed.key)
      pending[0].postponed = postponed
      pending[0].postponedAt = time
      if postponed.isCounted, pending[0].attempts < .max { pending[0].attempts += 1 }
    case .givenUp(let end):
      let item = try takeSent(end.key)
      failures.append(
        DeadLetter(
          user: item.user, change: item.change, cause: end.cause, reason: end.reason, time: time,
          signIn: item.signIn))
    case .discarded(let discarded): try discard(discarded.key)
    case .scopeChecked(let check): scopes[check.scope] = check.statusChangedAt
    case .addedBy(let signIn): author = signIn
    case .leaving(let event):
      let departure = LogoutHold(leaving: event, since: time)
      leaving = leaving.filter { !isReplaced($0, by: departure) }
      if event.until > time { leaving.append(departure) }
      if leaving.count > Self.journalLimit { leaving.removeFirst() }
    case .signInEnded(let signIn):
      leaving.removeAll {
        $0.leaving.journal == signIn.journal || $0.leaving.named?.journal == signIn.journal
      }
      guard !hasEnded(signIn) else { return }
      ended.removeAll { $0.journal == signIn.journal }
      ended.append(signIn)
      if ended.count > Self.journalLimit { ended.removeFirst() }
    case .retried(let key): try retry(key, at: time)
    }
  }

  private mutating func add(_ added: ChangeEvent.Added, at time: Timestamp) throws(ChangeRejection)
  {
    let (change, key) = (added.change, added.change.key)
    guard !pending.contains(where: { $0.change.key == key }) else { throw .keyTaken(key) }
    switch coalescing(change) {
    case .appended: break
    case .superseded(let place): pending.remove(at: place)
    case .cancelled(let place):
      pending.remove(at: place)
      return
    case .repeated: return
    case .rewritten(let place):
      pending[place].change = pending[place].change.rewritten(by: change)
      pending[place].signIn = author
      return
    }
    var item = PendingChange(user: added.user, change: change, since: time)
    item.signIn = author
    pending.append(item)
  }

  /// Retries a dead letter.
  ///
  /// Its place is before all changes that were never sent, since they may be newer. It is after
  /// those that were retried before it.
  private mutating func retry(_ key: Identifier, at time: Timestamp) throws(ChangeRejection) {
    guard !pending.contains(where: { $0.change.key == key }) else { throw .keyTaken(key) }
    guard let place = failures.firstIndex(where: { $0.change.key == key }) else {
      throw .unknownKey(key)
    }
    let failure = failures.remove(at: place)
    var item = PendingChange(user: failure.user, change: failure.change, since: time)
    (item.signIn, item.isRetried) = (failure.signIn, true)
    let before = pending.prefix { $0.sent != nil || $0.isRetried }.count
    pending.insert(item, at: before)
  }

  /// Returns the first change, which was sent and has this key.
  private func sent(_ key: Identifier) throws(ChangeRejection) -> PendingChange {
    guard let item = pending.first(where: { $0.change.key == key }) else {
      throw .unknownKey(key)
    }
    guard item.sent != nil else { throw .notSent(key) }
    return item
  }

  private mutating func takeSent(_ key: Identifier) throws(ChangeRejection) -> PendingChange {
    let item = try sent(key)
    pending.removeFirst()
    return item
  }

  private mutating func discard(_ key: Identifier?) throws(ChangeRejection) {
    guard let key else {
      pending.removeAll()
      failures.removeAll()
      return
    }
    let count = pending.count + failures.count
    pending.removeAll { $0.change.key == key }
    failures.removeAll { $0.change.key == key }
    guard pending.count + failures.count < count else { throw .unknownKey(key) }
  }
}

extension Change {
  /// Returns whether this change results from `change`: it is the same, or an earlier one with its
  /// content.
  public func isMade(of change: Change) -> Bool {
    self == change || (entity == change.entity && self == rewritten(by: change))
  }

  /// Returns this operation with a later edit's content, mentions and key.
  ///
  /// If one of them is no edit, returns the later change.
  func rewritten(by later: Change) -> Change {
    switch (self, later) {
    case (.create(let mine), .create(let new)), (.create(let mine), .update(let new)):
      .create(mine.rewritten(by: new))
    case (.update(let mine), .create(let new)), (.update(let mine), .update(let new)):
      .update(mine.rewritten(by: new))
    case (.create, _), (.update, _), (.delete, _), (.request, _): later
    }
  }
}

extension Change.Edit {
  /// Returns this entity with a later edit's content, mentions and key.
  fileprivate func rewritten(by later: Self) -> Self {
    Self(entity, content: later.content, mentions: later.mentions, key: later.key)
  }
}

extension PendingChange: CustomStringConvertible {
  /// One line for a log without the content, such as `update task 17, 120 bytes, waiting since …, 2
  /// attempts`.
  ///
  /// - Requirement: STO-3
  public var description: String {
    "\(change), waiting since \(since), \(attempts) attempt\(attempts == 1 ? "" : "s")"
  }
}

extension DeadLetter: CustomStringConvertible {
  /// One line for a log without the content and the reason's text, such as `update task 17, 120
  /// bytes, refused at …`.
  ///
  /// - Requirement: STO-3
  public var description: String { "\(change), \(cause) at \(time)" }
}
