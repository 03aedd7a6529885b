@_spi(Internals) internal import SessionCore

/// By what figures are grouped.
enum StatsGrouping: String, CaseIterable, Sendable {
  case day = "day"
  case reason = "reason"
  case cause = "cause"
  case method = "method"
  case version = "version"
  case file = "file"
}

/// Counts what happens in one journal, record after record, in bounded memory.
///
/// A session's figures belong to one group where they are grouped by how it ended or began; they are
/// kept until that is known. By day, a figure belongs to the day of its record; by version, to that of
/// the app which opened the journal last before it.
struct StatsFold {
  /// Longer than any request waits for its answer: who finds more finds a clock that was set.
  static let longestRequest: Int64 = 600_000
  /// Days below 0 or above this are still days; the division is by the zone's midnight.
  private static let day: Int64 = 86_400_000
  /// Requests that may still be answered.
  private static let openRequests = 8

  private(set) var groups: StatsGroups
  private(set) var records: UInt64 = 0
  private(set) var firstTime: Timestamp?
  private(set) var lastTime: Timestamp?

  /// The group of what belongs to no session.
  static let noSession = "(none)"
  /// The group of sessions that have not ended.
  static let openSession = "(open)"
  /// The group of ends that nobody explained.
  static let unexplained = "(unexplained)"
  /// The group of what happened under an app that did not say which version it is.
  static let noVersion = "(unknown)"
  /// Ends that may wait for their cause.
  private static let longestWait = 64

  private let grouping: StatsGrouping?
  /// Milliseconds that the zone of days is ahead of UTC.
  private let offset: @Sendable (Timestamp) -> Int64
  private let counted: ClosedRange<UInt64>

  private var state = SessionFold()
  private var requests: [(sequence: UInt64, time: Timestamp)] = []
  /// When the session began; `nil` for none, and for one whose sign-in was compacted away.
  private var since: Timestamp?
  private var failingSince: Timestamp?
  /// How the last refresh failed, if no other event came since.
  private var lastFailure: RequestFailure.Kind?
  /// What was counted and belongs to no group yet.
  private var pending = StatsFigures()
  private var pendingKey: StatsKey
  /// Sessions that ended, until their cause is known.
  private var waiting: [(sequence: UInt64, figures: StatsFigures)] = []
  private var offsetOfHour: (hour: Int64, offset: Int64)?

  /// A count of the records whose sequences are in `counted`; the others only lead to the state.
  init(
    by grouping: StatsGrouping?, file: String, counted: ClosedRange<UInt64> = 0...UInt64.max,
    offset: @escaping @Sendable (Timestamp) -> Int64 = { _ in 0 }
  ) {
    self.grouping = grouping
    self.counted = counted
    self.offset = offset
    groups = StatsGroups()
    pendingKey =
      switch grouping {
      case .file: .word(file)
      case .day: .day(0)
      case .reason, .cause, .method: .word(Self.noSession)
      case .version: .word(Self.noVersion)
      case nil: .word("")
      }
  }

  /// Counts the next record; throws where the state before does not allow it, and counts nothing then.
  mutating func take(_ record: SessionRecord) throws(SessionFold.Failure) {
    let before = state.state.kind
    try state.apply(record)
    let isCounted = counted.contains(record.sequence)
    if isCounted {
      if !isSnapshot(record) { records += 1 }
      firstTime = min(firstTime ?? record.time, record.time)
      lastTime = max(lastTime ?? record.time, record.time)
      if grouping == .day { turn(to: day(of: record.time)) }
    }
    switch record.content {
    case .event(let event): take(event, at: record, before, isCounted)
    case .note(.opened(let opened)) where grouping == .version:
      turn(to: .word(opened.app?.description ?? Self.noVersion))
    case .note(.requestSent(let sent)) where sent.kind == .refresh:
      if requests.count == Self.openRequests { requests.removeFirst() }
      requests.append((record.sequence, record.time))
    case .snapshot: resume(isCounted)
    case .note, .unknown: break
    }
  }

  /// Nothing follows: a session that is open is counted as that.
  mutating func finish() {
    if state.state.kind == .authenticated, counted.contains(max(1, state.sequence)) {
      pending.open += 1
      close(by: Self.openSession)
    } else {
      close(by: Self.noSession)
    }
    for rest in waiting { groups.add(rest.figures, to: .word(Self.unexplained)) }
    waiting = []
  }

  /// The first end that waits, at this sequence or before it in its batch, came about so.
  mutating func explain(endAt sequence: UInt64, cause: String) {
    guard let index = waiting.firstIndex(where: { $0.sequence <= sequence }) else { return }
    var figures = waiting.remove(at: index).figures
    figures.causes[cause, default: 0] += 1
    groups.add(figures, to: .word(cause))
  }

