@_spi(Internals) import SessionCore

/// A request and what became of it, as far as the journal tells.
struct RequestTrace: Hashable, Sendable {
  let sent: Fact
  /// The record that names its end.
  var end: Fact?
  /// One that names it once more: its process came back.
  var late: Fact?
  /// The note that its answer came and could not be stored.
  var dropped: Fact?
  var fate = Fate.open
  /// In which start of the system it was sent; `nil` where that is not known.
  var boot: Identifier?
  /// Where the process that sent it had opened the journal last; 0 where that is not known.
  var life: UInt64 = 0
  /// Whether it is certain that it was sent by that opening.
  var isCertain = true
  /// Whether nobody else had the journal open from when it was sent to its end, for certain.
  var wasAlone = false
  /// Whether its process opened the journal once more between.
  var wasReopened = false
  /// Whether a process closed it between: a closing does not say whose it is.
  var sawClosing = false
  /// Whether its own process closed it between, for certain: no other one had it open.
  var wasClosed = false

  /// What became of a request.
  enum Fate: Hashable, Sendable {
    /// Its answer is journaled as an event.
    case answered
    /// It failed, and not by a lost reply.
    case failed(RequestFailure)
    /// No whole answer came: the server may have acted.
    case lost(How)
    /// Nothing names it.
    case open

    /// How it became known that no answer came.
    enum How: Hashable, Sendable {
      /// Noted by itself: by the process that had sent it, unless others were around.
      case connection
      /// Noted by who opened the journal, or took its place, before its deadline.
      case gone(by: Taker)
      /// Noted in another start of the system, which the taker had opened the journal in.
      case restarted(by: Taker)
      /// Noted by who opened the journal, at its deadline or behind it.
      case replaced(by: Taker)
      /// Noted by who took its place, at its deadline or behind it.
      case overtaken(by: Taker)
      /// Noted by who took its place; the civil clock was set between, and does not say when that was.
      case taken(by: Taker)
      /// Noted by the same process, with its next request: the end had not been journaled in time.
      case unnoted
      /// Noted by who opened the journal, under the same number: the same process, or another one.
      case reopened(by: Taker)
    }
  }

  /// Who noted the end of another process's request.
  struct Taker: Hashable, Sendable {
    /// The record of its opening, or of the request that took the place.
    let fact: Fact
    var sequence: UInt64 { fact.sequence }
    var opener: Opener? { fact.opened.map(Opener.init) ?? fact.requestSent.map(Opener.init) }
    var isOpening: Bool { fact.opened != nil }
  }

  var number: UInt64 { sent.sequence }
  var isRefresh: Bool { sent.requestSent?.kind == .refresh }

  /// The answer that came when it had been taken for lost, where it counts.
  var lateAnswer: Fact? {
    guard isRefresh, let late, late.failure?.kind.isAnswered == true else { return nil }
    return late
  }

  /// Takes note of what processes did from when it was sent to its end.
  mutating func see(_ processes: ProcessTrail) {
    guard let sent = sent.requestSent else { return }
    wasAlone = processes.wasAlone(Opener(sent), since: number)
    wasReopened = processes.lastOpening(of: Opener(sent)) > number
    sawClosing = processes.lastClosing > number
    wasClosed = sawClosing && processes.lastCloser?.isTaken(for: Opener(sent)) == true
  }

  /// What became of it in the end: the process that comes back late may bring the answer with it.
  var outcome: Fate {
    guard let late else { return fate }
    guard let failure = late.failure else { return .answered }
    return Self.isNoAnswer(failure) ? fate : .failed(failure)
  }

  /// Whether no whole answer is known of, so that the server may have acted unseen.
  var isLost: Bool {
    switch outcome {
    case .lost, .open: true
    case .answered, .failed: false
    }
  }

  /// Whether it certainly left, and something came back.
  var isAnswered: Bool {
    switch outcome {
    case .answered: true
    case .failed(let failure): failure.kind.isAnswered
    case .lost, .open: false
    }
  }

  /// Whether its process may have ended with it.
  var mayHaveEndedProcess: Bool {
    guard isRefresh, late == nil, dropped == nil else { return false }
    switch fate {
    case .lost(.gone(let by)), .lost(.replaced(let by)), .lost(.reopened(let by)):
      return by.isOpening
    case .open: return true
    case .lost(.connection), .lost(.restarted), .lost(.overtaken), .lost(.taken), .lost(.unnoted),
      .answered, .failed:
      return false
    }
  }

