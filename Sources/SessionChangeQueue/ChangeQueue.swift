@_spi(Internals) public import SessionCore

/// A change that waits to be taken by the server.
public struct PendingChange: Hashable, Sendable {
  /// The user who made it.
  public let user: Identifier
  /// What is to happen, with what later changes have put into it.
  public internal(set) var change: Change
  /// When it was taken in; of several that were put together, the first.
  public let since: Timestamp
  /// The last sending; `nil` while it was never sent.
  public internal(set) var sent: ChangeEvent.Sent?
  /// When the record that says so was written; with no meaning while it was never sent.
  public internal(set) var sentAt = Timestamp(milliseconds: 0)
  /// How often it was sent; stays at the highest number.
  public internal(set) var sends: UInt32 = 0
  /// How many of them failed in a way that counts.
  public internal(set) var attempts: UInt32 = 0
  /// Why the last one failed, and when the next is due; `nil` while none has, or it is under way.
  public internal(set) var postponed: ChangeEvent.Postponed?
  /// When it was postponed; with no meaning while it was not.
  public internal(set) var postponedAt = Timestamp(milliseconds: 0)

  /// The sign-in through which it came; `nil` where that was not written down.
  public internal(set) var signIn: SignIn?
  /// Whether it was given up before: then nothing is put together with it, for it was sent.
  public internal(set) var isRetried = false

  init(user: Identifier, change: Change, since: Timestamp) {
    self.user = user
    self.change = change
    self.since = since
  }
}

/// A change that is not tried any more, kept with its reason until the app dismisses it.
public struct DeadLetter: Hashable, Sendable {
  /// The user who made it.
  public let user: Identifier
  /// What was to happen.
  public let change: Change
  /// Whose decision it was.
  public let cause: DeadLetterCause
  /// Why, in the sender's words.
  public let reason: String
  /// When.
  public let time: Timestamp
  /// The sign-in through which it came; `nil` where that was not written down.
  public internal(set) var signIn: SignIn?
}

/// Why a record of a change log cannot follow those before it.
public enum ChangeRejection: Error, Hashable, Sendable, CustomStringConvertible {
  /// The key names another change that waits.
  case keyTaken(Identifier)
  /// No change with this key waits, or was given up.
  case unknownKey(Identifier)
  /// Another change is to be sent before this one.
  case outOfOrder(Identifier)
  /// It was not sent, so nothing can have come of it.
  case notSent(Identifier)

  /// What is wrong.
  public var description: String {
    switch self {
    case .keyTaken(let key): "a change with the key \(key) waits already"
    case .unknownKey(let key): "no change has the key \(key)"
    case .outOfOrder(let key): "another change is to be sent before \(key)"
    case .notSent(let key): "the change \(key) was not sent"
    }
  }
}

/// A session that is being logged out, and since when.
public struct LogoutHold: Hashable, Sendable {
  /// Who, and until when.
  public let leaving: ChangeEvent.PendingLogout
  /// When the record that says so was written.
  public let since: Timestamp
}

/// What a change log's records come to: the changes that wait, in the order of sending.
public struct ChangeQueue: Hashable, Sendable {
  /// Of how many journals it is known which sign-in was ended last, and which is being logged out.
  public static let journalLimit = 64

  /// The changes that wait, in order; at most the first was ever sent.
  public internal(set) var pending: [PendingChange] = []
  /// The changes that were given up, the oldest first.
  public internal(set) var failures: [DeadLetter] = []
  /// When the user's status last changed, by scope.
  ///
  /// - Requirement: SYN-4
  public internal(set) var scopes: [String: Timestamp] = [:]

  /// Through which sign-in the changes come that are added next.
  public internal(set) var author: SignIn?
  /// The last sign-in of each journal that was ended for good, the newest last.
  public internal(set) var ended: [SignIn] = []
  /// The journals of sessions that are being logged out, the newest last.
  public internal(set) var leaving: [LogoutHold] = []

  /// Nothing waits.
  public init() {}

  /// How many bytes the waiting changes count for (``Change/size``).
  public var pendingBytes: Int { pending.reduce(0) { $0 + $1.change.size } }

  /// How many bytes the changes that were given up count for.
  public var failureBytes: Int { failures.reduce(0) { $0 + $1.change.size } }

  /// How many changes the server has not taken: those that wait, and those that were given up and that
  /// nobody has dismissed.
  ///
  /// - Requirement: OUT-3
  public var unsentCount: Int { pending.count + failures.count }

  /// The user whose changes wait; `nil` where none do.
  public var owner: Identifier? { pending.first?.user }

  /// What a new change would do to those that wait.
  public func coalescing(_ change: Change) -> Coalescing {
    Coalescing.of(change, behind: pending)
  }

  /// How many changes would wait behind a new one, and how many bytes those count for.
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

  /// Takes in the next record; nothing changes where it throws.
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

  /// In front of all that was never sent, since that may be newer; behind what was retried before it.
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

  /// The first change, which was sent and has this key.
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
  /// Whether this is what has become of `change`: the same, or the same content put into an earlier one.
  public func isMade(of change: Change) -> Bool {
    self == change || (entity == change.entity && self == rewritten(by: change))
  }

  /// This operation with a later edit's content, mentions and key; the later change if either is no edit.
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
  /// This entity with a later edit's content, mentions and key.
  fileprivate func rewritten(by later: Self) -> Self {
    Self(entity, content: later.content, mentions: later.mentions, key: later.key)
  }
}
