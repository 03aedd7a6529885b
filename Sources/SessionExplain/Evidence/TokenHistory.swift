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
  let facts: TokenMetadata
  /// The event that announced it; `nil` if the file does not contain it.
  let announced: Fact?
  /// Whether the journal contains every use of its refresh token since its announcement.
  ///
  /// It was announced by an answer to this journal's session, and no record is missing since.
  var isWhole: Bool
  /// Whether the record that announced it is lost, so that its lifetime is not known.
  private(set) var isLost = false
  /// The first requests with it and the last ones.
  private(set) var requests: [RequestTrace] = []
  /// The number of requests between those that are not kept.
  private(set) var omitted: UInt64 = 0
  /// Whether the end of a request was noted that is not kept any more.
  private(set) var hasStrayEnds = false
  private(set) var failures = FailureTally()
  /// Its failures in the snapshot with which the file begins.
  private(set) var compacted: SessionState.RefreshFailures?

  /// The number of requests that are kept from the first on, and before the last.
  static let keptFirst = 8
  static let keptLast = 24

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

  var generation: Generation { facts.generation }

  /// Whether every request with it is known.
  var isComplete: Bool { isWhole && omitted == 0 }

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

  /// Takes the record that ends a request; `how` returns how a lost answer became known.
  mutating func end(
    _ number: UInt64, _ fact: Fact, among processes: ProcessTrail,
    how: (RequestTrace) -> RequestTrace.Fate.How
  ) {
    guard let index = requests.lastIndex(where: { $0.number == number }) else {
      if let announced, number > announced.sequence { missEnd() }
      return
    }
    if fact.note != nil, requests[index].isRefresh { failures.countNoted(fact) }
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
    failures.count(failed.failure, fact)
  }
}
