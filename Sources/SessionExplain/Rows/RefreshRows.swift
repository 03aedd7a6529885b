@_spi(Internals) package import SessionCore

/// A fold of a journal's records that results in a row for each refresh request.
///
/// A process that resumes late may still deliver a response. So a row waits until
/// ``kept`` newer requests follow it, or the journal ends.
package struct RefreshRows: RowsFold {
  private var evidence = EvidenceFold()
  /// The sequence of the last login; `nil` if the file does not have it.
  private var login: UInt64?
  /// The last requests, oldest first.
  private var rows: [RefreshRow] = []

  /// The number of rows that wait for a late response.
  package static let kept = 64

  package init() {}

  /// Folds the next record, and passes on each row that is complete.
  ///
  /// If the record cannot be folded, it throws, and the fold does not change.
  package mutating func take(
    _ record: SessionRecord, endsBatch: Bool, _ body: (RefreshRow) -> Void
  ) throws(SessionFold.Failure) {
    try evidence.take(record, endsBatch: endsBatch) { _ in }
    if evidence.trail.losses.isAssumed { login = nil }
    take(record.content, record.sequence, record.time, body)
  }

  /// Notes that records are missing here, and continues after them.
  package mutating func interrupt(_ gap: EvidenceGap, _: (RefreshRow) -> Void) {
    evidence.interrupt(gap) { _ in }
    login = nil
  }

  /// Passes on the rows that are left.
  package mutating func finish(damagedAt _: UInt64?, _ body: (RefreshRow) -> Void) {
    for row in rows { body(row) }
    rows = []
  }

  private mutating func take(
    _ content: SessionRecord.Content, _ sequence: UInt64, _ time: Timestamp,
    _ body: (RefreshRow) -> Void
  ) {
    switch content {
    case .event(.login): login = sequence
    case .snapshot: login = nil
    case .note(.requestSent(let sent)) where sent.kind == .refresh:
      if rows.count == Self.kept { body(rows.removeFirst()) }
      var row = RefreshRow(request: sequence, time: time, sent: sent)
      (row.login, row.device) = (login, evidence.trail.device)
      rows.append(row)
    case .event(.refreshSucceeded(let refresh)):
      end(refresh.request, .succeeded, at: time, isRotated: refresh.isRotated)
    case .event(.refreshFailed), .note(.requestEnded):
      guard let request = content.answers, let failure = content.failure else { return }
      end(request, RequestTrace.isNoAnswer(failure) ? .lost : .failed, failure, at: time)
    case .note(.answerUnused(let request)): end(request, .superseded, at: time)
    case .event, .note, .unknown: break
    }
  }

  private mutating func end(
    _ request: UInt64, _ outcome: RefreshRow.Outcome, _ failure: RequestFailure? = nil,
    at time: Timestamp, isRotated: Bool? = nil
  ) {
    guard let index = rows.lastIndex(where: { $0.request == request }) else { return }
    var row = rows[index]
    // A response stays a response, even if another note follows.
    let isKept = row.outcome != .open && (row.outcome != .lost || outcome == .lost)
    guard failure == nil || !isKept else { return }
    (row.outcome, row.failure) = (outcome, failure)
    row.isRotated = isRotated ?? row.isRotated
    row.duration = outcome == .lost ? nil : RequestSpan.milliseconds(from: row.time, to: time)
    rows[index] = row
  }
}
