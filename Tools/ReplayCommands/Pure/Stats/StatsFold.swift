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
struct StatsFold: Sendable {
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

  private var state = SessionState.Kind.unauthenticated
  private var lastSequence: UInt64 = 0
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

  /// Notes that this version of the app opened the journal, before the record of it is counted.
  mutating func open(by app: AppVersion?) {
    guard grouping == .version else { return }
    turn(to: .word(app?.description ?? Self.noVersion))
  }

  /// Counts the next record.
  ///
  /// The caller has folded it: the state `before` allows it.
  mutating func count(
    _ outline: PayloadFold.Outline, sequence: UInt64, at time: Timestamp,
    from before: SessionState.Kind, to state: SessionState.Kind
  ) {
    (self.state, lastSequence) = (state, sequence)
    let isCounted = counted.contains(sequence)
    if isCounted {
      if case .snapshot = outline {} else { records += 1 }
      firstTime = min(firstTime ?? time, time)
      lastTime = max(lastTime ?? time, time)
      if grouping == .day { turn(to: day(of: time)) }
    }
    let failure = lastFailure
    switch outline {
    case .login(let method):
      close(by: Self.noSession)
      (since, failingSince, lastFailure) = (time, nil, nil)
      if grouping == .method { pendingKey = .word(method.description) }
      if isCounted {
        pending.sessions += 1
        pending.tokens += 1
      }
    case .refreshSucceeded(let isRotated, let request):
      lastFailure = nil
      succeed(request, isRotated, at: time, isCounted)
    case .refreshFailed(let kind, let request):
      lastFailure = kind
      fail(kind, request, at: time, isCounted)
    case .reauthenticated, .contextSwitched:
      lastFailure = nil
      guard outline != .contextSwitched(hasToken: false) else { break }
      if isCounted { pending.tokens += 1 }
      recover(at: time, isCounted)
    case .sessionExpired(let reason):
      lastFailure = nil
      end(SessionEnd(reason, after: failure), sequence, at: time, isCounted)
    case .logout(let reason):
      lastFailure = nil
      // A logout after an expiry ends nothing, because the session had already ended.
      if before == .authenticated { end(SessionEnd(reason), sequence, at: time, isCounted) }
    case .requestSent(.refresh):
      if requests.count == Self.openRequests { requests.removeFirst() }
      requests.append((sequence, time))
    case .snapshot(let method?):
      // A compacted journal goes on with this session.
      if isCounted { pending.continued += 1 }
      if grouping == .method { pendingKey = .word(method.description) }
    case .snapshot(nil), .requestSent, .note: break
    }
  }

  /// Notes that records are missing here, and continues after them.
  ///
  /// Another session may have begun there, so no span and no group reaches across the gap.
  mutating func interrupt() {
    (since, failingSince, lastFailure) = (nil, nil, nil)
    switch grouping {
    case .method: turn(to: .word(Self.noSession))
    case .version: turn(to: .word(Self.noVersion))
    case .day, .cause, nil: break
    }
  }

  /// Ends the count; an open session counts as open.
  mutating func finish() {
    if state == .authenticated, counted.contains(max(1, lastSequence)) {
      pending.open += 1
      close(by: Self.openSession)
    } else {
      close(by: Self.noSession)
    }
    flush()
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

  private mutating func succeed(
    _ request: UInt64, _ isRotated: Bool, at time: Timestamp, _ isCounted: Bool
  ) {
    let span = latency(of: request, at: time)
    if isCounted {
      pending.tokens += 1
      pending.succeeded += 1
      if isRotated { pending.rotated += 1 }
      if let span { pending.latency.add(span, limit: Self.longestRequest) }
    }
    recover(at: time, isCounted)
  }

  private mutating func fail(
    _ kind: RequestFailure.Kind, _ request: UInt64, at time: Timestamp, _ isCounted: Bool
  ) {
    let span = latency(of: request, at: time)
    if isCounted {
      pending.failures[kind, default: 0] += 1
      if let span, kind.isAnswered {
        pending.failureLatency.add(span, limit: Self.longestRequest)
      }
    }
    if failingSince == nil { failingSince = time }
  }

  private mutating func end(
    _ reason: SessionEnd, _ sequence: UInt64, at time: Timestamp, _ isCounted: Bool
  ) {
    if isCounted {
      pending.ends[reason, default: 0] += 1
      if failingSince != nil { pending.neverRecovered += 1 }
      if let since { pending.length.add(time.milliseconds(since: since)) }
    }
    (since, failingSince) = (nil, nil)
    if grouping == .cause, isCounted {
      if waiting.count == Self.longestWait {
        groups.add(waiting.removeFirst().figures, to: .word(Self.unexplained))
      }
      waiting.append((sequence, pending))
      pending = StatsFigures()
    } else {
      close(by: reason.description)
    }
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
  ///
  /// Otherwise they stay together, since the next ones may belong to the same group.
  private mutating func close(by word: String) {
    switch grouping {
    case .cause: pendingKey = .word(word)
    case .method:
      flush()
      pendingKey = .word(Self.noSession)
      return
    case .day, .version, nil: return
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
