@_spi(Internals) import SessionCore

/// A request and its outcome, as far as the journal shows it.
struct RequestTrace: Hashable, Sendable {
  let sent: Fact
  /// The record that ends it.
  var end: Fact?
  /// The record with which its process, resumed late, ends it again.
  var late: Fact?
  /// The note that its answer arrived and could not be stored.
  var dropped: Fact?
  /// The note, before its end, that the store could not write the token of its answer.
  var unwritten: Fact?
  /// Whether certainly no other process can have written that token.
  var isUnwrittenAlone = false
  var fate = Fate.open
  /// The boot of the system in which it was sent; `nil` if it is not known.
  var boot: Identifier?
  /// The sequence of its process's last opening before it; 0 if it is not known.
  var life: UInt64 = 0
  /// Whether it was certainly sent by that opening.
  var isCertain = true
  /// Whether certainly no other process had the journal open from its sending to its end.
  var wasAlone = false
  /// Whether its process opened the journal again in between.
  var wasReopened = false
  /// Whether a process closed the journal in between; a `closed` note does not name its process.
  var sawClosing = false
  /// Whether certainly its own process closed the journal in between.
  var wasClosed = false

  /// The outcome of a request.
  enum Fate: Hashable, Sendable {
    /// Its answer is journaled as an event.
    case answered
    /// It failed, but its reply was not lost.
    case failed(RequestFailure)
    /// No complete answer arrived; the server may have acted.
    case lost(How)
    /// No record ends it.
    case open

    /// How it became known that no answer arrived.
    enum How: Hashable, Sendable {
      /// The loss was noted by the process that had sent it, unless other processes were active.
      case connection
      /// It was noted before the deadline by a process that opened the journal or replaced the
      /// sender.
      case gone(by: Taker)
      /// It was noted in another boot of the system, in which the taker had opened the journal.
      case restarted(by: Taker)
      /// It was noted at the deadline or later by a process that opened the journal.
      case replaced(by: Taker)
      /// It was noted at the deadline or later by a process that replaced the sender.
      case overtaken(by: Taker)
      /// It was noted by a process that replaced the sender; a changed civil clock hides when.
      case taken(by: Taker)
      /// It was noted by the same process with its next request: the end had not been journaled in
      /// time.
      case unnoted
      /// It was noted by a process that opened the journal with the same number: the sender or
      /// another one.
      case reopened(by: Taker)
    }
  }

  /// The process that noted the end of another process's request.
  struct Taker: Hashable, Sendable {
    /// The record of its opening, or of the request with which it replaced the sender.
    let fact: Fact
    var sequence: UInt64 { fact.sequence }
    var opener: Opener? { fact.opened.map(Opener.init) ?? fact.requestSent.map(Opener.init) }
    var isOpening: Bool { fact.opened != nil }
  }

  var number: UInt64 { sent.sequence }
  var isRefresh: Bool { sent.requestSent?.kind == .refresh }

  /// The answer that arrived after the request was presumed lost; `nil` if there is none, or it
  /// does not count.
  var lateAnswer: Fact? {
    guard isRefresh, let late, late.failure?.kind.isAnswered == true else { return nil }
    return late
  }

  /// Returns how its loss became known, if `fact` notes it in the batch of this opening, or of none.
  func loss(notedBy fact: Fact, in opening: Fact?, _ processes: ProcessTrail) -> Fate.How {
    guard let request = sent.requestSent else { return .connection }
    if let boot, let other = processes.boot, boot != other, let first = processes.firstOfBoot {
      return .restarted(by: .init(fact: first))
    }
    guard let opening, let opened = opening.opened else { return .connection }
    let taker = Taker(fact: opening)
    guard !Opener(opened).mayBe(Opener(request)) else { return .reopened(by: taker) }
    // A time before that of the request cannot be compared with its deadline.
    let isEarly = fact.time < request.deadline && fact.time >= sent.time
    return isEarly ? .gone(by: taker) : .replaced(by: taker)
  }

  /// Records what processes did between its sending and its end.
  mutating func see(_ processes: ProcessTrail) {
    guard let sent = sent.requestSent else { return }
    wasAlone = processes.wasAlone(Opener(sent), since: number)
    wasReopened = processes.lastOpening(of: Opener(sent)) > number
    sawClosing = processes.lastClosing > number
    wasClosed = sawClosing && processes.lastCloser?.isTaken(for: Opener(sent)) == true
  }

  /// The final outcome: a process that resumes late may deliver the answer.
  var outcome: Fate {
    guard let late else { return fate }
    guard let failure = late.failure else { return .answered }
    return Self.isLoss(failure) ? fate : .failed(failure)
  }

  /// Whether no complete answer is known, so that the server may have acted.
  var isLost: Bool {
    switch outcome {
    case .lost, .open: true
    case .answered, .failed: false
    }
  }

  /// Whether it was certainly sent, and an answer arrived.
  var isAnswered: Bool {
    switch outcome {
    case .answered: true
    case .failed(let failure): failure.kind.isAnswered
    case .lost, .open: false
    }
  }

