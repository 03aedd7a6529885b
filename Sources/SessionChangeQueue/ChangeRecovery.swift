@_spi(Internals) public import SessionCore

/// Recovers the changes that can still be read from a damaged change log.
///
/// Pass every record that can be read, in order, and call ``skip()`` for each gap. It follows three
/// rules:
///
/// - A change stays pending until a record says that it has ended.
/// - Only the first pending change is ever sent. So a record about the sending of a change shows
///   that every earlier change has ended. Its result is not known, so it becomes a dead letter, and
///   the app decides.
/// - After a gap nothing is coalesced, since the earlier change may have been sent.
/// - Requirement: SYN-6
public struct ChangeRecovery: Sendable {
  /// The recovered queue.
  public private(set) var queue = ChangeQueue()
  private var hasGap = false
  /// The keys of the changes that were pending at a gap.
  private var keysBeforeGap: Set<Identifier> = []

  /// Creates a recovery without records.
  public init() {}

  /// Takes in the next record that can be read.
  public mutating func apply(_ record: ChangeRecord) {
    if hasGap, case .event(.added(let added)) = record.content {
      return append(added, at: record.time)
    }
    do throws(ChangeRejection) {
      try queue.apply(record)
    } catch {
      guard case .event(let event) = record.content else { return }
      applyOutOfPlace(event, at: record.time)
    }
  }

  /// Records that records are missing here.
  public mutating func skip() {
    hasGap = true
    for place in queue.pending.indices {
      queue.pending[place].isRetried = true
      keysBeforeGap.insert(queue.pending[place].change.key)
    }
  }

  private mutating func append(_ added: ChangeEvent.Added, at time: Timestamp) {
    guard !queue.pending.contains(where: { $0.change.key == added.change.key }) else { return }
    var item = PendingChange(user: added.user, change: added.change, since: time)
    (item.signIn, item.isRetried) = (queue.author, true)
    queue.pending.append(item)
  }

  /// Handles an event that the queue rejects because earlier records are missing.
  private mutating func applyOutOfPlace(_ event: ChangeEvent, at time: Timestamp) {
    switch event {
    case .sent(let sent):
      endChanges(before: sent.key, at: time)
      guard queue.pending.first?.change.key == sent.key else { return }
      queue.pending[0].sent = sent
      queue.pending[0].sentAt = time
    case .acknowledged(let key):
      endChanges(before: key, at: time)
      queue.pending.removeAll { $0.change.key == key }
    case .postponed(let postponed):
      endChanges(before: postponed.key, at: time)
    case .givenUp(let end):
      endChanges(before: end.key, at: time)
      guard queue.pending.first?.change.key == end.key else { return }
      giveUp(queue.pending.removeFirst(), end.cause, end.reason, at: time)
    // The change is already there, or its record is lost.
    case .added, .discarded, .retried: break
    // These events name no change, so the queue never rejects them.
    case .scopeChecked, .addedBy, .leaving, .signInEnded: break
    }
  }

  /// Gives up every change before that one.
  ///
  /// If its record is lost, gives up those from before the gap.
  private mutating func endChanges(before key: Identifier, at time: Timestamp) {
    let place = queue.pending.firstIndex { $0.change.key == key }
    let count =
      place ?? queue.pending.prefix { keysBeforeGap.contains($0.change.key) }.count
    for item in queue.pending.prefix(count) {
      giveUp(item, .endUnknown, "the damaged log does not contain its result", at: time)
    }
    queue.pending.removeFirst(count)
  }

  private mutating func giveUp(
    _ item: PendingChange, _ cause: DeadLetterCause, _ reason: String, at time: Timestamp
  ) {
    queue.failures.append(
      DeadLetter(
        user: item.user, change: item.change, cause: cause, reason: reason, time: time,
        signIn: item.signIn))
  }

  /// Returns the events that recreate the recovered queue in an empty log.
  ///
  /// Append them as one batch.
  ///
  /// Each pending change is retried in its place, so that it keeps its key and is not coalesced.
  public func events(at time: Timestamp) -> [ChangeEvent] {
    let deadLetters = queue.failures.map { ($0.user, $0.change, $0.signIn, $0.cause, $0.reason) }
    let pending = queue.pending.map {
      ($0.user, $0.change, $0.signIn, DeadLetterCause.endUnknown, "retried in a new log")
    }
    let all = deadLetters + pending
    var events: [ChangeEvent] = []
    var author: SignIn?
    // A change without a known sign-in must not get that of an earlier change, so it comes first.
    for (user, change, signIn, cause, reason) in all.filter({ $0.2 == nil })
      + all.filter({ $0.2 != nil })
    {
      if let signIn, signIn != author { events.append(.addedBy(signIn)) }
      author = signIn
      events += [
        .added(.init(user: user, change: change)),
        .sent(.init(key: change.key, sender: change.key, process: 0, deadline: time)),
        .givenUp(.init(key: change.key, cause: cause, reason: reason)),
      ]
    }
    events += queue.pending.map { .retried($0.change.key) }
    events += queue.scopes.sorted { $0.key < $1.key }
      .map { .scopeChecked(.init(scope: $0.key, statusChangedAt: $0.value)) }
    events += queue.ended.map { .signInEnded($0) }
    events += queue.leaving.filter { $0.leaving.until > time }.map { .leaving($0.leaving) }
    if let last = queue.author, last != author { events.append(.addedBy(last)) }
    return events
  }
}

/// One entry of a change log, with its time and sequence.
public struct ChangeRecord: Hashable, Sendable {
  /// The content of an entry.
  public enum Content: Hashable, Sendable {
    /// An event that changes the queue.
    case event(ChangeEvent)
    /// The state that replaces all earlier records.
    case snapshot(ChangeQueue)
  }

  /// The number of the record in its journal.
  public let sequence: UInt64
  /// When the record was written, on the writer's clock.
  public let time: Timestamp
  /// The content of the record.
  public let content: Content

  /// Creates a record.
  public init(sequence: UInt64, time: Timestamp, content: Content) {
    self.sequence = sequence
    self.time = time
    self.content = content
  }

  /// The name of the content, such as `changeAdded` or `changesSnapshot`.
  public var name: String {
    switch content {
    case .event(let event): event.kind.description
    case .snapshot: "changesSnapshot"
    }
  }
}

extension ChangeQueue {
  /// Takes in the next record of a log.
  ///
  /// A snapshot replaces the whole queue.
  public mutating func apply(_ record: ChangeRecord) throws(ChangeRejection) {
    switch record.content {
    case .event(let event): try apply(event, at: record.time)
    case .snapshot(let queue): self = queue
    }
  }
}
