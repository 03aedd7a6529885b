import ChildProcesses
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
@_spi(Internals) import SessionTestKit

extension SplitMix {
  /// A number from 0 up to, but not including, `bound`.
  mutating func below(_ bound: UInt64) -> UInt64 { next() % bound }

  /// A span whose length is spread evenly over the powers of two.
  mutating func span(bits: UInt64 = 40) -> Int64 {
    let power = below(bits)
    return Int64(below(1 << (power + 1)))
  }
}

/// The records of a drawn journal, each legal in the state before it.
struct DrawnSession {
  private(set) var records: [SessionRecord] = []
  private(set) var time: Timestamp
  private(set) var model = SessionModel()
  var random: SplitMix
  /// The sequences of all requests.
  private var requests: [UInt64] = []
  private var sequence: UInt64 = 0
  private let process: UInt32 = 4242

  init(seed: UInt64, time: Timestamp = SampleJournal.start) {
    random = SplitMix(seed: seed)
    self.time = time
  }

  @discardableResult
  mutating func append(_ content: SessionRecord.Content, after span: Int64) -> UInt64 {
    time = time.advanced(by: span)
    sequence += 1
    records.append(SessionRecord(sequence: sequence, time: time, content: content))
    if case .event(let event) = content { model.take(event) }
    if case .note(.requestSent) = content { requests.append(sequence) }
    return sequence
  }

  private mutating func token(_ id: Identifier? = nil) -> TokenMetadata {
    .issued(model.newest + 1, at: time, id: id)
  }

  /// Replaces all records by a snapshot of them, if there can be one.
  private mutating func compact() throws {
    var fold = SessionFold()
    for record in records { try fold.apply(record) }
    // A record of a newer version cannot be part of a snapshot.
    guard let snapshot = fold.snapshot else { return }
    records = [SessionRecord(sequence: sequence, time: time, content: snapshot)]
  }

  private mutating func code(_ bound: UInt64) -> UInt8 { UInt8(random.below(bound)) }

  private mutating func version() -> AppVersion? {
    AppVersion(["", "2.4.1", "2.5.0+7"][Int(random.below(3))])
  }

  // MARK: Any events and codes, for figures

  /// A journal with clocks that are set back, codes of newer versions, and records of unknown kinds.
  static func ofFigures(seed: UInt64, records count: Int, mayBeCompacted: Bool = true) throws
    -> [SessionRecord]
  {
    var drawn = DrawnSession(seed: seed)
    if mayBeCompacted, drawn.random.below(4) == 0 {
      while drawn.records.count < 12 { drawn.addFigure() }
      try drawn.compact()
    }
    while drawn.records.count < count { drawn.addFigure() }
    return drawn.records
  }

  private mutating func addFigure() {
    let wait = random.below(20) == 0 ? -random.span(bits: 24) : random.span(bits: 26)
    switch (model.state, random.below(12)) {
    case (_, 0): append(.opened(by: process, boot: nil, uptime: 0, app: version()), after: wait)
    case (_, 1): append(.unknown(.init(kind: 0xEE, payload: [7])), after: wait)
    case (.unauthenticated, _): logIn(random.below(2) == 0 ? "u-1" : "u-2", wait)
    case (.expired, 2...6): logIn(model.user ?? "u-1", wait)
    case (.expired, _): append(.event(.logout(.init(reason: .policy))), after: wait)
    case (.authenticated, 2):
      append(.event(.logout(.init(reason: LogoutReason(rawValue: code(4))))), after: wait)
    case (.authenticated, 3):
      append(.event(.sessionExpired(.init(reason: ExpiryReason(rawValue: code(12))))), after: wait)
    case (.authenticated, 4):
      let isNew = random.below(2) == 0
      append(
        .switched(.init(role: .init(id: "r", name: "")), isNew ? token() : nil, 0), after: wait)
    case (.authenticated, _): refreshSomehow(wait)
    }
  }

  private mutating func logIn(_ user: Identifier, _ wait: Int64) {
    append(.login(user, token(), by: LoginMethod(rawValue: code(5))), after: wait)
  }

