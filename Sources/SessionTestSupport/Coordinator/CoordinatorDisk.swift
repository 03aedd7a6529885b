@_spi(Internals) import SessionCore
import SessionTestKit

/// The state that outlives a process: the journal and the stored items.
struct CoordinatorDisk: Sendable {
  /// The stored items, reduced to what decisions depend on.
  struct Items: Sendable {
    var facts = StoredItemsReport()
  }

  private(set) var journal: [SessionRecord] = []
  /// The fold of the whole journal, up to the first record that this version cannot read.
  private(set) var truth = SessionFold()
  /// The reference model after the same events.
  private(set) var model = SessionModel()
  /// Whether the journal has a record that this version cannot read.
  private(set) var isUnreadable = false
  var items = Items()
  /// The uptime of the last activity, as the user item contains it.
  var use: Int64?

  /// Appends records without checking whether they are legal; the caller must ensure that.
  mutating func append(_ contents: [SessionRecord.Content], at time: Timestamp) {
    for content in contents {
      let record = SessionRecord(
        sequence: UInt64(journal.count + 1), time: time, content: content)
      journal.append(record)
      guard !isUnreadable else { continue }
      do { try truth.apply(record) } catch { isUnreadable = true }
      if case .event(let event) = content { model.take(event) }
    }
  }

  /// Stores the secrets of the event that a commit announces.
  mutating func store(_ commit: SessionCommit) {
    guard commit.storing != nil, let event = commit.announcement else { return }
    store(event, context: commit.context)
    items.facts.sessionEnd = commit.sessionEnd
  }

  mutating func store(_ event: SessionEvent, context: ActiveContext?) {
    guard let token = event.announcedToken else { return }
    items.facts.token = .present
    items.facts.generation = token.generation
    items.facts.announcement = event
    if case .login = event { (items.facts.user, use) = (.present, nil) }
    if context != nil { items.facts.context = .present }
  }

  /// Returns the event that is stored with a newer token than this one; `nil` if there is no such
  /// token.
  func announcement(newerThan newest: Generation) -> SessionEvent? {
    guard items.facts.token == .present, items.facts.generation > newest else { return nil }
    return items.facts.announcement
  }

  mutating func wipe(_ wipe: SessionEffect.Wipe, leaving isBroken: Bool) {
    if let generation = wipe.keptRevocation { keepRevocation(of: generation) }
    if wipe.extent == .nothing || isBroken { return }
    items.facts.token = .absent
    items.facts.generation = .none
    items.facts.announcement = nil
    guard wipe.extent != .token else { return }
    (items.facts.user, use) = (.absent, nil)
    items.facts.context = .absent
  }

  mutating func keepRevocation(of generation: Generation) {
    items.facts.revocations.removeAll { $0 == generation }
    items.facts.revocations.append(generation)
    items.facts.revocations = items.facts.revocations.suffix(SessionCoordinator.maximumRevocations)
  }

  mutating func rollBack(to generation: Generation) {
    guard items.facts.token == .present, generation < items.facts.generation else { return }
    items.facts.generation = generation
    items.facts.announcement = nil
  }

  mutating func damage(_ item: SecretItem, _ condition: StoredItemsReport.Item) {
    switch item {
    case .token:
      items.facts.token = condition
      items.facts.generation = .none
      items.facts.announcement = nil
    case .user: (items.facts.user, use) = (condition, nil)
    default: items.facts.context = condition
    }
  }
}

extension CoordinatorDisk {
  /// Returns the unseen records as a reader of a compacted file finds them: a snapshot, and the
  /// last `kept` records.
  ///
  /// It returns the records unchanged in two cases. The first is that no snapshot is possible. The
  /// second is that they contain a login. A snapshot cannot distinguish it from another login of
  /// the same user at the same time.
  func compacted(_ unseen: [SessionRecord], keeping kept: Int) -> [SessionRecord] {
    guard let last = unseen.dropLast(kept).last,
      !unseen.contains(where: { $0.event?.kind == .login })
    else { return unseen }
    var fold = SessionFold()
    for record in journal.prefix(Int(last.sequence)) {
      do { try fold.apply(record) } catch { return unseen }
    }
    guard let snapshot = fold.snapshot else { return unseen }
    return [SessionRecord(sequence: last.sequence, time: last.time, content: snapshot)]
      + unseen.suffix(kept)
  }
}