  private func isSnapshot(_ record: SessionRecord) -> Bool {
    if case .snapshot = record.content { true } else { false }
  }

  private mutating func take(
    _ event: SessionEvent, at record: SessionRecord, _ before: SessionState.Kind, _ isCounted: Bool
  ) {
    if case .login = event { close(by: Self.noSession) }
    if isCounted, event.announcedToken != nil {
      pending.tokens += 1
      if case .refreshSucceeded(let refresh) = event, refresh.isRotated { pending.rotated += 1 }
    }
    let failure = lastFailure
    lastFailure = nil
    switch event {
    case .login(let login):
      since = record.time
      failingSince = nil
      if grouping == .method { pendingKey = .word(login.method.description) }
      if isCounted { pending.sessions += 1 }
    case .refreshSucceeded(let refresh):
      let span = latency(of: refresh.request, at: record.time)
      if isCounted {
        pending.succeeded += 1
        if let span { pending.latency.add(span, limit: Self.longestRequest) }
      }
      recover(at: record.time, isCounted)
    case .refreshFailed(let refresh):
      let span = latency(of: refresh.request, at: record.time)
      if isCounted {
        pending.failures[refresh.failure.kind, default: 0] += 1
        if let span, refresh.failure.kind.isAnswered {
          pending.failureLatency.add(span, limit: Self.longestRequest)
        }
      }
      if failingSince == nil { failingSince = record.time }
      lastFailure = refresh.failure.kind
    case .contextSwitched(let change):
      if change.token != nil { recover(at: record.time, isCounted) }
    case .sessionExpired(let expiry):
      end(SessionEnd(expiry.reason, after: failure), at: record, isCounted)
    case .logout(let logout):
      // A logout that settles an expiry ends nothing: the session had ended.
      if before == .authenticated { end(SessionEnd(logout.reason), at: record, isCounted) }
    }
  }

  private mutating func end(_ reason: SessionEnd, at record: SessionRecord, _ isCounted: Bool) {
    if isCounted {
      pending.ends[reason, default: 0] += 1
      if failingSince != nil { pending.neverRecovered += 1 }
      if let since { pending.length.add(record.time.milliseconds(since: since)) }
    }
    (since, failingSince) = (nil, nil)
    if grouping == .cause, isCounted {
      if waiting.count == Self.longestWait {
        groups.add(waiting.removeFirst().figures, to: .word(Self.unexplained))
      }
      waiting.append((record.sequence, pending))
      pending = StatsFigures()
    } else {
      close(by: reason.description)
    }
  }

  /// A journal that was compacted goes on in the middle of a session.
  private mutating func resume(_ isCounted: Bool) {
    guard case .authenticated(let session) = state.state else { return }
    if isCounted { pending.continued += 1 }
    if grouping == .method { pendingKey = .word(session.method.description) }
  }

  private mutating func recover(at time: Timestamp, _ isCounted: Bool) {
    guard let start = failingSince else { return }
    failingSince = nil
    if isCounted { pending.recovery.add(time.milliseconds(since: start)) }
  }

  private mutating func latency(of request: UInt64, at time: Timestamp) -> Int64? {
    guard let index = requests.firstIndex(where: { $0.sequence == request }) else { return nil }
    return time.milliseconds(since: requests.remove(at: index).time)
  }

  /// What is pending belongs to the group that its end names, where groups are made by ends.
  private mutating func close(by word: String) {
    switch grouping {
    case .reason, .cause: pendingKey = .word(word)
    case .method:
      flush()
      pendingKey = .word(Self.noSession)
      return
    case .day, .version, .file, nil: return flush()
    }
    flush()
  }

  private mutating func turn(to key: StatsKey) {
    guard key != pendingKey else { return }
    flush()
    pendingKey = key
  }

  private mutating func flush() {
    guard !pending.isEmpty else { return }
    groups.add(pending, to: pendingKey)
    pending = StatsFigures()
  }

  private mutating func day(of time: Timestamp) -> StatsKey {
    let hour = time.milliseconds / 900_000
    let shift: Int64
    if let known = offsetOfHour, known.hour == hour {
      shift = known.offset
    } else {
      // Zones change their distance on a quarter of an hour.
      shift = offset(time)
      offsetOfHour = (hour, shift)
    }
    let shown = time.advanced(by: shift).milliseconds
    return .day(shown / Self.day - (shown % Self.day < 0 ? 1 : 0))
  }
}