  private mutating func refreshSomehow(_ wait: Int64) {
    var request: UInt64 = 0
    if random.below(5) > 0 {
      let kind: RequestKind = random.below(8) == 0 ? .switchContext : .refresh
      request = append(.sent(model.token, by: process, until: time, kind: kind), after: wait)
    }
    let span = random.below(30) == 0 ? -5 : random.span(bits: 21)
    if random.below(3) == 0 {
      let failure = RequestFailure(kind: .init(rawValue: code(13)))
      append(.failed(failure, model.token, request), after: span)
    } else {
      append(.refreshed(token(), request, isRotated: random.below(2) == 0), after: span)
    }
  }

  // MARK: Requests and their ends, for rows

  /// A journal with requests that are answered, lost, late and superseded.
  static func ofRequests(seed: UInt64, records count: Int) throws -> [SessionRecord] {
    var drawn = DrawnSession(seed: seed)
    while drawn.records.count < count { drawn.addRequest() }
    guard drawn.random.below(3) == 0 else { return drawn.records }
    try drawn.compact()
    while drawn.records.count < count { drawn.addRequest() }
    return drawn.records
  }

  /// A request among the last ones; 0 if there is none.
  private mutating func recentRequest() -> UInt64 {
    let recent = Array(requests.suffix(3))
    return recent.isEmpty ? 0 : recent[Int(random.below(UInt64(recent.count)))]
  }

  private mutating func failure() -> RequestFailure {
    switch random.below(4) {
    case 0: RequestFailure(kind: .noReply)
    case 1: RequestFailure(kind: .rejected, status: 401, serverCode: "TOKEN_REUSED")
    case 2: RequestFailure(kind: .noConnection)
    default: RequestFailure(kind: .server, status: 503)
    }
  }

  private mutating func addRequest() {
    let content = request()
    append(content, after: random.below(25) == 0 ? -random.span(bits: 20) : random.span(bits: 21))
  }

  private mutating func request() -> SessionRecord.Content {
    switch (model.state, random.below(16)) {
    case (_, 0): return .opened(by: process, boot: nil, uptime: 0, app: version())
    case (_, 1) where !requests.isEmpty:
      let request = recentRequest()
      return random.below(3) == 0
        ? .note(.answerUnused(request))
        : .note(.requestEnded(.init(request: request, failure: failure())))
    case (.unauthenticated, _), (.expired, 2...9): return .login(model.user ?? "u-1", token())
    case (.expired, _): return .event(.logout(.init(reason: .policy)))
    case (.authenticated, 2): return .event(.logout(.init(reason: .user)))
    case (.authenticated, 3): return .event(.sessionExpired(.init(reason: .refreshRejected)))
    case (.authenticated, 4...9):
      let kind: RequestKind = random.below(6) == 0 ? .switchContext : .refresh
      return .sent(model.token, by: process, until: time, kind: kind)
    case (.authenticated, 10...12):
      let failure = failure()
      return .failed(failure, model.token, random.below(12) > 0 ? recentRequest() : 0)
    case (.authenticated, _):
      return .refreshed(token(), recentRequest(), isRotated: random.below(2) == 0)
    }
  }

  // MARK: A phone, for report pages

  static let versions = ["5.0.3", "5.1.0", "5.1.2", "5.2.0"]

  /// The journal of one phone of a fleet; version 5.2.0 loses twice as many replies.
  static func phone(_ index: UInt64, days: UInt64 = 30) -> [SessionRecord] {
    var chance = SplitMix(seed: 9_000 + index)
    let version = versions[Int(min(3, chance.below(6)))]
    let start = SampleJournal.start.advanced(by: Int64(chance.below(days * 86_400_000)))
    var phone = DrawnSession(seed: index, time: start)
    phone.open(AppVersion(version))
    phone.logIn(Identifier("u-\(index / 2)"))
    for _ in 0..<(6 + chance.below(24)) { phone.refresh() }
    let (failed, lost) = (
      RequestFailure(kind: .server, status: 503), RequestFailure(kind: .noReply)
    )
    switch chance.below(version == "5.2.0" ? 112 : 100) {
    case ..<25: break
    case ..<62: phone.append(.event(.logout(.init(reason: .user))), after: 60_000)
    case ..<66: phone.end(.attemptsExhausted, after: [failed, failed, failed])
    case ..<71: phone.end(.refreshRejected, after: [.init(kind: .rejected, status: 401)])
    case ..<74: phone.end(.refreshRejected, after: [reused])
    case ..<77: phone.end(.inactivity, after: [])
    case ..<79: phone.end(.secretsMissing, after: [])
    case ..<80: phone.end(.userInactive, after: [])
    case ..<81: phone.end(.refreshRejected, after: [.init(kind: .noRefreshToken)])
    default: phone.end(.refreshRejected, after: [lost, reused])
    }
    return phone.records
  }

