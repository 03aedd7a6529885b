@_spi(Internals) package import SessionCore
@_spi(Internals) package import SessionTestKit

/// A rule that every run of a coordinator must obey in every environment.
package enum CoordinatorRule: String, CaseIterable, Sendable {
  /// C1.
  ///
  /// - Requirement: OUT-4
  case signedOutIsQuiet = "C1 signed out, no request for a token leaves and none is kept"
  /// C2.
  ///
  /// - Requirement: REF-3, CTX-2
  case oneFlight = "C2 at most one request on the wire may change a token"
  /// C3.
  ///
  /// - Requirement: REF-3
  case everyCallerOnce = "C3 every caller is replied to exactly once"
  /// C4.
  case commitIsLast = "C4 a commit is the last effect of its list"
  /// C5.
  ///
  /// - Requirement: STA-2
  case commitsAreLegal = "C5 every commit's records can be folded"
  /// C6.
  ///
  /// - Requirement: OUT-4, REF-3
  case baseDecides = "C6 an answer counts exactly if its base generation is still current"
  /// C7.
  ///
  /// - Requirement: REF-6
  case networkEndsNothing = "C7 want of a network ends no session"
  /// C8.
  ///
  /// - Requirement: REF-8
  case clockJumpsChangeNothing = "C8 clock jumps neither extend nor cut a token's life"
  /// C9.
  case duplicatesAreHarmless = "C9 a reply that comes twice changes nothing"
  /// C10.
  ///
  /// - Requirement: POL-2
  case endsHaveOneCause = "C10 each end of a session has exactly one cause"
  /// C11.
  case cancelSparesOthers = "C11 cancelling one caller spares the others"
  /// C12.
  ///
  /// - Requirement: REF-1
  case refreshIsAlwaysDue = "C12 a refreshable session always has a refresh ahead"
  /// C13.
  case workIsBounded = "C13 one input leads to a bounded amount of work"
  /// C14.
  case waitersFinish = "C14 once faults stop, every waiter finishes in bounded time"
  /// C15.
  ///
  /// - Requirement: STA-7
  case publishedOnce = "C15 each event is published once, in order, and only when durable"
  /// C16.
  case repliesAreTrue = "C16 a caller is told of a success only when it is durable"
  /// C17.
  ///
  /// - Requirement: STA-1
  case stateIsTheFold = "C17 the live state is the fold of the journal, and the model agrees"
  /// C18.
  ///
  /// - Requirement: REF-3
  case leasesAreKept = "C18 another process's request is waited for"
  /// C19.
  ///
  /// - Requirement: STA-2, LOG-10
  case rejectionsChangeNothing = "C19 a rejected command changes no state and appends nothing"
  /// C22.
  ///
  /// - Requirement: REF-7
  case closingWaits = "C22 closing waits for the answer that is on its way"
  /// C24.
  ///
  /// - Requirement: RES-1
  case restoredIsStored = "C24 a restored session's token is the one that is stored"
  /// C25.
  ///
  /// - Requirement: REF-14
  case networkPutsNothingOff = "C25 a failure without an answer puts nothing off"
  /// C26.
  ///
  /// - Requirement: ACC-2
  case lockedIsQuiet = "C26 while the app is locked, no caller receives a token"

  /// All rules.
  package static let all = Set(allCases)
}

extension CoordinatorRun {
  /// The alphabet of exhaustive runs: moves that are enough to bring about every interaction.
  package enum Letter: String, CaseIterable, Sendable {
    case refresh, switchContext, logout, login, cancel, close
    case answer, loseReply, reject, again
    case timer, breakCommit
    case foreignRefresh, foreignRequest, foreignLogout, foreignLogin
  }

  /// Returns a run in which the user `ada` is logged in and nothing is pending.
  package static func signedIn(
    _ policy: SessionPolicy, rules: Set<CoordinatorRule>, isRefreshable: Bool = true
  ) throws(Falsified) -> CoordinatorRun {
    var run = CoordinatorRun(policy, rules: rules)
    try run.open()
    try run.make(.ask(.login(.password)))
    guard let request = run.wire.outstanding.first else { return run }
    try run.make(.answer(request.number, .login("ada", isRefreshable: isRefreshable)))
    return run
  }

  /// Returns the move of the letter in the current state; `nil` if it has none.
  package func move(_ letter: Letter) -> CoordinatorMove? {
    let request = wire.outstanding.first?.number
    switch letter {
    case .refresh: return .ask(.refresh(.manual, .always))
    case .switchContext: return .ask(.switchContext)
    case .logout: return .ask(.logout)
    case .login: return .ask(.login(.password))
    case .close: return callers.isClosed ? nil : .ask(.close)
    case .cancel: return callers.waiting.first.map { .cancel($0.caller) }
    case .answer: return request.map { .answer($0, .login("ada")) }
    case .loseReply:
      return request.map { .fail($0, RequestFailure(kind: .noReply), jitter: 0) }
    case .reject:
      return request.map { .fail($0, RequestFailure(kind: .rejected, status: 401), jitter: 0) }
    case .again: return wire.requests.last { $0.fate != .sent }.map { .again($0.number) }
    case .timer:
      return timers.min { ($0.value, "\($0.key)") < ($1.value, "\($1.key)") }
        .map { .fire($0.key) }
    case .breakCommit: return brokenCommits > 0 ? nil : .breakCommits(1, afterStoring: true)
    case .foreignRefresh: return .foreign(.rotates(lifetime: 3_600_000))
    case .foreignRequest: return .foreign(.sends(deadlineIn: 20_000))
    case .foreignLogout: return .foreign(.logsOut)
    case .foreignLogin: return .foreign(.logsIn("bob", lifetime: 3_600_000))
    }
  }
}

extension CoordinatorRun {
  /// Makes a run of drawn moves, records each as a step, and finishes the run.
  ///
  /// There are up to `length` moves. At the end faults stop, timers fire and the session is closed.
  /// If no policy is given, it is drawn. Throws the first rule that does not hold.
  package static func random(
    _ choices: Choices, policy: SessionPolicy? = nil, rules: Set<CoordinatorRule>,
    upTo length: Int = 60
  ) throws(Falsified) -> CoordinatorRun {
    let policy = policy ?? choices.usedPolicy()
    var run = CoordinatorRun(policy, rules: rules)
    run.hostClears = choices.chance(1, in: 3)
    try run.recorded(choices, "opened with policy \(policy.name)") { (run) throws(Falsified) in
      try run.open()
    }
    var failure: Falsified?
    choices.repeating(upTo: length, mean: 24) {
      guard failure == nil else { return }
      let move = choices.move(of: run)
      do throws(Falsified) {
        try run.recorded(choices, "\(move)") { (run) throws(Falsified) in try run.make(move) }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    try run.recorded(choices, "faults stop, timers go off, the session is closed") {
      (run) throws(Falsified) in try run.finish()
    }
    return run
  }

  private mutating func recorded(
    _ choices: Choices, _ text: String, _ body: (inout CoordinatorRun) throws(Falsified) -> Void
  ) throws(Falsified) {
    defer {
      choices.step(text, state: line)
      for effect in lastEffects { choices.step("  → \(effect.line)") }
    }
    try body(&self)
  }
}
