@_spi(Internals) package import SessionCore
package import SessionJSON

/// A row that is made of a session and the evidence about its end.
package protocol EndRow: FlatRow {
  init(_ session: SessionRow, _ evidence: Evidence)
}

/// A fold of a journal's records that results in a row for each session that ended or is open.
///
/// A logout after an expiry ends nothing. A session is passed on when the next login or the end of
/// the journal shows what followed its end.
package struct SessionEnds<Row: EndRow>: RowsFold {
  private var evidence = EvidenceFold()
  private var figures = RowFigures()
  /// The sessions whose end waits for its explanation, oldest first.
  private var waiting: [(row: SessionRow, figures: RowFigures)] = []

  package init() {}

  package mutating func take(
    _ record: SessionRecord, endsBatch: Bool, _ body: (Row) -> Void
  ) throws(SessionFold.Failure) {
    let before = Self.mayEnd(record.content) ? evidence.trail.fold.state : nil
    var ends: [Evidence] = []
    try evidence.take(record, endsBatch: endsBatch) { ends.append($0) }
    for end in ends { explain(end, body) }
    if let before {
      end(at: record, before)
    } else {
      take(record.content, record.sequence, record.time)
    }
  }

  package mutating func interrupt(_ gap: EvidenceGap, _ body: (Row) -> Void) {
    var ends: [Evidence] = []
    evidence.interrupt(gap) { ends.append($0) }
    for end in ends { explain(end, body) }
  }

  /// Passes on the sessions that are left; the last one is the open session, if there is one.
  package mutating func finish(damagedAt offset: UInt64?, _ body: (Row) -> Void) {
    var ends: [Evidence] = []
    let open = evidence.finish(damagedAt: offset) { ends.append($0) }
    for end in ends { explain(end, body) }
    guard evidence.trail.fold.kind == .authenticated else { return }
    var row = row(of: evidence.trail.fold.state)
    row.count(figures)
    body(Row(row, open))
  }

  private static func mayEnd(_ content: SessionRecord.Content) -> Bool {
    switch content {
    case .event(.sessionExpired), .event(.logout): true
    case .event, .note, .snapshot, .unknown: false
    }
  }

  private mutating func take(
    _ content: SessionRecord.Content, _ sequence: UInt64, _ time: Timestamp
  ) {
    switch content {
    case .event(.login): figures = RowFigures()
    case .snapshot(let snapshot): figures = RowFigures(of: snapshot)
    case .event, .note, .unknown:
      if !figures.take(content, sequence, time), !waiting.isEmpty {
        _ = waiting[waiting.count - 1].figures.settle(content)
      }
    }
  }

  /// Keeps the session that the record ended; a logout after an expiry ends none.
  ///
  /// An expiry after an expiry ends a session that began among lost records.
  private mutating func end(at record: SessionRecord, _ before: SessionState) {
    guard before.kind != .expired || record.event?.kind == .sessionExpired else { return }
    var row = row(of: before)
    (row.sequence, row.ended) = (record.sequence, record.time)
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

  private mutating func explain(_ end: Evidence, _ body: (Row) -> Void) {
    guard case .end(let fact) = end.subject, end.before != .expired,
      let first = waiting.first, let sequence = first.row.sequence, sequence <= fact.sequence
    else { return }
    var (row, figures) = first
    waiting.removeAll { ($0.row.sequence ?? 0) <= fact.sequence }
    row.sequence = fact.sequence
    row.failure = end.failure?.refreshFailed?.failure
    row.count(figures)
    body(Row(row, end))
  }
}

/// A fold of a journal's records that results in a row for each session that ended or is open.
package typealias SessionRows = SessionEnds<SessionRow>

/// A fold of a journal's records that results in the explanation of each session that ended, and in
/// how the open session stands.
package typealias EndAnswers = SessionEnds<EndAnswer>

extension SessionRow: EndRow {
  package init(_ session: SessionRow, _ evidence: Evidence) {
    let explanation = Explainer.judge(evidence)
    self = session
    (cause, certainty) = (explanation.cause, explanation.certainty)
    (state, reason) = (explanation.after, explanation.reason)
  }
}

/// The end of a session with all of its explanation, or how an open session stands.
package struct EndAnswer: EndRow {
  private let explanation: Explanation
  private let user: Identifier?
  /// Whether the session ended; else only the cause and the certainty are there.
  package let isEnd: Bool

  package init(_ session: SessionRow, _ evidence: Evidence) {
    isEnd = session.sequence != nil
    explanation = isEnd ? Explainer.explain(evidence) : Explainer.judge(evidence)
    user = session.device.user
  }

  package var cause: Cause { explanation.cause }
  package var moment: Timestamp? { explanation.time }

  /// Returns the explanation with the names that the source shows.
  package func explanation(in source: RowSource) -> Explanation {
    var named = (source.isRedacted ? explanation.redacted : explanation).opened(by: source.opening)
    (named.origin.user, named.origin.journal) = (source.user(user), source.journal)
    return named
  }

  /// Writes the explanation as `why --json` does, with the file and the journal.
  package func write(to json: inout JSONWriter, of source: RowSource) {
    json.object { json in
      json.field("v", 1)
      json.field("file", source.file)
      json.field("journal", source.journal)
      json.explanation(explanation(in: source))
    }
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

  /// Takes in a record; returns false if it ends a request that is not among these.
  mutating func take(
    _ content: SessionRecord.Content, _ sequence: UInt64, _ time: Timestamp
  ) -> Bool {
    switch content {
    case .event(.refreshSucceeded(let refresh)):
      // A login of the signed-in user is no refresh, and answers no request.
      guard refresh.trigger != .reauthentication else { return true }
      refreshes += 1
      guard refresh.request != 0 else { return answerLast() }
      let request = requests.last { $0.sequence == refresh.request }
      if let sent = request?.time, let span = RequestSpan.milliseconds(from: sent, to: time) {
        durations.append(span)
      }
    case .event(.refreshFailed): failures += 1
    case .event(.contextSwitched(let change)):
      guard change.token != nil else { return true }
      if change.request == 0 { return answerLast() }
    case .note(.requestSent):
      if requests.count == Self.kept { omitted += 1 }
      requests.append(Request(sequence: sequence, time: time), keeping: Self.kept)
    case .event, .note, .snapshot, .unknown: break
    }
    return settle(content)
  }

  /// Takes in a record, perhaps after the end of this session, that may end a request.
  mutating func settle(_ content: SessionRecord.Content) -> Bool {
    guard let number = content.answers else { return true }
    guard let index = requests.lastIndex(where: { $0.sequence == number }) else { return false }
    // The failure may be that no response arrived.
    if let failure = content.failure, RequestTrace.isNoAnswer(failure) {
      requests[index].isLost = true
    } else {
      requests.remove(at: index)
    }
    return true
  }

  /// Removes the request that is open: its response is in an event that does not name it.
  private mutating func answerLast() -> Bool {
    if let last = requests.last, !last.isLost { requests.removeLast() }
    return true
  }
}
