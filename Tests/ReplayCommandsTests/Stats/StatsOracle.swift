@_spi(Internals) import SessionCore

@testable import ReplayCommands

/// The figures of a history, computed in a simple way: from all records, with sorted lists.
struct StatsOracle {
  var sessions = 0
  var continued = 0
  var open = 0
  var ends: [String: Int] = [:]
  var succeeded = 0
  var failures: [String: Int] = [:]
  var latencies: [Int64] = []
  var failureLatencies: [Int64] = []
  var recoveries: [Int64] = []
  var lengths: [Int64] = []
  var neverRecovered = 0
  var tokens = 0
  var rotated = 0

  init(_ records: [SessionRecord]) {
    let times = Dictionary(uniqueKeysWithValues: records.map { ($0.sequence, $0.time) })
    let requests = Set(
      records.compactMap { record -> UInt64? in
        guard case .note(.requestSent(let sent)) = record.content, sent.kind == .refresh else {
          return nil
        }
        return record.sequence
      })
    func span(_ request: UInt64, _ record: SessionRecord) -> Int64? {
      guard requests.contains(request), let sent = times[request] else { return nil }
      return record.time.milliseconds - sent.milliseconds
    }
    for (index, record) in records.enumerated() {
      if case .snapshot(let fold) = record.content, fold.state.kind == .authenticated {
        continued += 1
      }
      guard let event = record.event else { continue }
      if event.announcedToken != nil { tokens += 1 }
      switch event {
      case .login: sessions += 1
      case .refreshSucceeded(let refresh):
        succeeded += 1
        if refresh.isRotated { rotated += 1 }
        if let span = span(refresh.request, record) { latencies.append(span) }
      case .refreshFailed(let refresh):
        failures[refresh.failure.kind.description, default: 0] += 1
        if refresh.failure.kind.isAnswered, let span = span(refresh.request, record) {
          failureLatencies.append(span)
        }
      case .contextSwitched: break
      case .sessionExpired(let expiry):
        var reason = expiry.reason.description
        if expiry.reason == .refreshRejected,
          case .refreshFailed(let last)? = records[..<index].last(where: { $0.event != nil })?.event,
          last.failure.kind == .noRefreshToken || last.failure.kind == .otherUser
        {
          reason += "(\(last.failure.kind))"
        }
        end(reason, index, records)
      case .logout(let logout):
        let last = records[..<index].last { Self.bounds($0) }
        if case .event(.sessionExpired)? = last?.content { break }
        if case .snapshot(let fold)? = last?.content, fold.state.kind == .expired { break }
        end("logout(\(logout.reason))", index, records)
      }
      if event.announcedToken != nil {
        recover(index, records)
      }
    }
    let last = records.last { Self.bounds($0) }
    switch last?.content {
    case .event(.login): open = 1
    case .snapshot(let fold): open = fold.state.kind == .authenticated ? 1 : 0
    default: open = 0
    }
  }

  /// Whether a session begins or ends with the record.
  private static func bounds(_ record: SessionRecord) -> Bool {
    switch record.content {
    case .event(.login), .event(.sessionExpired), .event(.logout), .snapshot: true
    default: false
    }
  }

  /// The records of the session before `index`, without the one at `index`.
  private static func session(before index: Int, _ records: [SessionRecord]) -> ArraySlice<
    SessionRecord
  > {
    let start = records[..<index].lastIndex { bounds($0) } ?? 0
    return records[start..<index]
  }

  /// The first failure after the last token of the session before `index`.
  private static func failing(before index: Int, _ records: [SessionRecord]) -> SessionRecord? {
    let session = session(before: index, records)
    let start = session.lastIndex { $0.event?.announcedToken != nil } ?? session.startIndex
    return session[start...].first { if case .refreshFailed? = $0.event { true } else { false } }
  }

  private mutating func end(_ reason: String, _ index: Int, _ records: [SessionRecord]) {
    ends[reason, default: 0] += 1
    if Self.failing(before: index, records) != nil { neverRecovered += 1 }
    if let login = Self.session(before: index, records).first, case .login? = login.event {
      lengths.append(records[index].time.milliseconds - login.time.milliseconds)
    }
  }

  private mutating func recover(_ index: Int, _ records: [SessionRecord]) {
    if case .login? = records[index].event { return }
    guard let failed = Self.failing(before: index, records) else { return }
    recoveries.append(records[index].time.milliseconds - failed.time.milliseconds)
  }

  /// The nearest rank of the spans, by sorting them.
  static func percentile(_ percent: Int, of spans: [Int64]) -> Int64? {
    let sorted = spans.sorted()
    guard !sorted.isEmpty else { return nil }
    let rank = (percent * sorted.count + 99) / 100
    return sorted[max(1, rank) - 1]
  }
}
