@_spi(Internals) internal import SessionCore

/// What a whole journal proves about its openings, found before any decision is made again.
struct JournalProofs: Sendable {
  /// The policy of each opening, in their order.
  private(set) var policies: [RecordedPolicy] = []
  /// The policy of an opening whose record was compacted.
  private(set) var unnamed = RecordedPolicy()
  /// The requests whose first byte was never sent, by their sequence.
  private(set) var unsent: Set<UInt64> = []
  /// The meanings that the app's configuration gives to codes.
  private(set) var errorCodes: [String: ErrorMeaning] = [:]
  /// Whether an identity provider keeps an account, which each logout removes.
  private(set) var hasProvider = false

  /// The requests that were presumed lost although their process was not known to be gone.
  private(set) var awaited: Set<UInt64> = []
  /// The requests whose process was known to be gone: a rejection after them was not doubted.
  private(set) var gone: Set<UInt64> = []
  /// The batches that send a refresh for a switch of the context, by their first sequences.
  private(set) var switching: Set<UInt64> = []

  private var fold = SessionFold()
  /// The requests that were presumed lost, and the last one since the newest token.
  private var lost: Set<UInt64> = []
  private var lastLost: UInt64?
  private var senders: [UInt64: Int] = [:]
  private var lastUse: Timestamp?
  private var failed: Set<UInt64> = []
  /// The last batch that sends a refresh for a command, and when its response was journaled.
  private var command: (first: UInt64, answered: Timestamp?)?

  /// Creates the proofs of no records.
  init() {}

  /// Computes what follows from all batches; call it after the last one.
  mutating func finish() {
    for index in policies.indices { policies[index].finish() }
    unnamed.finish()
  }

  /// Returns the same proofs with other policies.
  func changed(by change: PolicyChange) -> JournalProofs {
    var proofs = self
    for index in policies.indices { proofs.policies[index].apply(change) }
    proofs.unnamed.apply(change)
    return proofs
  }

  /// Returns the same proofs with another value where no record proves one; `nil` if that changes
  /// nothing.
  func varied(by variant: PolicyVariant, _ change: PolicyChange) -> JournalProofs? {
    var proofs = self
    for index in policies.indices { proofs.policies[index].vary(variant, change) }
    proofs.unnamed.vary(variant, change)
    let all = zip(proofs.policies + [proofs.unnamed], policies + [unnamed])
    return all.contains { $0.policy != $1.policy } ? proofs : nil
  }

  /// Takes in a batch; each batch must be passed, in order.
  mutating func take(_ batch: RecordedBatch) {
    if batch.opened != nil { policies.append(RecordedPolicy()) }
    if batch.contents.provesUse { lastUse = batch.time }
    let owner = batch.answered.flatMap { senders[$0] }
    if let index = (batch.sent == nil && batch.opened == nil ? owner : nil)
      ?? policies.indices.last
    {
      policies[index].unusedSince = lastUse
      policies[index].take(batch, after: fold)
    } else {
      unnamed.unusedSince = lastUse
      unnamed.take(batch, after: fold)
    }
    takeRequests(batch)
    takeLost(batch)
    takeCommand(batch)
    let isOver = fold.state.kind != .authenticated
    for (index, record) in batch.records.enumerated() {
      if case .note(.requestSent) = record.content {
        senders[record.sequence] = policies.indices.last
      }
      if isOver, index > 0, case .note(.revocationPending) = record.content { hasProvider = true }
      do { try fold.apply(record) } catch { return }
    }
  }

  /// Finds requests whose process was alive, or not known to be gone, after they were presumed lost.
  private mutating func takeLost(_ batch: RecordedBatch) {
    if let request = batch.answered, batch.sent == nil, lost.contains(request) {
      awaited.insert(request)
    }
    if let failed = batch.contents.failedRefresh, batch.sent == nil, failed.retryAt != nil,
      failed.failure.kind.isFinal, failed.failure.kind != .noRefreshToken, let lastLost
    {
      // The rejection was doubted.
      awaited.insert(lastLost)
    } else if batch.contents.expiry == .refreshRejected, let lastLost, !awaited.contains(lastLost) {
      gone.insert(lastLost)
    }
    if let open = fold.intents.request, batch.contents.loses(open.sequence) {
      lost.insert(open.sequence)
      lastLost = open.sequence
    }
    if batch.records.contains(where: { $0.event?.announcedToken != nil }) { lastLost = nil }
  }

  /// Finds refreshes that were sent because a switch needed a valid token: the switch follows at once.
  private mutating func takeCommand(_ batch: RecordedBatch) {
    guard let sent = batch.sent else {
      if batch.answered != nil { command?.answered = batch.time }
      return
    }
    if sent.kind == .switchContext, let command, command.answered == batch.time {
      switching.insert(command.first)
    }
    let isCommand = sent.kind != .switchContext && sent.trigger == .command
    command = isCommand ? (batch.first, nil) : nil
  }

  private mutating func takeRequests(_ batch: RecordedBatch) {
    for content in batch.contents {
      switch content {
      case .event(.refreshFailed(let refresh)):
        failed.insert(refresh.request)
        if refresh.failure.kind.isUnsent { unsent.insert(refresh.request) }
        if let code = refresh.failure.serverCode, let meaning = refresh.configuredMeaning {
          errorCodes[code] = meaning
        }
      case .note(.requestEnded(let ended)):
        // Nothing else records that a request was dropped before its first byte.
        if ended.failure.kind.isUnsent || ended.failure.kind == .noConnection {
          if !failed.contains(ended.request) { unsent.insert(ended.request) }
        }
      default: continue
      }
    }
  }
}

extension RequestFailure.Kind {
  /// Whether a request with this failure was never sent.
  fileprivate var isUnsent: Bool { self == .noRefreshToken || self == .secretsUnavailable }
}

extension [SessionRecord.Content] {
  /// Whether these records prove that the app used the session.
  var provesUse: Bool {
    contains { content in
      switch content {
      case .event(.login): true
      case .event(.logout(let logout)): logout.reason == .user
      case .note(.requestSent(let sent)):
        sent.kind == .switchContext
          || [.manual, .unauthorized, .foreground, .command].contains(sent.trigger)
      default: false
      }
    }
  }
}

extension JournalProofs {
  /// The parts of all openings' policies that the records prove.
  ///
  /// Each value is named once, with the first record that proves it. Of bounds, the one that says the
  /// most is named.
  var facets: [PolicyFacet] {
    var seen: Set<String> = []
    let all = ([unnamed] + policies).flatMap(\.facets)
    return all.filter { facet in
      guard let strength = facet.strength else {
        return seen.insert("\(facet.name)=\(facet.value)").inserted
      }
      let isBeaten = all.contains { $0.name == facet.name && $0.strength ?? .min > strength }
      return !isBeaten && seen.insert(facet.name).inserted
    }
  }
}