  /// Whether its process may have ended during it.
  var mayHaveEndedProcess: Bool {
    guard isRefresh, late == nil, dropped == nil, unwritten == nil else { return false }
    switch fate {
    case .lost(.gone(let by)), .lost(.replaced(let by)), .lost(.reopened(let by)):
      return by.isOpening
    case .open: return true
    case .lost(.connection), .lost(.restarted), .lost(.overtaken), .lost(.taken), .lost(.unnoted),
      .answered, .failed:
      return false
    }
  }

  /// Returns whether a record other than `sequence` ends it.
  func isEnded(elsewhereThan sequence: UInt64) -> Bool {
    end?.sequence != sequence && late?.sequence != sequence
  }

  /// Returns whether a failure means that the tokens of a response were lost: no answer arrived, or
  /// a 2xx whose body is empty or ends early.
  static func isLoss(_ failure: RequestFailure) -> Bool {
    isNoAnswer(failure) || failure.kind == .noReply && (200...299).contains(failure.status)
  }

  /// Returns whether a failure means that no answer arrived; a 408 or 425 is an answer, though no
  /// usable one.
  static func isNoAnswer(_ failure: RequestFailure) -> Bool {
    failure.kind == .noReply && failure.status == 0
  }

  /// Whether an answer leaves open what the server did.
  ///
  /// Examples are an error, a page of a gateway, and an unreadable body.
  var isDubious: Bool {
    guard case .failed(let failure) = outcome else { return false }
    return failure.kind == .server || failure.kind == .unreadable || failure.kind == .intercepted
      || failure.kind == .unexpected || failure.kind == .otherUser || failure.kind == .noReply
  }
}

/// All records of the journal about one token.
struct TokenHistory: Hashable, Sendable {
  let generation: Generation
  let facts: TokenMetadata
  /// The event that announced it; `nil` if the file does not contain it.
  let announced: Fact?
  /// Whether the journal contains every use of its refresh token since its announcement.
  ///
  /// It was announced by an answer to this journal's session, and no record is missing since.
  var isWhole: Bool
  /// The first requests with it and the last ones.
  private(set) var requests: [RequestTrace] = []
  /// The number of requests between those that are not kept.
  private(set) var omitted: UInt64 = 0
  /// The number of failures of its refreshes by kind.
  ///
  /// It includes answers that arrived after another process presumed the request lost.
  private(set) var tally: [RequestFailure.Kind: UInt64] = [:]
  /// The number of failures by status or code, for those of the kind `unexpected`.
  private(set) var answeredBy = AnswerTally()
  /// The first and the last failure that a server answered.
  private(set) var firstAnswered: Fact?
  private(set) var lastAnswered: Fact?
  /// The first and the last failure without an answer.
  private(set) var firstUnanswered: Fact?
  private(set) var lastUnanswered: Fact?
  /// The number of answered failures that are only in notes, since they arrived late and decided
  /// nothing.
  private(set) var answeredLate: UInt64 = 0
  /// The last failure that led to a decision.
  private(set) var lastFailed: Fact?
  /// The first final failure and the last ones.
  private(set) var refusals: [Fact] = []
  /// The first of them whose code means that the token was used.
  private(set) var firstReuse: Fact?
  /// The earliest sequence of these: of the failure, or of the request that it answers.
  private(set) var refusedFrom: UInt64?
  /// Whether the end of a request was noted that is not kept any more.
  private(set) var hasStrayEnds = false
  /// The longest time that a server asked to wait, in milliseconds.
  private(set) var longestWait: Int64 = 0

  /// The number of requests that are kept from the first on, and before the last.
  static let keptFirst = 8
  static let keptLast = 24

  /// Its failures in the snapshot with which the file begins.
  private(set) var compacted: SessionState.RefreshFailures?

  /// Whether the record that announced it is lost, so that its lifetime is not known.
  private(set) var isLost = false

  /// Returns the history of a token whose announcement is missing.
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

  /// Creates the history of the token in a snapshot; `nil` without one.
  init?(_ snapshot: SessionState) {
    guard let token = snapshot.token else { return nil }
    self.init(token, announced: nil, isWhole: false)
    if case .authenticated(let session) = snapshot { compacted = session.failures }
  }

  /// Becomes the history of the next token, and keeps the memory of the requests.
  mutating func restart(_ facts: TokenMetadata, announced: Fact?, isWhole: Bool) {
    var memory: [RequestTrace] = []
    swap(&memory, &requests)
    memory.removeAll(keepingCapacity: true)
    self = TokenHistory(facts, announced: announced, isWhole: isWhole)
    requests = memory
  }

  /// The number of all failures of refreshes with it.
  var failures: UInt64 { tally.values.reduce(0, +) }

  /// The rejections that were doubted, so that the server was asked again.
  var doubted: [Fact] { refusals.filter { $0.refreshFailed?.retryAt != nil } }

  /// The number of failures that a server answered.
  var answered: UInt64 { tally.reduce(0) { $0 + ($1.key.isAnswered ? $1.value : 0) } }

