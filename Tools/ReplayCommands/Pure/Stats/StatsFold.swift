@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// The property by which figures are grouped.
enum StatsGrouping: String, CaseIterable, Sendable {
  case day = "day"
  case cause = "cause"
  case method = "method"
  case version = "version"
}

/// Counts the records of one journal in order, in bounded memory.
///
/// Each figure belongs to one group:
///
/// - By cause or method, all figures of a session belong to its end or its beginning. They
///   are kept until that is known.
/// - By day, a figure belongs to the day of its record.
/// - By version, it belongs to the app version that last opened the journal before it.
struct StatsFold {
  /// The longest possible wait for a response; a longer one shows that the clock was set.
  static let longestRequest: Int64 = 600_000
  /// The length of a day in milliseconds.
  private static let day: Int64 = 86_400_000
  /// The maximum number of requests that may still get a response.
  private static let openRequests = 8

  private(set) var groups: StatsGroups
  private(set) var records: UInt64 = 0
  private(set) var firstTime: Timestamp?
  private(set) var lastTime: Timestamp?

  /// The group of figures that belong to no session.
  static let noSession = "(none)"
  /// The group of sessions that have not ended.
  static let openSession = "(open)"
  /// The group of ends without an explanation.
  static let unexplained = "(unexplained)"
  /// The group of figures under an app that did not report its version.
  static let noVersion = "(unknown)"
  /// The maximum number of ends that wait for their cause.
  private static let longestWait = 64

  private let grouping: StatsGrouping?
  /// The milliseconds that the zone of the days is ahead of UTC.
  private let offset: @Sendable (Timestamp) -> Int64
  private let counted: ClosedRange<UInt64>

  private var state = SessionFold()
  /// Whether records are missing since the last login.
  private var hasGap = false
  private var requests: [(sequence: UInt64, time: Timestamp)] = []
  /// When the session began; `nil` if there is none, or if its login was compacted.
  private var since: Timestamp?
  private var failingSince: Timestamp?
  /// How the last refresh failed, if no other event came after it.
  private var lastFailure: RequestFailure.Kind?
  /// The figures that belong to no group yet.
  private var pending = StatsFigures()
  private var pendingKey: StatsKey
  /// The figures of ended sessions whose cause is not known yet.
  private var waiting: [(sequence: UInt64, figures: StatsFigures)] = []
  private var offsetOfHour: (hour: Int64, offset: Int64)?

  /// Creates a count of the records with sequences in `counted`; other records only change the
  /// state.
  ///
  /// `app` is the version of an opening before the first record, if it is known.
  init(
    by grouping: StatsGrouping?, counted: ClosedRange<UInt64> = 0...UInt64.max,
    app: AppVersion? = nil,
    offset: @escaping @Sendable (Timestamp) -> Int64 = { _ in 0 }
  ) {
    self.grouping = grouping
    self.counted = counted
    self.offset = offset
    groups = StatsGroups()
    pendingKey =
      switch grouping {
      case .day: .day(0)
      case .cause, .method: .word(Self.noSession)
      case .version: .word(app?.description ?? Self.noVersion)
      case nil: .word("")
      }
  }

  /// Counts the next record.
  ///
  /// Throws if the state does not allow the record, and counts nothing then.
  mutating func take(_ record: SessionRecord) throws(SessionFold.Failure) {
    let before = try GappedFold.apply(record, to: &state, afterGap: hasGap).before
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

  /// Notes that records are missing here, and continues after them.
  ///
  /// Another session may have begun there, so no span and no group reaches across the gap.
  mutating func interrupt() {
    hasGap = true
    (since, failingSince, lastFailure) = (nil, nil, nil)
    switch grouping {
    case .method: turn(to: .word(Self.noSession))
    case .version: turn(to: .word(Self.noVersion))
    case .day, .cause, nil: break
    }
  }

  /// Ends the count; an open session counts as open.
  mutating func finish() {
    if state.kind == .authenticated, counted.contains(max(1, state.sequence)) {
      pending.open += 1
      close(by: Self.openSession)
    } else {
      close(by: Self.noSession)
    }
    for rest in waiting { groups.add(rest.figures, to: .word(Self.unexplained)) }
    waiting = []
  }

  /// Gives the first waiting end at or before this sequence its cause.
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
      (failingSince, hasGap) = (nil, false)
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
      // A logout after an expiry ends nothing, because the session had already ended.
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

  /// Continues a session at the snapshot of a compacted journal.
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

  /// Assigns the pending figures to the group of their end, if groups are made by ends.
  private mutating func close(by word: String) {
    switch grouping {
    case .cause: pendingKey = .word(word)
    case .method:
      flush()
      pendingKey = .word(Self.noSession)
      return
    case .day, .version, nil: return flush()
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
      // Time zones change their offset only at a quarter of an hour.
      shift = offset(time)
      offsetOfHour = (hour, shift)
    }
    let shown = time.advanced(by: shift).milliseconds
    return .day(shown / Self.day - (shown % Self.day < 0 ? 1 : 0))
  }
}
