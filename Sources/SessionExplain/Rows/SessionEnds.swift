@_spi(Internals) import SessionCore

/// A fold of a journal's records that results in each session that ended or is open, with the
/// evidence about its end.
///
/// A logout after an expiry ends nothing. A session is passed on when the next login or the end of
/// the journal shows what followed its end.
struct SessionEnds: Sendable {
  private var evidence = EvidenceFold()
  private var figures = RowFigures()
  /// The sessions whose end waits for its explanation, oldest first.
  private var waiting: [(row: SessionRow, figures: RowFigures)] = []

  /// Folds the next record, and passes on each session whose end is complete.
  ///
  /// If the record cannot be folded, it throws, and the fold does not change.
  mutating func take(
    _ record: SessionRecord, endsBatch: Bool, _ body: (SessionRow, Evidence) -> Void
  ) throws(SessionFold.Failure) {
    let before = Self.mayEnd(record.content) ? evidence.trail.fold.state : nil
    var ends: [Evidence] = []
    try evidence.take(record, endsBatch: endsBatch) { ends.append($0) }
    for end in ends { explain(end, body) }
    take(record.content, record.sequence, record.time, before)
  }

  /// Notes that records are missing here, and continues after them.
  mutating func interrupt(_ gap: EvidenceGap, _ body: (SessionRow, Evidence) -> Void) {
    var ends: [Evidence] = []
    evidence.interrupt(gap) { ends.append($0) }
    for end in ends { explain(end, body) }
  }

  /// Passes on the sessions that are left; the last one is the open session, if there is one.
  mutating func finish(damagedAt offset: UInt64?, _ body: (SessionRow, Evidence) -> Void) {
    var ends: [Evidence] = []
    let open = evidence.finish(damagedAt: offset) { ends.append($0) }
    for end in ends { explain(end, body) }
    guard evidence.trail.fold.kind == .authenticated else { return }
    var row = row(of: evidence.trail.fold.state)
    row.count(figures)
    body(row, open)
  }

  private static func mayEnd(_ content: SessionRecord.Content) -> Bool {
    switch content {
    case .event(.sessionExpired), .event(.logout): true
    case .event, .note, .snapshot, .unknown: false
    }
  }

  private mutating func take(
    _ content: SessionRecord.Content, _ sequence: UInt64, _ time: Timestamp,
    _ before: SessionState?
  ) {
    switch content {
    case .event(let event):
      if case .login = event {
        figures = RowFigures()
      } else if let before {
        end(by: event, sequence, time, before)
      } else if !figures.take(event, at: time), !waiting.isEmpty {
        waiting[waiting.count - 1].figures.settle(event)
      }
    case .note(let note):
      if !figures.take(note, sequence, time), !waiting.isEmpty {
        waiting[waiting.count - 1].figures.settle(note)
      }
    case .snapshot(let snapshot): figures = RowFigures(of: snapshot)
    case .unknown: break
    }
  }

  /// Keeps the session that the record ended; a logout after an expiry ends none.
  ///
  /// An expiry after an expiry ends a session that began among lost records.
  private mutating func end(
    by event: SessionEvent, _ sequence: UInt64, _ time: Timestamp, _ before: SessionState
  ) {
    guard before.kind != .expired || event.kind == .sessionExpired else { return }
    var row = row(of: before)
    (row.sequence, row.ended) = (sequence, time)
    waiting.append((row, figures))
    figures = RowFigures()
  }

  /// Returns a row with what a state says about its session.
  private func row(of state: SessionState) -> SessionRow {
    var row = SessionRow(device: evidence.trail.device)
    // After a gap it may be another session than the one before it.
    guard row.device.user != nil, case .authenticated(let session) = state else {
      row.device.user = nil
      return row
    }
    row.login = evidence.trail.login?.sequence
    (row.method, row.began) = (session.method, session.since)
    return row
  }

  private mutating func explain(_ end: Evidence, _ body: (SessionRow, Evidence) -> Void) {
    guard case .end(let fact) = end.subject, end.before != .expired,
      let first = waiting.first, let sequence = first.row.sequence, sequence <= fact.sequence
    else { return }
    var (row, figures) = first
    waiting.removeAll { ($0.row.sequence ?? 0) <= fact.sequence }
    row.sequence = fact.sequence
    row.failure = end.failure?.refreshFailed?.failure
    row.count(figures)
    body(row, end)
  }
}

