@_spi(Internals) internal import SessionCore
internal import SessionJournal

/// One install of the app: it lives for 30 days, and writes a journal as a session does.
///
/// What happens is drawn from ``FleetPlan``. Each end and each refresh is also noted in a list that
/// is independent of the journal: the truth with which answers are compared.
struct Install {
  /// The number of the user; a user may have several installs.
  let user: Int
  private let journal: Journal
  private var draws: Draws
  private var release: Int
  private let isUnlucky: Bool
  private let process: UInt32

  /// The civil time, in milliseconds since 1970.
  private var time = FleetPlan.start
  private var generation: UInt64 = 0
  private var began: Int64?
  private var hasRefreshed = false

  private(set) var truth = FleetTruth()

  init(user: Int, journal: Journal, seed: UInt64, isUnlucky: Bool) {
    (self.user, self.journal, self.isUnlucky) = (user, journal, isUnlucky)
    draws = Draws(seed: seed)
    release = FleetPlan.release(at: Double.random(in: 0..<1, using: &draws))
    process = UInt32.random(in: 300...60_000, using: &draws)
  }

  private var day: Int { Int((time - FleetPlan.start) / FleetPlan.day) }

  /// The version that opened the journal last.
  private var app = ""

  private var lossRate: Double {
    isUnlucky ? FleetPlan.unluckyLosses : FleetPlan.releases[release].lostResponses
  }

  // MARK: A life

  /// Lives from the first day to the last.
  mutating func live() throws {
    time += Int64.random(in: 0..<FleetPlan.day, using: &draws)
    while day < FleetPlan.days {
      try useApp()
      // One install in a hundred gets the next version each day.
      if release + 1 < FleetPlan.releases.count, draws.happens(0.01) { release += 1 }
      time += FleetPlan.day / 2 + Int64.random(in: 0..<FleetPlan.day, using: &draws)
    }
    if let began {
      truth.add(end: nil, cause: "open", app: app, user: user, began: began, hasRefreshed)
    }
  }

  /// The app is opened, used for some minutes, and closed.
  private mutating func useApp() throws {
    app = FleetPlan.releases[release].name
    try write(
      .note(
        .opened(
          .init(
            process: process, boot: boot, uptime: time - FleetPlan.start + 5_000_000,
            app: AppVersion(app), identity: nil))))
    if began == nil {
      // Some users do not sign in again at once; those with a bad network have to, often.
      guard generation == 0 || isUnlucky || draws.happens(0.7) else {
        try write(.note(.closed))
        return
      }
      try login()
    }
    for _ in 0..<Int.random(in: 1...3, using: &draws) where began != nil {
      wait(20_000, 900_000)
      try refresh(attempt: 1)
    }
    if began != nil, draws.happens(0.012) { try logOut() }
    wait(5_000, 300_000)
    try write(.note(.closed))
  }

  private var boot: Identifier { Identifier(uuidHigh: UInt64(user) &* 0x9E37_79B9, low: 7) }

  private mutating func wait(_ least: Int64, _ most: Int64) {
    time += Int64.random(in: least...most, using: &draws)
  }

  private mutating func login() throws {
    wait(2_000, 40_000)
    began = time
    hasRefreshed = false
    try write(
      .event(
        .login(
          .init(
            user: Identifier("user-number-\(user)"), method: .password, token: nextToken()))))
  }

  private mutating func nextToken() -> TokenMetadata {
    generation += 1
    return TokenMetadata(
      generation: Generation(generation), issuedAt: Timestamp(milliseconds: time),
      expiresAt: Timestamp(milliseconds: time + 3_600_000),
      id: Identifier(uuidHigh: draws.next(), low: draws.next()), isRefreshable: true)
  }

  // MARK: Refreshes