  /// Some days of a session that refreshes every half hour, fails now and then, and ends sometimes.
  static func life(seed: UInt64, user: Identifier, days: Int64) -> [SessionRecord] {
    var life = DrawnSession(seed: seed)
    life.open()
    life.logIn(user)
    while life.time < SampleJournal.start.advanced(by: days * 86_400_000) {
      life.refresh()
      guard life.random.below(36) == 0 else { continue }
      life.end(.refreshRejected, after: [reused])
      life.append(.event(.logout(.init(reason: .policy))), after: 0)
      life.append(.note(.revocationPending(Generation(life.model.newest))), after: 0)
      life.append(.note(.closed), after: 5_000)
      life.time = life.time.advanced(by: Int64(2_000_000 + life.random.below(20_000_000)))
      life.open()
      life.logIn(user)
    }
    life.append(.note(.closed), after: 1_000)
    return life.records
  }

  private static let reused = RequestFailure(
    kind: .rejected, status: 401, serverCode: "TOKEN_REUSED")

  private mutating func open(_ app: AppVersion? = nil) {
    append(.opened(by: process, app: app), after: 0)
  }

  private mutating func logIn(_ user: Identifier) {
    append(.login(user, token("jti-1"), context: SampleJournal.teacher), after: 900)
  }

  /// A refresh that succeeds, after a failure now and then.
  private mutating func refresh() {
    let fails = random.below(9) == 0
    if fails { attempt(1, .init(kind: .noConnection), isLast: false) }
    let (attempt, request) = send(fails ? 2 : 1)
    let token = token(Identifier("jti-\(model.newest + 1)"))
    append(
      .refreshed(token, request, attempt == 1 ? .schedule : .retry, attempt: attempt),
      after: Int64(60 + random.below(500)))
  }

  /// The failures that end the session, and its end.
  private mutating func end(_ reason: ExpiryReason, after failures: [RequestFailure]) {
    for (index, failure) in failures.enumerated() {
      attempt(UInt32(index + 1), failure, isLast: index == failures.count - 1)
    }
    append(.event(.sessionExpired(.init(reason: reason))), after: failures.isEmpty ? 9_000_000 : 0)
  }

  private mutating func send(_ attempt: UInt32) -> (attempt: UInt32, request: UInt64) {
    let pause: Int64 = attempt == 1 ? 1_800_000 : 4_000
    let deadline = time.advanced(by: pause + 30_000)
    let trigger: RefreshTrigger = attempt == 1 ? .schedule : .retry
    let content = SessionRecord.Content.sent(
      model.token, by: process, until: deadline, trigger, attempt: attempt)
    return (attempt, append(content, after: pause))
  }

  private mutating func attempt(_ attempt: UInt32, _ failure: RequestFailure, isLast: Bool) {
    let (_, request) = send(attempt)
    append(
      .failed(
        failure, model.token, request, retryAt: isLast ? nil : time.advanced(by: 4_000),
        attempt == 1 ? .schedule : .retry, attempt: attempt), after: 90)
  }

  // MARK: Names that try to inject markup

  /// Names as a hostile server would send them.
  static let hostile: [String] = [
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>",
    "\" onmouseover=\"alert(3)", "' autofocus onfocus='alert(4)", "]]><!--", "\u{202E}evil\u{2066}",
    "nul\u{0}tab\u{9}line\n", "&lt;b&gt; &amp; &#39;", "\u{2028}\u{2029}", "javascript:alert(5)",
    "{{7*7}}${7*7}", String(repeating: "W", count: 40_000), "</style><style>*{display:none}",
    "</title>", "\\u003cb>",
  ]

