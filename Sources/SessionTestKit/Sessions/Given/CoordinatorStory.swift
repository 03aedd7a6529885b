@_spi(Internals) package import SessionCore

/// Begins a story: a session under this policy, after these events, open and without pending work.
///
/// All items that belong to the session are stored.
///
/// ```swift
/// try given(.standard, .login(as: "ada"))
///   .when(.refresh(by: 1), .logout(by: 2), .answered(.token()))
///   .then(.state(.unauthenticated), .journals("requestSent", "logout", "revocationPending"))
/// ```
package func given(_ policy: SessionPolicy, _ events: SessionEvent...) -> CoordinatorStory {
  CoordinatorStory(policy: policy, given: events, when: [])
}

/// A step of a story: something that happens to a living session.
///
/// A test chooses the numbers of the callers.
package enum CoordinatorStep: Hashable, Sendable {
  /// A caller logs in with a password.
  case login(by: UInt64)
  /// A caller requests a newer token.
  case refresh(by: UInt64)
  /// A caller requests a valid token.
  case refreshIfNeeded(by: UInt64)
  /// A caller requests another context.
  case switchContext(by: UInt64)
  /// A caller logs out.
  case logout(by: UInt64)
  /// A caller stops waiting.
  case cancel(by: UInt64)
  /// The server answers the last request that was sent.
  case answered(ResponseMetadata)
  /// The last request that was sent fails.
  case failed(RequestFailure.Kind)
  /// A timer fires now.
  case timer(SessionTimer)
  /// This number of milliseconds passes.
  case after(Int64)
  /// The user sets the device's clock forward or back by this number of milliseconds.
  case clockIsSet(by: Int64)
  /// The next commit has this result.
  case nextCommit(CoordinatorBench.CommitEnding)
  /// The coordinator receives this input.
  case input(SessionInput)
}

extension CoordinatorStep {
  /// The step in words, for the text of an unexpected outcome.
  fileprivate var line: String {
    switch self {
    case .login(let caller): "caller \(caller) logs in"
    case .refresh(let caller): "caller \(caller) refreshes"
    case .refreshIfNeeded(let caller): "caller \(caller) refreshes if needed"
    case .switchContext(let caller): "caller \(caller) switches the context"
    case .logout(let caller): "caller \(caller) logs out"
    case .cancel(let caller): "caller \(caller) stops waiting"
    case .answered(let facts): "the request is answered, \(facts.line)"
    case .failed(let kind): "the request fails: \(kind)"
    case .timer(let timer): "timer \(timer) goes off"
    case .after(let milliseconds): "\(milliseconds) ms pass"
    case .clockIsSet(let milliseconds): "the civil time jumps by \(milliseconds) ms"
    case .nextCommit(let ending): "the next commit \(ending)"
    case .input(let input): "input \(input)"
    }
  }
}

/// A living session, and the steps that happen to it.
package struct CoordinatorStory: Sendable {
  let policy: SessionPolicy
  let given: [SessionEvent]
  let when: [CoordinatorStep]

  /// Adds steps to the story.
  package func when(_ steps: CoordinatorStep...) -> CoordinatorStory {
    CoordinatorStory(policy: policy, given: given, when: when + steps)
  }

  /// Runs the story, and checks the expectations.
  ///
  /// Throws `UnexpectedOutcome` with every effect of every step.
  package func then(
    _ expectations: CoordinatorExpectation..., fileID: String = #fileID, line: Int = #line
  ) throws(UnexpectedOutcome) {
    let outcome = outcome()
    let problems =
      outcome.impossible.map { [$0] } ?? expectations.compactMap { $0.problem(outcome) }
    guard !problems.isEmpty else { return }
    throw UnexpectedOutcome(
      given: ["policy \(policy.name)"] + given.map(\.line),
      when: outcome.trace, then: expectations.map(\.text),
      but: problems + ["the session is \(outcome.bench.coordinator.state.line)"],
      fileID: fileID, line: line)
  }

  struct Outcome {
    var bench: CoordinatorBench
    var effects: [SessionEffect] = []
    var request = RequestNumber(0)
    var trace: [String] = []
    var impossible: String?
    var givenRecords = 0
  }

  private func outcome() -> Outcome {
    var outcome = Outcome(bench: CoordinatorBench(policy))
    do throws(SessionFold.Failure) {
      outcome.bench = try CoordinatorBench(
        policy, journal: given.map(SessionRecord.Content.event))
    } catch {
      outcome.impossible = "the given state is impossible: \(error)"
      return outcome
    }
    var stored = StoredItemsReport.nothing
    switch outcome.bench.coordinator.state {
    case .unauthenticated: break
    case .authenticated(let session): stored = .session(session.token.generation.number)
    case .expired: (stored.user, stored.context) = (.present, .present)
    }
    outcome.bench.tell(.opened(stored))
    outcome.givenRecords = outcome.bench.journal.count
    for step in when { outcome.take(step) }
    return outcome
  }
}

