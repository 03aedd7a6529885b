@_spi(Internals) internal import SessionCore
internal import SessionJSON

/// A policy, and the first batch whose opening has it.
struct PlacedPolicy: Hashable, Sendable {
  let policy: RecordedPolicy
  /// The first record of the batch.
  let sequence: UInt64
}

extension JSONWriter {
  /// Writes the words of recorded policies.
  mutating func array(_ name: StaticString, _ policies: [PlacedPolicy]) {
    let words = policies.flatMap { placed in
      placed.policy.description.split(separator: ",").map { (text: $0, placed.sequence) }
    }
    array(name, words) { json, word in
      let pair = word.text.split(separator: "=", maxSplits: 1).map(String.init)
      json.object { json in
        json.field("name", pair.first)
        json.field("value", pair.last)
        json.field("sequence", word.1)
      }
    }
  }
}

/// What a whole journal proves about its openings, found before any decision is made again.
struct JournalProofs: Sendable {
  /// The policies that the openings record, each once.
  private(set) var policies: [PlacedPolicy] = []
  /// How long a request of each process may take, in milliseconds: a second less than its lease.
  private(set) var timeouts: [UInt32: Int64] = [:]
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
  private var failed: Set<UInt64> = []
  /// The last batch that sends a refresh for a command, and when its response was journaled.
  private var command: (first: UInt64, answered: Timestamp?)?

  /// Creates the proofs of no records.
  init() {}

  /// Takes in a batch; each batch must be passed, in order.
  mutating func take(_ batch: RecordedBatch) {
    if let policy = batch.opened?.policy, !policies.contains(where: { $0.policy == policy }) {
      policies.append(PlacedPolicy(policy: policy, sequence: batch.first))
    }
    if let sent = batch.sent {
      let lease = sent.deadline.milliseconds(since: batch.time)
      timeouts[sent.process] = lease.subtractingSaturating(1_000)
    }
    takeRequests(batch)
    takeLost(batch)
    takeCommand(batch)
    let isOver = fold.state.kind != .authenticated
    for (index, record) in batch.records.enumerated() {
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