  /// A refresh and its retries.
  private mutating func refresh(attempt: UInt32) throws {
    let (sentAt, sentOn) = (time, day)
    let request = try send(attempt)
    if draws.happens(lossRate) {
      time += 30_000
      try fail(request, attempt, RequestFailure(kind: .noReply), retryAt: time)
      truth.add(refresh: "lost", app: app, at: sentAt, duration: nil)
      // The server rotated the token. Without a grace time it refuses the old one.
      if draws.happens(FleetPlan.strictness) { return try refuse(attempt + 1) }
      return try refresh(attempt: attempt + 1)
    }
    time += draws.duration(median: FleetPlan.latency(on: sentOn))
    if draws.happens(FleetPlan.failures(on: sentOn)) {
      let isLast = attempt >= 5
      try fail(
        request, attempt, RequestFailure(kind: .server, status: 503),
        retryAt: isLast ? nil : time + 30_000)
      truth.add(refresh: "failed", app: app, at: sentAt, duration: time - sentAt)
      if isLast { return try expire(.attemptsExhausted, cause: "server-failing") }
      wait(30_000, 60_000)
      return try refresh(attempt: attempt + 1)
    }
    if draws.happens(0.0008) {
      try fail(
        request, attempt, RequestFailure(kind: .rejected, status: 401, serverCode: "TOKEN_REVOKED"))
      truth.add(refresh: "failed", app: app, at: sentAt, duration: time - sentAt)
      return try expire(.refreshRejected, cause: "revoked-elsewhere")
    }
    try write(
      .event(
        .refreshSucceeded(
          .init(
            token: nextToken(), trigger: .schedule, attempt: attempt, isRotated: true,
            request: request))))
    hasRefreshed = true
    truth.add(refresh: "succeeded", app: app, at: sentAt, duration: time - sentAt)
  }

  /// The server refuses a token that it has replaced.
  private mutating func refuse(_ attempt: UInt32) throws {
    let sentAt = time
    let request = try send(attempt)
    time += draws.duration(median: FleetPlan.latency(on: day))
    try fail(
      request, attempt, RequestFailure(kind: .rejected, status: 401, serverCode: "TOKEN_REUSED"))
    truth.add(refresh: "failed", app: app, at: sentAt, duration: time - sentAt)
    try expire(.refreshRejected, cause: "lost-reply")
  }

  private mutating func send(_ attempt: UInt32) throws -> UInt64 {
    try write(
      .note(
        .requestSent(
          .init(
            kind: .refresh, generation: Generation(generation),
            trigger: attempt == 1 ? .schedule : .retry, attempt: attempt, process: process,
            deadline: Timestamp(milliseconds: time + 65_000)))))
  }

  private mutating func fail(
    _ request: UInt64, _ attempt: UInt32, _ failure: RequestFailure, retryAt: Int64? = nil
  ) throws {
    pending.append(
      .event(
        .refreshFailed(
          .init(
            generation: Generation(generation), trigger: attempt == 1 ? .schedule : .retry,
            attempt: attempt, failure: failure,
            retryAt: retryAt.map(Timestamp.init(milliseconds:)), request: request))))
    // A failure that ends the session is one batch with the end.
    if retryAt != nil { try flush() }
  }

  // MARK: Ends

  private mutating func expire(_ reason: ExpiryReason, cause: String) throws {
    guard let began else { return }
    pending.append(.event(.sessionExpired(.init(reason: reason))))
    pending.append(.event(.logout(.init(reason: .policy))))
    try flush()
    truth.add(end: time, cause: cause, app: app, user: user, began: began, hasRefreshed)
    self.began = nil
  }

  private mutating func logOut() throws {
    guard let began else { return }
    wait(1_000, 60_000)
    try write(.event(.logout(.init(reason: .user))))
    truth.add(end: time, cause: "user-logout", app: app, user: user, began: began, hasRefreshed)
    self.began = nil
  }

  // MARK: Records

  /// The records of the batch that is being made.
  private var pending: [SessionRecord.Content] = []

  @discardableResult
  private mutating func write(_ content: SessionRecord.Content) throws -> UInt64 {
    pending.append(content)
    return try flush()
  }

  /// Appends the batch, and returns the sequence of its first record.
  @discardableResult
  private mutating func flush() throws -> UInt64 {
    let time = Timestamp(milliseconds: time)
    let drafts = pending.map { content in
      let (kind, payload) = SessionCodec.encode(content, at: time)
      return JournalDraft(kind: kind, payload: payload)
    }
    pending.removeAll(keepingCapacity: true)
    return try journal.append(drafts).appended.first?.sequence ?? 0
  }
}