  /// Whether a record other than `sequence` names its end.
  func isEnded(elsewhereThan sequence: UInt64) -> Bool {
    end?.sequence != sequence && late?.sequence != sequence
  }

  /// A 408 or 425 is an answer, though none that counts.
  static func isNoAnswer(_ failure: RequestFailure) -> Bool {
    failure.kind == .noReply && failure.status == 0
  }

  /// Whether something answered in a way that does not say what the server did: an error of its own, a
  /// gateway's page, a body that cannot be read.
  var isDubious: Bool {
    guard case .failed(let failure) = outcome else { return false }
    return failure.kind == .server || failure.kind == .unreadable || failure.kind == .intercepted
      || failure.kind == .unexpected || failure.kind == .otherUser || failure.kind == .noReply
  }
}

/// All that the journal has about one token.
struct TokenHistory: Hashable, Sendable {
  let generation: Generation
  let facts: TokenMetadata
  /// The event that announced it; `nil` where that is not in the file any more.
  let announced: Fact?
  /// Whether every use of its refresh token from here on is in the journal: it was announced here, by an
  /// answer to this journal's session, and nothing is missing since.
  var isWhole: Bool
  /// The first requests with it and the last ones.
  private(set) var requests: [RequestTrace] = []
  /// How many between those are not kept.
  private(set) var omitted: UInt64 = 0
  /// How often each class of failure was noted of its refreshes, with what came when another process
  /// had taken the request for lost: an answer is one wherever it is noted.
  private(set) var tally: [RequestFailure.Kind: UInt64] = [:]
  /// The same of failures that are told apart by their status or code: those of `unexpected`.
  private(set) var answeredBy = AnswerTally()
  /// The first and the last failure that a server answered.
  private(set) var firstAnswered: Fact?
  private(set) var lastAnswered: Fact?
  /// The first and the last failure that came with no answer.
  private(set) var firstUnanswered: Fact?
  private(set) var lastUnanswered: Fact?
  /// How many of the answered failures stand in notes alone: they came late, and decided nothing.
  private(set) var answeredLate: UInt64 = 0
  /// The last failure that was decided on.
  private(set) var lastFailed: Fact?
  /// The first final failure and the last ones.
  private(set) var refusals: [Fact] = []
  /// The first of them whose code says that the token was used.
  private(set) var firstReuse: Fact?
  /// What came first of them: where it stands, or the request that it answers.
  private(set) var refusedFrom: UInt64?
  /// Whether the end of a request is noted that is not kept any more.
  private(set) var hasStrayEnds = false
  /// The longest time that a server asked to wait, in milliseconds.
  private(set) var longestWait: Int64 = 0

  /// How many requests are kept from the first on, and before the last.
  static let keptFirst = 8
  static let keptLast = 24

  /// Whether the record that announced it is lost, and with it what is known of its life.
  private(set) var isLost = false

  /// A token that only missing records announced.
  static func lost(_ generation: Generation, at time: Timestamp) -> TokenHistory {
    var history = TokenHistory(
      TokenMetadata(
        generation: generation, issuedAt: time, expiresAt: time, id: nil, isRefreshable: true),
      announced: nil, isWhole: false)
    history.isLost = true
    return history
  }

  init(_ facts: TokenMetadata, announced: Fact?, isWhole: Bool) {
    generation = facts.generation
    self.facts = facts.lean
    self.announced = announced
    self.isWhole = isWhole
  }

  /// All failures of refreshes with it.
  var failures: UInt64 { tally.values.reduce(0, +) }

  /// The refusals that were doubted, so that the server was asked again.
  var doubted: [Fact] { refusals.filter { $0.refreshFailed?.retryAt != nil } }

  /// Those that a server answered.
  var answered: UInt64 { tally.reduce(0) { $0 + ($1.key.isAnswered ? $1.value : 0) } }

  /// The requests with it before a record whose answer nobody has.
  func lost(before sequence: UInt64) -> [RequestTrace] {
    requests.filter {
      $0.number < sequence && $0.isLost && $0.isEnded(elsewhereThan: sequence)
    }
  }

  /// The longest run of requests that have no end, or whose end an opening noted, and whose process did
  /// not come back.
  var endedInRow: Int {
    var (longest, run) = (0, 0)
    for request in requests {
      run = request.mayHaveEndedProcess ? run + 1 : 0
      longest = max(longest, run)
    }
    return longest
  }

