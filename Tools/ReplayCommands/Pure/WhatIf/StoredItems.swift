@_spi(Internals) internal import SessionCore

/// What the journal says about the stored items.
///
/// A journal holds no item. The items agree with the journal, unless the batch of an opening says
/// otherwise.
struct StoredItems: Sendable {
  /// The newest token whose arrival the journal shows, and when it expires on the clock that never
  /// jumps.
  private struct Deadline: Sendable {
    let generation: Generation
    let uptime: Int64
    let boot: Identifier?
  }

  private var deadline: Deadline?
  private var ended = EndedProcesses()
  /// Why the last session was closed, if the app has not cleared its data since.
  private var debt = PendingDataClearing()

  /// Takes in a durable batch; `offset` is the uptime minus the civil time of its writer.
  mutating func take(_ batch: RecordedBatch, offset: Int64?, boot: Identifier?) {
    for (index, record) in batch.records.enumerated() {
      ended.take(record.content, isLast: index == batch.records.count - 1)
      debt.take(record.content)
      guard let token = record.event?.announcedToken, let offset else { continue }
      deadline = Deadline(
        generation: token.generation, uptime: token.expiresAt.milliseconds.addingSaturating(offset),
        boot: boot)
    }
  }

  /// Returns the items that agree with the journal.
  func agreeing(with fold: SessionFold, boot: Identifier?) -> StoredItemsReport {
    var facts = StoredItemsReport()
    facts.revocations = fold.intents.revocations
    facts.endedProcesses = ended.count
    facts.owedClearing = debt.reason
    switch fold.state {
    case .unauthenticated: break
    case .expired: facts.user = .present
    case .authenticated(let session):
      (facts.token, facts.user) = (.present, .present)
      facts.generation = session.token.generation
      if session.context != nil { facts.context = .present }
      if let deadline, deadline.generation == facts.generation, boot != nil, deadline.boot == boot {
        facts.deadline = deadline.uptime
      }
    }
    return facts
  }
}

extension StoredItemsReport {
  /// Returns the items with what a batch says about them.
  func found(by batch: RecordedBatch, after fold: SessionFold) -> StoredItemsReport {
    var facts = self
    for content in batch.contents {
      switch content {
      case .note(.itemUnreadable(let item)): facts.set(item, .unreadable)
      case .note(.storageFailed(let failed)) where failed.isFinding: facts.take(failed)
      case .note(.secretsWiped(let cause)): facts.take(cause, fold.generation)
      case .note(.revocationSettled(let settled)) where settled.outcome == .abandoned:
        facts.revocations.removeAll { $0 == settled.generation }
      case .event(.sessionExpired(let expired)):
        facts.take(expired.reason, fold.state.token?.generation ?? .none)
      default: continue
      }
    }
    facts.takeAnnouncement(of: batch)
    return facts
  }

  private mutating func set(_ item: SecretItem, _ condition: Item) {
    switch item {
    case .token:
      token = condition
      if condition != .present { generation = .none }
    case .user: user = condition
    case .context: context = condition
    default: break
    }
  }

  private mutating func take(_ failed: SessionNote.StorageFailed) {
    switch failed.cause {
    case .missing: set(failed.item, .absent)
    case .newerVersion: set(failed.item, .newerVersion)
    case .ownerMissing: (token, generation, owner) = (.otherJournal, .none, .missing)
    case .ownerUnreadable: (token, generation, owner) = (.otherJournal, .none, .unreadable)
    default: break
    }
  }

  private mutating func take(_ cause: SessionNote.WipeCause, _ newest: Generation) {
    switch cause {
    case .otherJournal: (token, generation) = (.otherJournal, .none)
    case .unreadable: (token, generation) = (.unreadable, .none)
    default: (token, generation) = (.present, newest)
    }
  }

  private mutating func take(_ reason: ExpiryReason, _ current: Generation) {
    switch reason {
    case .secretsMissing: if token == .present { (token, generation) = (.absent, .none) }
    case .proofKeyLost: isProofKeyLost = true
    case .secretsOutdated: generation = Generation(current.number - min(current.number, 1))
    case .corruptStorage:
      // Without an unreadable item, a newer token was stored that no event announces.
      if ![token, user, context].contains(.unreadable) { generation = current.next }
    default: break
    }
  }

  /// Takes in the token that the batch recovers, or the session that it takes over.
  private mutating func takeAnnouncement(of batch: RecordedBatch) {
    guard let event = batch.records.compactMap(\.event).first, let announced = event.announcedToken
    else { return }
    if batch.contents.contains(.note(.tokenRecovered(announced.generation))) {
      (token, generation, announcement) = (.present, announced.generation, event)
    } else if case .login(let login) = event, login.method == .adoption,
      let link = batch.contents.link
    {
      token = .otherJournal
      stray = OrphanedSession(
        link: link, user: login.user, context: login.context, token: announced,
        expired: batch.contents.expiry)
    }
  }
}

extension [SessionRecord.Content] {
  /// The journal that this one continues; `nil` if the records name none.
  var link: SessionNote.Continued? {
    for case .note(.continued(let link)) in self { return link }
    return nil
  }
}