extension CoordinatorStory.Outcome {
  fileprivate mutating func take(_ step: CoordinatorStep) {
    trace.append(step.line)
    switch step {
    case .login(let caller): tell(.login(Caller(caller), .password))
    case .refresh(let caller): tell(.refresh(Caller(caller), .manual, .always))
    case .refreshIfNeeded(let caller): tell(.refresh(Caller(caller), .manual, .ifExpired))
    case .switchContext(let caller): tell(.switchContext(Caller(caller)))
    case .logout(let caller): tell(.logout(Caller(caller)))
    case .cancel(let caller): tell(.cancelled(Caller(caller)))
    case .answered(let facts): tell(.answered(request, facts))
    case .failed(let kind): tell(.failed(request, RequestFailure(kind: kind), jitter: 0))
    case .timer(let timer): tell(.fired(timer))
    case .after(let milliseconds): bench.advance(by: milliseconds)
    case .clockIsSet(let milliseconds): bench.jump(by: milliseconds)
    case .nextCommit(let ending): bench.commitEndings.append(ending)
    case .input(let input): tell(input)
    }
  }

  private mutating func tell(_ input: SessionInput) {
    let new = bench.tell(input)
    effects += new
    request = new.request ?? request
    trace += new.map { "  → \($0.line)" }
  }

  /// The names of the records since the session was opened.
  var names: [String] { Array(bench.names.dropFirst(givenRecords)) }

  func replies(to caller: Caller) -> [SessionEffect.Reply] {
    effects.compactMap {
      if case .resume(caller, let reply) = $0 { reply } else { nil }
    }
  }
}

/// An expectation about a living session after the steps of a story.
package struct CoordinatorExpectation: Sendable {
  let text: String
  let problem: @Sendable (CoordinatorStory.Outcome) -> String?

  private init(
    _ text: String, _ problem: @escaping @Sendable (CoordinatorStory.Outcome) -> String?
  ) {
    self.text = text
    self.problem = problem
  }

  /// Expects the session to be in this state.
  package static func state(_ kind: SessionState.Kind) -> CoordinatorExpectation {
    CoordinatorExpectation("the session is \(kind)") { outcome in
      let actual = outcome.bench.coordinator.state.kind
      return actual == kind ? nil : "it is \(actual)"
    }
  }

  /// Expects exactly these records in the journal, by the names of their kinds.
  package static func journals(_ names: String...) -> CoordinatorExpectation {
    CoordinatorExpectation("journaled is \(names.joined(separator: ", "))") { outcome in
      outcome.names == names ? nil : "journaled is \(outcome.names.joined(separator: ", "))"
    }
  }

  /// Expects that this number of requests was sent.
  package static func sends(_ count: Int) -> CoordinatorExpectation {
    CoordinatorExpectation("\(count) requests are sent") { outcome in
      let actual = outcome.effects.sendCount
      return actual == count ? nil : "\(actual) were sent"
    }
  }

  /// Expects that the caller received exactly this reply, once.
  package static func reply(_ reply: SessionEffect.Reply, to caller: UInt64)
    -> CoordinatorExpectation
  {
    CoordinatorExpectation("caller \(caller) receives \(reply.line)") { outcome in
      let replies = outcome.replies(to: Caller(caller))
      if replies == [reply] { return nil }
      return "caller \(caller) receives \(replies.line)"
    }
  }

  /// Expects that the caller still waits.
  package static func waits(_ caller: UInt64) -> CoordinatorExpectation {
    CoordinatorExpectation("caller \(caller) waits") { outcome in
      let replies = outcome.replies(to: Caller(caller))
      return replies.isEmpty ? nil : "caller \(caller) receives \(replies.line)"
    }
  }

  /// Expects that the timer was last set to fire this number of milliseconds from now.
  package static func timer(_ timer: SessionTimer, in milliseconds: Int64)
    -> CoordinatorExpectation
  {
    CoordinatorExpectation("timer \(timer) is set for in \(milliseconds) ms") { outcome in
      guard let uptime = outcome.effects.uptime(of: timer) else { return "it is not set" }
      let actual = uptime.subtractingSaturating(outcome.bench.now.uptime)
      return actual == milliseconds ? nil : "it is set for in \(actual) ms"
    }
  }

  /// Expects this effect among the effects.
  package static func effect(_ effect: SessionEffect) -> CoordinatorExpectation {
    CoordinatorExpectation(effect.line) { outcome in
      outcome.effects.contains(effect) ? nil : "that is not among the effects"
    }
  }
}

extension [SessionEffect.Reply] {
  fileprivate var line: String {
    isEmpty ? "nothing" : map(\.line).joined(separator: ", and then ")
  }
}