  /// A journal in which every name is hostile.
  static func ofHostileNames() -> [SessionRecord] {
    var drawn = DrawnSession(seed: 7)
    drawn.open()
    drawn.logIn(Identifier(hostile[0]))
    for name in hostile {
      let named = ActiveContext.Named(id: Identifier(name), name: name)
      let context = ActiveContext(role: named, school: named, unit: named, permissions: [name])
      drawn.append(.switched(context, nil, 0), after: 60_000)
    }
    drawn.append(.event(.logout(.init(reason: .user))), after: 5_000)
    return drawn.records
  }
}

/// A journal file with a drawn history, in drawn batches, with frames of the journal's own
/// between them.
struct DrawnJournal {
  let bytes: [UInt8]

  /// `compactedIn`: some of them are compacted in this folder, as an app does it.
  init(_ choices: Choices, _ history: History, compactedIn folder: TemporaryFolder? = nil) throws {
    let salt = choices.draw(below: .max)
    let header = JournalHeader(
      identifier: JournalIdentifier(
        high: choices.draw(below: .max), low: choices.draw(below: .max)), salt: salt,
      maximumRecordSize: 1 << 20)
    var frames = FrameWriter(seed: header.seed, chain: header.checksum)
    var sequence: UInt64 = 1
    // A record of a newer version prevents compaction.
    let isCompacted = folder != nil && choices.chance(1, in: 3)
    var records = history.records.filter { !isCompacted || $0.content.isKnown }[...]
    while !records.isEmpty {
      while choices.chance(1, in: 8) {
        frames.append(
          JournalDraft(kind: RecordKind.watermark, payload: []), sequence: sequence,
          durable: sequence - 1, remainingInBatch: 0)
        sequence += 1
      }
      let count = min(records.count, 1 + Int(choices.draw(below: 3)))
      let durable = sequence - 1
      for (place, record) in records.prefix(count).enumerated() {
        var (kind, payload) = SessionCodec.encode(record.content, at: record.time)
        // A record of a later version has all known fields, followed by new ones.
        if record.content.isKnown, !isCompacted, choices.chance(1, in: 12),
          let known = SessionCodec.version(ofKind: kind), payload[8] == known
        {
          payload[8] = known + 1
          payload += Array("later-\(choices.draw(below: 1_000_000))".utf8)
        }
        frames.append(
          JournalDraft(kind: kind, payload: payload), sequence: sequence, durable: durable,
          remainingInBatch: UInt16(count - 1 - place))
        sequence += 1
      }
      records = records.dropFirst(count)
    }
    let whole = header.encoded + frames.bytes
    guard let folder, isCompacted, sequence > 3 else {
      bytes = whole
      return
    }
    let path = try folder.write(whole, to: "compacting.journal")
    var options = JournalOptions()
    options.room = .none
    let journal = try Journal.open(at: path, options: options)
    _ = try journal.compact(
      keepingFrom: 2 + choices.draw(below: sequence - 2), summary: SnapshotSummary())
    try journal.close()
    bytes = try folder.bytes("compacting.journal")
  }
}

extension SessionRecord.Content {
  var isKnown: Bool {
    switch self {
    case .event, .note: true
    case .snapshot, .unknown: false
    }
  }
}

/// All that a reader sees of a journal's file.
struct SeenJournal: Equatable {
  let identifier: JournalIdentifier
  let maximumRecordSize: UInt32
  let firstSequence: UInt64
  let totals: JournalTotals
  let isClean: Bool
  let records: [JournalRecord]

  init(_ bytes: [UInt8]) throws {
    var reader = try JournalReader(bytes: bytes)
    var records: [JournalRecord] = []
    while let record = try reader.next() { records.append(record) }
    isClean = try reader.ending() == .clean
    (totals, self.records) = (reader.totals, records)
    (identifier, firstSequence) = (reader.identifier, reader.header.firstSequence)
    maximumRecordSize = reader.header.maximumRecordSize
  }

  /// The records as values.
  func decoded() throws -> [SessionRecord] {
    try records.map {
      try SessionCodec.decode(sequence: $0.sequence, kind: $0.kind, payload: $0.payload)
    }
  }
}
