@_spi(Internals) import SessionCore
import SessionExplain

/// The rows of a history without gaps, computed from all of its records in a simple way.
struct RowsOracle {
  private let records: [SessionRecord]
  /// The state before each record.
  private var before: [SessionState] = []
  private(set) var after = SessionState.unauthenticated

  init(_ records: [SessionRecord]) throws {
    self.records = records
    var fold = SessionFold()
    for record in records {
      before.append(fold.state)
      try fold.apply(record)
    }
    after = fold.state
  }

  /// One session: the indices of its records, and of its end.
  private struct Session {
    var first: Int
    var last: Int
    var end: Int?
  }

  private var sessions: [Session] {
    var found: [Session] = []
    var start: Int?
    for (index, record) in records.enumerated() {
      switch record.content {
      case .event(.login): start = index
      case .snapshot(let fold): start = fold.state.kind == .authenticated ? index : nil
      case .event(.sessionExpired), .event(.logout):
        guard before[index].kind == .authenticated, let first = start else { continue }
        found.append(Session(first: first, last: index, end: index))
        start = nil
      default: break
      }
    }
    if let start, after.kind == .authenticated {
      found.append(Session(first: start, last: records.count - 1))
    }
    return found
  }

  /// Returns the records about the end of a request, each with its failure if there is one.
  private func ends(of request: UInt64) -> [(index: Int, failure: RequestFailure?)] {
    var found: [(index: Int, failure: RequestFailure?)] = []
    for (index, record) in records.enumerated() {
      switch record.content {
      case .event(.refreshSucceeded(let refresh)) where refresh.request == request:
        found.append((index, nil))
      case .event(.refreshFailed(let refresh)) where refresh.request == request:
        found.append((index, refresh.failure))
      case .note(.requestEnded(let ended)) where ended.request == request:
        found.append((index, ended.failure))
      case .note(.answerUnused(let number)) where number == request: found.append((index, nil))
      default: continue
      }
    }
    return found
  }

  /// Whether a response to a request is known from a record before `limit`.
  private func isAnswered(_ request: UInt64, before limit: Int) -> Bool {
    ends(of: request).contains { $0.index < limit && $0.failure.map { !isLost($0) } ?? true }
  }

  /// The first record after which nothing about an ended session is taken in.
  private func limit(after end: Int?) -> Int {
    guard let end else { return records.count }
    let next = records.indices.dropFirst(end + 1).first { index in
      switch records[index].content {
      case .event(.login), .event(.logout), .event(.sessionExpired): true
      default: false
      }
    }
    return next ?? records.count
  }

  private func isLost(_ failure: RequestFailure) -> Bool {
    failure.kind == .noReply && failure.status == 0
  }

  /// The rows of the sessions, without cause, certainty, reason, and failure.
  var rows: [SessionRow] {
    sessions.map { session in
      var row = SessionRow()
      let range = session.first...session.last
      if case .event(.login(let login)) = records[session.first].content {
        (row.device.user, row.method) = (login.user, login.method)
        (row.login, row.began) = (records[session.first].sequence, records[session.first].time)
      } else if case .snapshot(let fold) = records[session.first].content,
        case .authenticated(let old) = fold.state
      {
        (row.device.user, row.method, row.began) = (old.user, old.method, old.since)
      }
      row.device.app = app(at: session.last)
      row.sequence = session.end.map { records[$0].sequence }
      row.ended = session.end.map { records[$0].time }
      var spans: [Int64] = []
      let limit = limit(after: session.end)
      if case .snapshot(let fold) = records[session.first].content,
        let request = fold.intents.request, !isAnswered(request.sequence, before: limit)
      {
        row.lostRequests += 1
      }
      for index in range {
        switch records[index].content {
        case .event(.refreshSucceeded(let refresh)):
          row.refreshes += 1
          guard let sent = self.index(of: refresh.request), range.contains(sent),
            !isAnswered(refresh.request, before: index)
          else { continue }
          let span = records[index].time.milliseconds(since: records[sent].time)
          if (0...600_000).contains(span) { spans.append(span) }
        case .event(.refreshFailed): row.failures += 1
        case .note(.requestSent):
          if !isAnswered(records[index].sequence, before: limit) { row.lostRequests += 1 }
        default: break
        }
      }
      spans.sort()
      if !spans.isEmpty {
        row.median = Int32(spans[(spans.count * 50 + 99) / 100 - 1])
        row.high = Int32(spans[(spans.count * 95 + 99) / 100 - 1])
      }
      return row
    }
  }

  private func index(of sequence: UInt64) -> Int? {
    records.firstIndex {
      guard case .note(.requestSent) = $0.content else { return false }
      return $0.sequence == sequence
    }
  }

  private func app(at index: Int) -> AppVersion? {
    for record in records[...index].reversed() {
      switch record.content {
      case .note(.opened(let opened)): return opened.app
      case .snapshot: return nil
      default: continue
      }
    }
    return nil
  }

  /// The rows of the refresh requests.
  var refreshes: [RefreshRow] {
    records.indices.compactMap { index in
      guard case .note(.requestSent(let sent)) = records[index].content, sent.kind == .refresh
      else { return nil }
      var row = RefreshRow(request: records[index].sequence, time: records[index].time, sent: sent)
      row.device.user = user(at: index)
      row.device.app = app(at: index)
      row.login = login(at: index)
      for (end, failure) in ends(of: row.request) where end > index {
        let span = records[end].time.milliseconds(since: row.time)
        let duration = (0...600_000).contains(span) ? Int32(span) : nil
        switch (records[end].content, failure) {
        case (.event(.refreshSucceeded(let refresh)), _):
          (row.outcome, row.isRotated, row.duration) = (.succeeded, refresh.isRotated, duration)
          row.failure = nil
        case (.note(.answerUnused), _):
          (row.outcome, row.duration, row.failure) = (.superseded, duration, nil)
        case (_, let failure?) where isLost(failure):
          guard row.outcome == .open else { continue }
          (row.outcome, row.failure) = (.lost, failure)
        case (_, let failure?):
          guard row.outcome == .open || row.outcome == .lost else { continue }
          (row.outcome, row.failure, row.duration) = (.failed, failure, duration)
        default: continue
        }
      }
      return row
    }
  }

  private func user(at index: Int) -> Identifier? {
    for record in records[...index].reversed() {
      switch record.content {
      case .event(.login(let login)): return login.user
      case .snapshot(let fold): return fold.state.user
      default: continue
      }
    }
    return nil
  }

  private func login(at index: Int) -> UInt64? {
    for record in records[...index].reversed() {
      switch record.content {
      case .event(.login): return record.sequence
      case .snapshot: return nil
      default: continue
      }
    }
    return nil
  }
}
