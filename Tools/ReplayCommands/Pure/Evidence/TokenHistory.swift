internal import SessionCore

/// A request and what became of it, as far as the journal tells.
struct RequestTrace: Hashable, Sendable {
  let sent: Fact
  /// The record that names its end.
  var end: Fact?
  /// One that names it once more: its process came back.
  var late: Fact?
  var fate = Fate.open
  /// In which start of the system it was sent; `nil` where that is not known.
  var boot: Identifier?
  /// Where the process that sent it had opened the journal last; 0 where that is not known.
  var life: UInt64 = 0
  /// Whether nobody else had the journal open from when it was sent to its end, for certain.
  var wasAlone = false

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
    var process: UInt32? { fact.opened?.process ?? fact.requestSent?.process }
    var isOpening: Bool { fact.opened != nil }
  }

  var number: UInt64 { sent.sequence }

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
  let facts: TokenFacts
  /// The event that announced it; `nil` where that is not in the file any more.
  let announced: Fact?
  /// Whether every use of its refresh token from here on is in the journal: it was announced here, by an
  /// answer to this journal's session, and nothing is missing since.
  var isWhole: Bool
  /// The first requests with it and the last ones.
  private(set) var requests: [RequestTrace] = []
  /// How many between those are not kept.
  private(set) var omitted: UInt64 = 0
  /// How often each class of failure was noted of its refreshes.
  private(set) var tally: [RequestFailure.Kind: UInt64] = [:]
  /// The same of failures that are told apart by their status or code: those of `unexpected`.
  private(set) var answeredBy = AnswerTally()
  /// The first and the last failure that a server answered.
  private(set) var firstAnswered: Fact?
  private(set) var lastAnswered: Fact?
  /// The first and the last failure that came with no answer.
  private(set) var firstUnanswered: Fact?
  private(set) var lastUnanswered: Fact?
  /// The first refusal that ended nothing, and how many there were.
  private(set) var doubted: [Fact] = []
  /// The longest time that a server asked to wait, in milliseconds.
  private(set) var longestWait: Int64 = 0

  /// How many requests are kept from the first on, and before the last.
  static let keptFirst = 8
  static let keptLast = 24

  init(_ facts: TokenFacts, announced: Fact?, isWhole: Bool) {
    generation = facts.generation
    self.facts = facts.lean
    self.announced = announced
    self.isWhole = isWhole
  }

  /// All failures of refreshes with it.
  var failures: UInt64 { tally.values.reduce(0, +) }

  /// Those that a server answered.
  var answered: UInt64 { tally.reduce(0) { $0 + ($1.key.isAnswered ? $1.value : 0) } }

  /// The requests with it before a record whose answer nobody has.
  func lost(before sequence: UInt64) -> [RequestTrace] {
    requests.filter {
      $0.number < sequence && $0.isLost && $0.isEnded(elsewhereThan: sequence)
    }
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
    _ fact: Fact, wasAlone: (RequestTrace) -> Bool,
    how: (RequestTrace) -> RequestTrace.Fate.How
  ) {
    guard let number = fact.answers,
      let index = requests.lastIndex(where: { $0.number == number })
    else { return }
    // A process that comes back late names its request once more; what was noted first was decided on.
    guard requests[index].end == nil else {
      requests[index].late = fact
      return
    }
    requests[index].end = fact
    requests[index].wasAlone = wasAlone(requests[index])
    if let failure = fact.failure {
      let isLost = RequestTrace.isNoAnswer(failure)
      requests[index].fate = isLost ? .lost(how(requests[index])) : .failed(failure)
    } else {
      requests[index].fate = .answered
    }
  }

  /// Says otherwise how it became known that no answer came to a request.
  mutating func lose(_ number: UInt64, how: (RequestTrace) -> RequestTrace.Fate.How) {
    guard let index = requests.lastIndex(where: { $0.number == number }),
      case .lost = requests[index].fate
    else { return }
    requests[index].fate = .lost(how(requests[index]))
  }

  mutating func count(_ fact: Fact) {
    guard let failed = fact.refreshFailed, failed.generation == generation else { return }
    let failure = failed.failure
    tally[failure.kind, default: 0] += 1
    if failure.kind.isAnswered {
      answeredBy.count(failure)
      if firstAnswered == nil { firstAnswered = fact }
      lastAnswered = fact
    } else {
      if firstUnanswered == nil { firstUnanswered = fact }
      lastUnanswered = fact
    }
    longestWait = max(longestWait, failure.retryAfter ?? 0)
    if failure.kind.isFinal, failed.retryAt != nil {
      if doubted.count == 4 { doubted.remove(at: 1) }
      doubted.append(fact)
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
    if failure.serverCode == "invalid_client" || failure.serverCode == "unauthorized_client" {
      refusesClient += 1
    } else if failure.kind == .unexpected, failure.status == 404 || failure.status == 405 {
      isNotThere += 1
    }
  }
}
