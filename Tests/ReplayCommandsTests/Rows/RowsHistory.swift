@_spi(Internals) import SessionCore

/// The records of a drawn journal with requests that are answered, lost, late and superseded.
struct RowsHistory {
  private(set) var records: [SessionRecord] = []
  private var chance: Chance
  private var fold = SessionFold()
  private var time = SampleJournal.start
  /// Requests whose end may come, or come again.
  private var requests: [UInt64] = []

  init(seed: UInt64, records count: Int) throws {
    chance = Chance(seed)
    while records.count < count { try step() }
    guard chance.below(3) == 0, let snapshot = fold.snapshot else { return }
    records = [SessionRecord(sequence: fold.sequence, time: time, content: snapshot)]
    while records.count < count { try step() }
  }

  private mutating func append(_ content: SessionRecord.Content) throws {
    let wait = chance.below(25) == 0 ? -chance.span(bits: 20) : chance.span(bits: 21)
    time = time.advanced(by: wait)
    let record = SessionRecord(sequence: fold.sequence + 1, time: time, content: content)
    try fold.apply(record)
    records.append(record)
    if case .note(.requestSent) = content { requests.append(record.sequence) }
  }

  private mutating func token() -> TokenMetadata {
    TokenMetadata(
      generation: fold.generation.next, issuedAt: time, expiresAt: time.advanced(by: 3_600_000),
      isRefreshable: true)
  }

  /// A request among the last ones; 0 sometimes.
  private mutating func request() -> UInt64 {
    guard !requests.isEmpty, chance.below(12) > 0 else { return 0 }
    return requests.suffix(3).randomElement(by: &chance)
  }

  private mutating func failure() -> RequestFailure {
    switch chance.below(4) {
    case 0: RequestFailure(kind: .noReply)
    case 1: RequestFailure(kind: .rejected, status: 401, serverCode: "TOKEN_REUSED")
    case 2: RequestFailure(kind: .noConnection)
    default: RequestFailure(kind: .server, status: 503)
    }
  }

  private mutating func step() throws {
    switch (fold.state, chance.below(16)) {
    case (_, 0):
      let app = ["", "2.4.1", "2.5.0+7"][Int(chance.below(3))]
      try append(.note(.opened(.init(process: 7, boot: nil, uptime: 0, app: AppVersion(app)))))
    case (_, 1) where !requests.isEmpty:
      let request = requests.suffix(3).randomElement(by: &chance)
      try append(
        chance.below(3) == 0
          ? .note(.answerUnused(request))
          : .note(.requestEnded(.init(request: request, failure: failure()))))
    case (.unauthenticated, _): try login("u-1")
    case (.expired(let session), 2...9): try login(session.user)
    case (.expired, _): try append(.event(.logout(.init(reason: .policy))))
    case (.authenticated, 2): try append(.event(.logout(.init(reason: .user))))
    case (.authenticated, 3): try append(.event(.sessionExpired(.init(reason: .refreshRejected))))
    case (.authenticated(let session), 4...9):
      try append(
        .note(
          .requestSent(
            .init(
              kind: chance.below(6) == 0 ? .switchContext : .refresh,
              generation: session.token.generation, trigger: .schedule, attempt: 1, process: 7,
              deadline: time))))
    case (.authenticated(let session), 10...12):
      try append(
        .event(
          .refreshFailed(
            .init(
              generation: session.token.generation, trigger: .schedule, attempt: 1,
              failure: failure(), retryAt: nil, request: request()))))
    case (.authenticated, _):
      try append(
        .event(
          .refreshSucceeded(
            .init(
              token: token(), trigger: .schedule, attempt: 1, isRotated: chance.below(2) == 0,
              request: requests.isEmpty ? 0 : requests.suffix(3).randomElement(by: &chance)))))
    }
  }

  private mutating func login(_ user: Identifier) throws {
    try append(.event(.login(.init(user: user, method: .password, token: token()))))
  }
}

extension Collection<UInt64> {
  fileprivate func randomElement(by chance: inout Chance) -> UInt64 {
    self[index(startIndex, offsetBy: Int(chance.below(UInt64(count))))]
  }
}
