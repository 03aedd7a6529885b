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

  init(user: Identifier, change: Change, since: Timestamp) {
    self.user = user
    self.change = change
    self.since = since
  }
}

/// A change that is not tried any more, kept with its reason until the app dismisses it.
public struct FailedChange: Hashable, Sendable {
  /// The user who made it.
  public let user: Identifier
  /// What was to happen.
  public let change: Change
  /// Whose decision it was.
  public let cause: GivingUp
  /// Why, in the sender's words.
  public let reason: String
  /// When.
  public let time: Timestamp
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

/// What a change log's records come to: the changes that wait, in the order of sending.
public struct ChangeQueue: Hashable, Sendable {
  /// How many changes that were given up are kept; of more, the oldest go.
  public static let failureLimit = 100
  /// How many bytes of changes that were given up are kept; of more, the oldest go.
  public static let failureBytes = 1 << 20

  /// The changes that wait, in order; at most the first was ever sent.
  public internal(set) var pending: [PendingChange] = []
  /// The changes that were given up, the oldest first.
  public internal(set) var failures: [FailedChange] = []
  /// When the user's status last changed, by scope (SYN-4).
  public internal(set) var scopes: [String: Timestamp] = [:]

  /// Nothing waits.
  public init() {}

  /// How many bytes the waiting changes count for (``Change/size``).
  public var pendingBytes: Int { pending.reduce(0) { $0 + $1.change.size } }

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
        FailedChange(
          user: item.user, change: item.change, cause: end.cause, reason: end.reason, time: time))
      limitFailures()
    case .discarded(let discarded): try discard(discarded.key)
    case .scopeChecked(let check): scopes[check.scope] = check.statusChangedAt
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
      return
    }
    pending.append(PendingChange(user: added.user, change: change, since: time))
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

  private mutating func limitFailures() {
    var bytes = failures.reduce(0) { $0 + $1.change.size }
    while failures.count > Self.failureLimit || (bytes > Self.failureBytes && failures.count > 1) {
      bytes -= failures.removeFirst().change.size
    }
  }
}

extension Change {
  /// This operation with a later one's content, mentions and key.
  func rewritten(by later: Change) -> Change {
    guard case .entity(let mine) = action, case .entity(let theirs) = later.action else {
      return later
    }
    return Change(
      key: later.key,
      .entity(
        OnEntity(
          mine.operation, mine.entity, content: theirs.content, mentions: theirs.mentions)))
  }
}