extension SessionRow {
  fileprivate mutating func count(_ figures: RowFigures) {
    (refreshes, failures) = (figures.refreshes, figures.failures)
    lostRequests = figures.lostRequests
    (median, high) = figures.percentiles
  }
}

/// The figures of one session.
private struct RowFigures: Sendable {
  private(set) var refreshes: UInt64 = 0
  private(set) var failures: UInt64 = 0
  /// The requests whose response is not known, oldest first; at most ``kept``.
  private var requests: [Request] = []
  /// The number of requests without a response that are not kept.
  private var omitted: UInt64 = 0
  /// The durations of refreshes that succeeded, in milliseconds.
  private var durations: [Int32] = []

  private struct Request: Sendable {
    let sequence: UInt64
    /// When it was sent; `nil` if that record was compacted away.
    let time: Timestamp?
    /// Whether a record says that no response arrived.
    var isLost = false
  }

  private static let kept = 64

  init() {}

  /// Creates the figures of the session in a snapshot.
  init(of snapshot: SessionFold) {
    guard let request = snapshot.intents.request else { return }
    requests = [Request(sequence: request.sequence, time: nil)]
  }

  var lostRequests: UInt64 { omitted + UInt64(requests.count) }

  /// The durations that 50 % and 95 % of all durations do not exceed, by nearest rank.
  var percentiles: (Int32?, Int32?) {
    guard !durations.isEmpty else { return (nil, nil) }
    let sorted = durations.sorted()
    func rank(_ percent: Int) -> Int32 { sorted[max(1, (sorted.count * percent + 99) / 100) - 1] }
    return (rank(50), rank(95))
  }

  /// Takes in an event; returns false if it ends a request that is not among these.
  mutating func take(_ event: SessionEvent, at time: Timestamp) -> Bool {
    switch event {
    case .refreshSucceeded(let refresh):
      refreshes += 1
      guard refresh.request != 0 else { return answerLast() }
      guard let request = end(refresh.request) else { return false }
      if let sent = request.time, let span = RequestSpan.milliseconds(from: sent, to: time) {
        durations.append(span)
      }
    case .refreshFailed(let refresh):
      failures += 1
      return end(refresh.request, refresh.failure)
    case .contextSwitched(let change):
      guard change.token != nil else { return true }
      return change.request == 0 ? answerLast() : end(change.request) != nil
    case .login, .sessionExpired, .logout: break
    }
    return true
  }

  /// Takes in a note; returns false if it ends a request that is not among these.
  mutating func take(_ note: SessionNote, _ sequence: UInt64, _ time: Timestamp) -> Bool {
    switch note {
    case .requestSent:
      if requests.count == Self.kept { omitted += 1 }
      requests.append(Request(sequence: sequence, time: time), keeping: Self.kept)
    case .requestEnded(let ended): return end(ended.request, ended.failure)
    case .answerUnused(let request): return end(request) != nil
    default: break
    }
    return true
  }

  /// Takes in an event after the end of this session.
  mutating func settle(_ event: SessionEvent) {
    switch event {
    case .refreshSucceeded(let refresh): _ = end(refresh.request)
    case .refreshFailed(let refresh): _ = end(refresh.request, refresh.failure)
    case .contextSwitched(let change): _ = end(change.request)
    case .login, .sessionExpired, .logout: break
    }
  }

  /// Takes in a note after the end of this session.
  mutating func settle(_ note: SessionNote) {
    switch note {
    case .requestEnded(let ended): _ = end(ended.request, ended.failure)
    case .answerUnused(let request): _ = end(request)
    default: break
    }
  }

  /// Ends a request by a failure, which may be that no response arrived.
  private mutating func end(_ request: UInt64, _ failure: RequestFailure) -> Bool {
    guard RequestTrace.isNoAnswer(failure) else { return end(request) != nil }
    guard let index = requests.lastIndex(where: { $0.sequence == request }) else { return false }
    requests[index].isLost = true
    return true
  }

  /// Removes and returns a request that has a response.
  private mutating func end(_ request: UInt64) -> Request? {
    guard let index = requests.lastIndex(where: { $0.sequence == request }) else { return nil }
    return requests.remove(at: index)
  }

  /// Removes the request that is open: its response is in an event that does not name it.
  private mutating func answerLast() -> Bool {
    if let last = requests.last, !last.isLost { requests.removeLast() }
    return true
  }
}
