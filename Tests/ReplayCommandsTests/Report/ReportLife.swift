@_spi(Internals) import SessionCore

/// A drawn journal.
struct Life {
  private(set) var records: [SessionRecord] = []
  private(set) var time: Timestamp
  private var chance: Chance
  private var generation: UInt64 = 0
  private var isSignedIn = false
  private let app: AppVersion?

  init(seed: UInt64, time: Timestamp, app: AppVersion? = nil) {
    chance = Chance(seed)
    self.time = time
    self.app = app
  }

  mutating func append(_ content: SessionRecord.Content, after span: Int64) {
    time = time.advanced(by: span)
    records.append(
      SessionRecord(sequence: UInt64(records.count + 1), time: time, content: content))
  }

  mutating func open() {
    append(
      .note(.opened(.init(process: 4242, boot: "boot-1", uptime: 86_400_000, app: app))), after: 0)
  }

  private mutating func token(_ id: Identifier? = nil) -> TokenMetadata {
    generation += 1
    return TokenMetadata(
      generation: Generation(generation), issuedAt: time, expiresAt: time.advanced(by: 3_600_000),
      id: id ?? Identifier("jti-\(generation)"), isRefreshable: true)
  }

  mutating func login(_ user: Identifier) {
    isSignedIn = true
    append(
      .event(
        .login(
          .init(user: user, method: .password, token: token(), context: SampleJournal.teacher))),
      after: 900)
  }

  /// The events until the token is half over, or the user returns.
  mutating func hour(_ user: Identifier) {
    guard isSignedIn else {
      append(.note(.closed), after: 5_000)
      time = time.advanced(by: Int64(2_000_000 + chance.below(20_000_000)))
      open()
      return login(user)
    }
    let wait = Int64(1_700_000 + chance.below(200_000))
    for attempt in 1...4 as ClosedRange<UInt32> {
      let request = UInt64(records.count + 1)
      let pause = attempt == 1 ? wait : 4_000
      append(
        .note(
          .requestSent(
            .init(
              kind: .refresh, generation: Generation(generation),
              trigger: attempt == 1 ? .schedule : .retry, attempt: attempt, process: 4242,
              deadline: time.advanced(by: pause + 30_000)))), after: pause)
      let span = Int64(60 + chance.below(500))
      switch chance.below(attempt == 1 ? 12 : 4) {
      case 0 where chance.below(3) == 0: return end(request, span)
      case 0,
        1 where attempt < 4:
        let kinds: [RequestFailure] = [
          .init(kind: .noReply), .init(kind: .noConnection),
          .init(kind: .server, status: 503, serverCode: "DB_TIMEOUT", retryAfter: .seconds(4)),
        ]
        append(
          .event(
            .refreshFailed(
              .init(
                generation: Generation(generation), trigger: .schedule, attempt: attempt,
                failure: kinds[Int(chance.below(3))], retryAt: time.advanced(by: 4_000),
                request: request))), after: span)
      default:
        let facts = token()
        append(
          .event(
            .refreshSucceeded(
              .init(
                token: facts, trigger: .schedule, attempt: attempt, isRotated: true,
                request: request))), after: span)
        return
      }
    }
  }

  private mutating func end(_ request: UInt64, _ span: Int64) {
    append(
      .event(
        .refreshFailed(
          .init(
            generation: Generation(generation), trigger: .retry, attempt: 2,
            failure: .init(kind: .rejected, status: 401, serverCode: "TOKEN_REUSED"), retryAt: nil,
            request: request))), after: span)
    append(.event(.sessionExpired(.init(reason: .refreshRejected))), after: 0)
    append(.event(.logout(.init(reason: .policy))), after: 0)
    append(.note(.revocationPending(Generation(generation))), after: 0)
    isSignedIn = false
  }
}

/// A fleet of phones: four app versions, 30 days, and ends of many causes.
extension ReportJournals {
  static let versions = ["5.0.3", "5.1.0", "5.1.2", "5.2.0"]

  /// The journal of one phone; version 5.2.0 loses twice as many replies.
  static func phone(_ index: UInt64, days: UInt64 = 30) -> [SessionRecord] {
    var chance = Chance(9_000 + index)
    let version = versions[Int(min(3, chance.below(6)))]
    let start = SampleJournal.start.advanced(by: Int64(chance.below(days * 86_400_000)))
    var life = Life(seed: index, time: start, app: AppVersion(version))
    life.open()
    life.login(Identifier("u-\(index / 2)"))
    for _ in 0..<(6 + chance.below(24)) { life.refresh() }
    let (failed, lost) = (
      RequestFailure(kind: .server, status: 503), RequestFailure(kind: .noReply)
    )
    let reused = RequestFailure(kind: .rejected, status: 401, serverCode: "TOKEN_REUSED")
    switch chance.below(version == "5.2.0" ? 112 : 100) {
    case ..<25: break
    case ..<62: life.append(.event(.logout(.init(reason: .user))), after: 60_000)
    case ..<66: life.end(.attemptsExhausted, after: [failed, failed, failed])
    case ..<71: life.end(.refreshRejected, after: [.init(kind: .rejected, status: 401)])
    case ..<74: life.end(.refreshRejected, after: [reused])
    case ..<77: life.end(.inactivity, after: [])
    case ..<79: life.end(.secretsMissing, after: [])
    case ..<80: life.end(.userInactive, after: [])
    case ..<81: life.end(.refreshRejected, after: [.init(kind: .noRefreshToken)])
    default: life.end(.refreshRejected, after: [lost, reused])
    }
    return life.records
  }
}

extension Life {
  /// A refresh that succeeds, after a failure now and then.
  mutating func refresh() {
    if chance.below(9) == 0 {
      attempt(1, .init(kind: .noConnection), retryAt: 4_000)
      succeed(2)
    } else {
      succeed(1)
    }
  }

  /// The failures that end the session, and its end.
  mutating func end(_ reason: ExpiryReason, after failures: [RequestFailure]) {
    for (index, failure) in failures.enumerated() {
      let isLast = index == failures.count - 1
      attempt(UInt32(index + 1), failure, retryAt: isLast ? nil : 4_000)
    }
    append(
      .event(.sessionExpired(.init(reason: reason))), after: failures.isEmpty ? 9_000_000 : 0)
  }

  private mutating func send(_ attempt: UInt32) -> UInt64 {
    let pause: Int64 = attempt == 1 ? 1_800_000 : 4_000
    append(
      .note(
        .requestSent(
          .init(
            kind: .refresh, generation: Generation(generation),
            trigger: attempt == 1 ? .schedule : .retry, attempt: attempt, process: 4242,
            deadline: time.advanced(by: pause + 30_000)))), after: pause)
    return UInt64(records.count)
  }

  private mutating func attempt(_ attempt: UInt32, _ failure: RequestFailure, retryAt: Int64?) {
    let request = send(attempt)
    append(
      .event(
        .refreshFailed(
          .init(
            generation: Generation(generation), trigger: attempt == 1 ? .schedule : .retry,
            attempt: attempt, failure: failure, retryAt: retryAt.map { time.advanced(by: $0) },
            request: request))), after: 90)
  }

  private mutating func succeed(_ attempt: UInt32) {
    let request = send(attempt)
    let facts = token()
    append(
      .event(
        .refreshSucceeded(
          .init(
            token: facts, trigger: attempt == 1 ? .schedule : .retry, attempt: attempt,
            isRotated: true, request: request))), after: Int64(60 + chance.below(500)))
  }
}
