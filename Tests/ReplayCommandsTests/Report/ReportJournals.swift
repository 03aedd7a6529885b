import Foundation
@_spi(Internals) import SessionCore

/// Journals for report pages: an ordinary session, and names that try to inject markup.
enum ReportJournals {
  /// A few days of a session that refreshes every half hour, fails now and then, and ends twice.
  static func life(seed: UInt64, user: Identifier, days: Int64, from start: Timestamp)
    -> [SessionRecord]
  {
    var life = Life(seed: seed, time: start)
    life.open()
    life.login(user)
    let end = start.advanced(by: days * 86_400_000)
    while life.time < end { life.hour(user) }
    life.append(.note(.closed), after: 1_000)
    return life.records
  }

  /// Names as a hostile server would send them.
  static let hostile: [String] = [
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>",
    "\" onmouseover=\"alert(3)",
    "' autofocus onfocus='alert(4)", "]]><!--", "\u{202E}evil\u{2066}", "nul\u{0}tab\u{9}line\n",
    "&lt;b&gt; &amp; &#39;", "\u{2028}\u{2029}", "javascript:alert(5)", "{{7*7}}${7*7}",
    String(repeating: "W", count: 40_000), "</style><style>*{display:none}", "</title>",
    "\\u003cb>",
  ]

  /// A journal in which every name is hostile.
  static func hostileRecords() -> [SessionRecord] {
    var life = Life(seed: 7, time: SampleJournal.start)
    life.open()
    life.login(Identifier(hostile[0]))
    for name in hostile {
      let context = ActiveContext(
        role: .init(id: Identifier(name), name: name),
        school: .init(id: Identifier(name), name: name),
        unit: .init(id: Identifier(name), name: name), permissions: [name])
      life.append(
        .event(.contextSwitched(.init(context: context, token: nil, trigger: .user, request: 0))),
        after: 60_000)
    }
    life.append(.event(.logout(.init(reason: .user))), after: 5_000)
    return life.records
  }
}

/// A drawn journal.
private struct Life {
  private(set) var records: [SessionRecord] = []
  private(set) var time: Timestamp
  private var chance: Chance
  private var generation: UInt64 = 0
  private var isSignedIn = false

  init(seed: UInt64, time: Timestamp) {
    chance = Chance(seed)
    self.time = time
  }

  mutating func append(_ content: SessionRecord.Content, after span: Int64) {
    time = time.advanced(by: span)
    records.append(
      SessionRecord(sequence: UInt64(records.count + 1), time: time, content: content))
  }

  mutating func open() {
    append(.note(.opened(.init(process: 4242, boot: "boot-1", uptime: 86_400_000))), after: 0)
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
