@_spi(Internals) import SessionCore

/// The failures of the refreshes with one token.
///
/// It includes answers that arrived after another process presumed the request lost.
struct FailureTally: Hashable, Sendable {
  /// The number of failures by kind.
  private(set) var kinds: [RequestFailure.Kind: UInt64] = [:]
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
  private(set) var last: Fact?
  /// The first final failure and the last ones.
  private(set) var refusals: [Fact] = []
  /// The first of them whose code means that the token was used.
  private(set) var firstReuse: Fact?
  /// The earliest sequence of these: of the failure, or of the request that it answers.
  private(set) var refusedFrom: UInt64?
  /// The longest time that a server asked to wait, in milliseconds.
  private(set) var longestWait: Int64 = 0

  /// The number of all failures.
  var count: UInt64 { kinds.values.reduce(0, +) }

  /// The number of failures that a server answered.
  var answered: UInt64 { answeredKinds.values.reduce(0, +) }

  /// Those that a server answered, by kind.
  var answeredKinds: [RequestFailure.Kind: UInt64] { kinds.filter { $0.key.isAnswered } }

  /// The rejections that were doubted, so that the server was asked again.
  var doubted: [Fact] { refusals.filter { $0.refreshFailed?.retryAt != nil } }

  /// Counts a failure that led to a decision.
  mutating func count(_ failure: RequestFailure, _ fact: Fact) {
    last = fact
    add(failure, fact)
  }

  /// Counts a failure in a note of a process that resumed late.
  ///
  /// Others had presumed its request lost, which is counted as a failure already.
  mutating func countNoted(_ fact: Fact) {
    guard let failure = fact.failure, failure.kind.isAnswered || failure.kind.isFinal else {
      return
    }
    if failure.kind.isAnswered { answeredLate += 1 }
    add(failure, fact)
  }

  private mutating func add(_ failure: RequestFailure, _ fact: Fact) {
    kinds[failure.kind, default: 0] += 1
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

/// The number of answered failures of each of these kinds.
struct AnswerTally: Hashable, Sendable {
  private(set) var refusesClient: UInt64 = 0
  private(set) var isNotThere: UInt64 = 0
  private(set) var demandsSignIn: UInt64 = 0
  /// Those with 500, which also a defect of the server can be that a single user meets.
  private(set) var isInternal: UInt64 = 0

  mutating func count(_ failure: RequestFailure) {
    if failure.serverCode.flatMap({ ErrorMeaning(code: $0) }) == .clientRefused {
      refusesClient += 1
    } else if failure.kind == .userNeeded || ServerReason(failure.serverCode) == .signIn {
      demandsSignIn += 1
    } else if failure.kind == .server, failure.status == 500 {
      isInternal += 1
    } else if failure.kind == .unexpected, failure.status == 404 || failure.status == 405 {
      isNotThere += 1
    }
  }
}
