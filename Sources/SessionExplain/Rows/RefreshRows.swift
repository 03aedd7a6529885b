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
    switch record.content {
    case .event(let event):
      if case .login = event { login = record.sequence }
      take(event, at: record.time)
    case .note(let note): take(note, record, body)
    case .snapshot: login = nil
    case .unknown: break
    }
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

  private mutating func take(_ event: SessionEvent, at time: Timestamp) {
    switch event {
    case .refreshSucceeded(let refresh):
      end(refresh.request) { row in
        row.outcome = .succeeded
        row.isRotated = refresh.isRotated
        row.failure = nil
        row.duration = RequestSpan.milliseconds(from: row.time, to: time)
      }
    case .refreshFailed(let refresh): end(refresh.request, refresh.failure, at: time)
    case .login, .contextSwitched, .sessionExpired, .logout: break
    }
  }

  private mutating func take(
    _ note: SessionNote, _ record: SessionRecord, _ body: (RefreshRow) -> Void
  ) {
    switch note {
    case .requestSent(let sent) where sent.kind == .refresh:
      if rows.count == Self.kept { body(rows.removeFirst()) }
      var row = RefreshRow(request: record.sequence, time: record.time, sent: sent)
      (row.login, row.device) = (login, evidence.trail.device)
      rows.append(row)
    case .requestEnded(let ended): end(ended.request, ended.failure, at: record.time)
    case .answerUnused(let request):
      end(request) { row in
        row.outcome = .superseded
        row.failure = nil
        row.duration = RequestSpan.milliseconds(from: row.time, to: record.time)
      }
    default: break
    }
  }

  private mutating func end(_ request: UInt64, _ failure: RequestFailure, at time: Timestamp) {
    let isLost = RequestTrace.isNoAnswer(failure)
    end(request) { row in
      // A response stays a response, even if another note follows.
      guard row.outcome == .open || row.outcome == .lost, !isLost || row.outcome == .open else {
        return
      }
      row.outcome = isLost ? .lost : .failed
      row.failure = failure
      row.duration = isLost ? nil : RequestSpan.milliseconds(from: row.time, to: time)
    }
  }

  private mutating func end(_ request: UInt64, _ change: (inout RefreshRow) -> Void) {
    guard let index = rows.lastIndex(where: { $0.request == request }) else { return }
    change(&rows[index])
  }
}
