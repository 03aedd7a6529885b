@_spi(Internals) import SessionCore

/// Pseudorandom numbers, the same for the same seed.
struct Chance {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 up to, but not including, `bound`.
  mutating func below(_ bound: UInt64) -> UInt64 { next() % bound }

  /// A span whose length is spread evenly over the powers of two.
  mutating func span(bits: UInt64 = 40) -> Int64 {
    let power = below(bits)
    return Int64(below(1 << (power + 1)))
  }
}

/// The records of a drawn journal, each legal in the state before it.
struct StatsHistory {
  private(set) var records: [SessionRecord] = []
  private var chance: Chance
  private var fold = SessionFold()
  private var time = SampleJournal.start

  init(seed: UInt64, records count: Int, mayBeCompacted: Bool = true) throws {
    chance = Chance(seed)
    if mayBeCompacted, chance.below(4) == 0 { try compact() }
    while records.count < count { try step() }
  }

  /// A compacted journal begins with a snapshot that replaces earlier records.
  private mutating func compact() throws {
    while records.count < 12 { try step() }
    // A record of a newer version cannot be part of a snapshot.
    guard let snapshot = fold.snapshot else { return }
    records = [SessionRecord(sequence: fold.sequence, time: time, content: snapshot)]
  }

  private mutating func append(_ content: SessionRecord.Content, after span: Int64) throws {
    time = time.advanced(by: span)
    let record = SessionRecord(sequence: fold.sequence + 1, time: time, content: content)
    try fold.apply(record)
    records.append(record)
  }

  private mutating func token() -> TokenMetadata {
    TokenMetadata(
      generation: fold.generation.next, issuedAt: time, expiresAt: time.advanced(by: 3_600_000),
      isRefreshable: true)
  }

  private mutating func step() throws {
    // Sometimes the clock is set back.
    let wait = chance.below(20) == 0 ? -chance.span(bits: 24) : chance.span(bits: 26)
    switch (fold.state, chance.below(12)) {
    case (_, 0):
      let app = ["", "2.4.1", "2.5.0+7"][Int(chance.below(3))]
      try append(
        .note(.opened(.init(process: 7, boot: nil, uptime: 0, app: AppVersion(app)))), after: wait)
    case (_, 1): try append(.unknown(.init(kind: 0xEE, payload: [7])), after: wait)
    case (.unauthenticated, _):
      try login(chance.below(2) == 0 ? "u-1" : "u-2", wait)
    case (.expired(let session), 2...6):
      try login(session.user, wait)
    case (.expired, _):
      try append(.event(.logout(.init(reason: .policy))), after: wait)
    case (.authenticated, 2):
      try append(.event(.logout(.init(reason: LogoutReason(rawValue: code(4))))), after: wait)
    case (.authenticated, 3):
      try append(
        .event(.sessionExpired(.init(reason: ExpiryReason(rawValue: code(12))))), after: wait)
    case (.authenticated, 4):
      let isNew = chance.below(2) == 0
      try append(
        .event(
          .contextSwitched(
            .init(
              context: .init(role: .init(id: "r", name: "")), token: isNew ? token() : nil,
              trigger: .user, request: 0))), after: wait)
    case (.authenticated(let session), _): try refresh(session.token.generation, wait)
    }
  }

  private mutating func code(_ bound: UInt64) -> UInt8 { UInt8(chance.below(bound)) }

  private mutating func login(_ user: Identifier, _ wait: Int64) throws {
    try append(
      .event(.login(.init(user: user, method: LoginMethod(rawValue: code(5)), token: token()))),
      after: wait)
  }

  private mutating func refresh(_ generation: Generation, _ wait: Int64) throws {
    var request: UInt64 = 0
    if chance.below(5) > 0 {
      let kind: RequestKind = chance.below(8) == 0 ? .switchContext : .refresh
      try append(
        .note(
          .requestSent(
            .init(
              kind: kind, generation: generation, trigger: .schedule, attempt: 1, process: 7,
              deadline: time))), after: wait)
      request = fold.sequence
    }
    let span = chance.below(30) == 0 ? -5 : chance.span(bits: 21)
    if chance.below(3) == 0 {
      let kind = RequestFailure.Kind(rawValue: code(13))
      try append(
        .event(
          .refreshFailed(
            .init(
              generation: generation, trigger: .schedule, attempt: 1, failure: .init(kind: kind),
              retryAt: nil, request: request))), after: span)
    } else {
      try append(
        .event(
          .refreshSucceeded(
            .init(
              token: token(), trigger: .schedule, attempt: 1, isRotated: chance.below(2) == 0,
              request: request))), after: span)
    }
  }
}