  /// The last request before a record that was answered in a way that leaves open what the server did.
  func lastDubious(before sequence: UInt64) -> RequestTrace? {
    requests.last {
      $0.number < sequence && $0.isDubious && $0.isEnded(elsewhereThan: sequence)
    }
  }

  mutating func send(_ request: RequestTrace) {
    if requests.count == Self.keptFirst + Self.keptLast {
      // One without an end stays rather than one that has it.
      let middle = requests.indices.dropFirst(Self.keptFirst)
      let index = middle.first { !requests[$0].isLost } ?? Self.keptFirst
      requests.remove(at: index)
      omitted += 1
    }
    requests.append(request)
  }

  /// Takes note of what names a request; `how` says how a lost answer became known.
  mutating func end(
    _ fact: Fact, among processes: ProcessTrail,
    how: (RequestTrace) -> RequestTrace.Fate.How
  ) {
    guard let number = fact.answers else { return }
    guard let index = requests.lastIndex(where: { $0.number == number }) else {
      if let announced, number > announced.sequence { missEnd() }
      return
    }
    if fact.note != nil, requests[index].isRefresh { countNoted(fact) }
    if requests[index].end == nil { requests[index].see(processes) }
    requests[index].nameEnd(fact, how: how)
  }

  /// The answer to a request came, and could not be stored.
  mutating func drop(_ fact: Fact) {
    guard let number = fact.answerDropped?.request,
      let index = requests.lastIndex(where: { $0.number == number })
    else { return }
    requests[index].dropped = fact
  }

  /// Says otherwise how it became known that no answer came to a request.
  mutating func lose(_ number: UInt64, how: (RequestTrace) -> RequestTrace.Fate.How) {
    guard let index = requests.lastIndex(where: { $0.number == number }),
      case .lost = requests[index].fate
    else { return }
    requests[index].fate = .lost(how(requests[index]))
  }

  /// The end of a request that is not kept: what it says of the token cannot be told.
  private mutating func missEnd() {
    guard omitted > 0 else { return }
    (hasStrayEnds, isWhole) = (true, false)
  }

  mutating func count(_ fact: Fact) {
    guard let failed = fact.refreshFailed, failed.generation == generation else { return }
    lastFailed = fact
    count(failed.failure, fact)
  }

  /// A failure that stands in a note: its process came back when others had taken the request for lost,
  /// which is counted as a failure already.
  private mutating func countNoted(_ fact: Fact) {
    guard let failure = fact.failure, failure.kind.isAnswered || failure.kind.isFinal else {
      return
    }
    if failure.kind.isAnswered { answeredLate += 1 }
    count(failure, fact)
  }

  private mutating func count(_ failure: RequestFailure, _ fact: Fact) {
    tally[failure.kind, default: 0] += 1
    if failure.kind.isAnswered {
      answeredBy.count(failure)
      if firstAnswered == nil { firstAnswered = fact }
      lastAnswered = fact
    } else {
      if firstUnanswered == nil { firstUnanswered = fact }
      lastUnanswered = fact
    }
    longestWait = max(longestWait, failure.retryAfterMilliseconds ?? 0)
    if failure.kind.isFinal { refuse(failure, fact) }
  }
}

extension TokenHistory {
  private mutating func refuse(_ failure: RequestFailure, _ fact: Fact) {
    if refusals.count == 5 { refusals.remove(at: 1) }
    refusals.append(fact)
    // What came late was said between the request and the note.
    let place = min(fact.sequence, fact.answers ?? fact.sequence)
    refusedFrom = min(refusedFrom ?? place, place)
    if firstReuse == nil, failure.kind.isAnswered, fact.refusalWord == .reused {
      firstReuse = fact
    }
  }
}

/// How many of the answered failures were of which sort.
struct AnswerTally: Hashable, Sendable {
  private(set) var total: UInt64 = 0
  private(set) var refusesClient: UInt64 = 0
  private(set) var isNotThere: UInt64 = 0

  mutating func count(_ failure: RequestFailure) {
    total += 1
    if failure.serverCode.flatMap({ ErrorMeaning(code: $0) }) == .clientRefused {
      refusesClient += 1
    } else if failure.kind == .unexpected, failure.status == 404 || failure.status == 405 {
      isNotThere += 1
    }
  }
}