  /// Returns the requests with it before a record, for which no complete answer is known.
  func lost(before sequence: UInt64) -> [RequestTrace] {
    requests.filter {
      $0.number < sequence && $0.isLost && $0.isEnded(elsewhereThan: sequence)
    }
  }

  /// The longest run of requests during which their process may have ended.
  ///
  /// Such a request has no end, or an opening noted its end, and its process did not come back.
  var endedInRow: Int {
    var (longest, run) = (0, 0)
    for request in requests {
      run = request.mayHaveEndedProcess ? run + 1 : 0
      longest = max(longest, run)
    }
    return longest
  }

  /// Returns the last request before a record whose answer leaves open what the server did.
  func lastDubious(before sequence: UInt64) -> RequestTrace? {
    requests.last {
      $0.number < sequence && $0.isDubious && $0.isEnded(elsewhereThan: sequence)
    }
  }

  /// Returns the last refresh before a record that the server answered with success, and whose
  /// answer could not be read.
  func lastUnread(before sequence: UInt64) -> RequestTrace? {
    requests.last {
      guard $0.number < sequence, $0.isRefresh, $0.isEnded(elsewhereThan: sequence),
        case .failed(let failure) = $0.outcome
      else { return false }
      return failure.kind == .unreadable && (200...299).contains(failure.status)
    }
  }

  mutating func send(_ request: RequestTrace) {
    if requests.count == Self.keptFirst + Self.keptLast {
      // A request with an end is removed rather than one without.
      let middle = requests.indices.dropFirst(Self.keptFirst)
      let index = middle.first { !requests[$0].isLost } ?? Self.keptFirst
      requests.remove(at: index)
      omitted += 1
    }
    requests.append(request)
  }

  /// Takes a record that ends a request; `how` returns how a lost answer became known.
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

  /// Records that the answer to a request arrived and could not be stored.
  mutating func drop(_ fact: Fact) {
    guard let number = fact.answerDropped?.request,
      let index = requests.lastIndex(where: { $0.number == number })
    else { return }
    requests[index].dropped = fact
  }

  /// Records that the store could not write a token, or that it can again.
  ///
  /// One request is open at a time, and a token is written only when its answer has arrived. A
  /// process that is killed then leaves no other note of the answer.
  mutating func write(_ fact: Fact, among processes: ProcessTrail) {
    guard let index = requests.lastIndex(where: { $0.end == nil }) else { return }
    switch fact.note {
    case .storageFailed(let failed)? where failed.isTokenWrite:
      requests[index].unwritten = fact
      requests[index].isUnwrittenAlone =
        requests[index].sent.requestSent.map {
          processes.wasAlone(Opener($0), since: requests[index].number)
        } ?? false
    case .storageRecovered(let recovered)?
    where recovered.operation == .write && recovered.item.isToken:
      requests[index].unwritten = nil
    default: break
    }
  }

  /// Replaces how it became known that a request got no answer.
  mutating func lose(_ number: UInt64, how: (RequestTrace) -> RequestTrace.Fate.How) {
    guard let index = requests.lastIndex(where: { $0.number == number }),
      case .lost = requests[index].fate
    else { return }
    requests[index].fate = .lost(how(requests[index]))
  }

  /// Records the end of a request that is not kept; its effect on the token is not known.
  private mutating func missEnd() {
    guard omitted > 0 else { return }
    (hasStrayEnds, isWhole) = (true, false)
  }

  mutating func count(_ fact: Fact) {
    guard let failed = fact.refreshFailed, failed.generation == generation else { return }
    lastFailed = fact
    count(failed.failure, fact)
  }

  /// Counts a failure in a note of a process that resumed late.
  ///
  /// Others had presumed its request lost, which is counted as a failure already.
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
    // A late answer was given between the request and the note.
    let place = min(fact.sequence, fact.answers ?? fact.sequence)
    refusedFrom = min(refusedFrom ?? place, place)
    if firstReuse == nil, failure.kind.isAnswered, fact.refusalWord == .reused {
      firstReuse = fact
    }
  }
}

/// The number of answered failures, and how many of them are of each of these kinds.
struct AnswerTally: Hashable, Sendable {
  private(set) var total: UInt64 = 0
  private(set) var refusesClient: UInt64 = 0
  private(set) var isNotThere: UInt64 = 0
  private(set) var demandsSignIn: UInt64 = 0
  /// Those with 500, which also a defect of the server can be that a single user meets.
  private(set) var isInternal: UInt64 = 0

  mutating func count(_ failure: RequestFailure) {
    total += 1
    if failure.serverCode.flatMap({ ErrorMeaning(code: $0) }) == .clientRefused {
      refusesClient += 1
    } else if ServerReason(failure.serverCode) == .signIn {
      demandsSignIn += 1
    } else if failure.kind == .server, failure.status == 500 {
      isInternal += 1
    } else if failure.kind == .unexpected, failure.status == 404 || failure.status == 405 {
      isNotThere += 1
    }
  }
}
