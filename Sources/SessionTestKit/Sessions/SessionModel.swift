@_spi(Internals) public import SessionCore

/// A reference model of a session: its user, token, context and failed refreshes.
///
/// It follows `Specs/Transitions.md`, is independent of the code under test, and is slower and
/// simpler. Generated runs are compared with it.
///
/// - Requirement: TST-1
public struct SessionModel: Hashable, Sendable {
  /// The kind of the state.
  public private(set) var state = SessionState.Kind.unauthenticated
  /// The user, also in an expired session.
  public private(set) var user: Identifier?
  /// The generation of the current token; 0 if there is none.
  public private(set) var token: UInt64 = 0
  /// The highest generation that any token has had.
  public private(set) var newest: UInt64 = 0
  /// Whether there is a refresh token.
  public private(set) var isRefreshable = false
  /// The active context, also in an expired session.
  public private(set) var context: ActiveContext?
  /// The number of failed refreshes since the current token was issued.
  public private(set) var failed: UInt32 = 0
  /// The number of these failures that a server answered.
  public private(set) var answered: UInt32 = 0

  /// Creates a model without a user.
  public init() {}

  /// Returns why `event` is illegal now; `nil` if it is legal.
  public func objection(to event: SessionEvent) -> SessionRejection.Reason? {
    let number = event.announcedToken?.generation.number
    if let number, number <= newest { return .staleGeneration }
    switch (state, event) {
    case (.unauthenticated, .login): return nil
    case (.unauthenticated, _): return .notAuthenticated
    case (.authenticated, .login): return .alreadyAuthenticated
    case (.authenticated, .refreshFailed(let refresh)):
      return refresh.generation.number == token ? nil : .staleGeneration
    case (.authenticated, _): return nil
    case (.expired, .login(let login)): return login.user == user ? nil : .differentUser
    case (.expired, .logout): return nil
    case (.expired, _): return .expired
    }
  }

  /// Applies `event`; an illegal event changes nothing.
  public mutating func take(_ event: SessionEvent) {
    guard objection(to: event) == nil else { return }
    if let facts = event.announcedToken {
      (token, newest) = (facts.generation.number, facts.generation.number)
      (isRefreshable, failed, answered) = (facts.isRefreshable, 0, 0)
    }
    switch event {
    case .login(let login):
      (state, user, context) = (.authenticated, login.user, login.context)
    case .refreshSucceeded:
      break
    case .refreshFailed(let refresh):
      failed += 1
      let unanswered: [RequestFailure.Kind] = [
        .noConnection, .noReply, .noRefreshToken, .secretsUnavailable, .intercepted, .proofKeyLost,
      ]
      if !unanswered.contains(refresh.failure.kind) { answered += 1 }
    case .contextSwitched(let change):
      context = change.context
    case .sessionExpired:
      (state, token, isRefreshable, failed, answered) = (.expired, 0, false, 0, 0)
    case .logout:
      let last = newest
      self = SessionModel()
      newest = last
    }
  }

  /// Returns the differences to `fold` in words; `nil` if there is none.
  package func disagreement(with fold: SessionFold) -> String? {
    var differences: [String] = []
    func compare<Value: Equatable>(_ name: String, _ mine: Value, _ theirs: Value) {
      if mine != theirs { differences.append("\(name): model \(mine), fold \(theirs)") }
    }
    var (failures, context) = (SessionState.RefreshFailures(), fold.state.activeContext)
    if case .authenticated(let session) = fold.state { failures = session.failures }
    if case .expired(let session) = fold.state { context = session.context }
    compare("state", state, fold.state.kind)
    compare("user", user, fold.state.user)
    compare("token", token, fold.state.token?.generation.number ?? 0)
    compare("newest token", newest, fold.generation.number)
    compare("refreshable", isRefreshable, fold.state.token?.isRefreshable ?? false)
    compare("failures", failed, failures.total)
    compare("answered failures", answered, failures.answered)
    if self.context != context { differences.append("the contexts differ") }
    return differences.isEmpty ? nil : differences.joined(separator: "; ")
  }
}

/// A session that draws lead from event to event, between the actions of a test.
///
/// ```swift
/// var walk = SessionWalk()
/// while choices.chance(15, in: 16) {
///   if choices.chance(1, in: 2) { app.type("x") } else { app.receive(walk.step(choices)) }
/// }
/// ```
/// The events have payloads as generators draw them. The state is their fold.
public struct SessionWalk: Sendable {
  /// The fold of the events so far.
  package private(set) var fold = SessionFold()
  /// The reference model after the same events.
  public private(set) var model = SessionModel()
  /// The events so far, in order.
  public private(set) var events: [RecordedEvent] = []

  /// Creates a walk without a user.
  public init() {}

  /// The state after the last event.
  public var state: SessionState { fold.state }

  /// Draws a legal event, and applies it.
  ///
  /// The event is recorded as a step with the resulting state. Its row of the transition table
  /// becomes a label of the case.
  @discardableResult
  public mutating func step(_ choices: Choices) -> SessionEvent {
    let event = choices.legalEvent(after: model)
    if let row = TransitionRow(event, after: model) { choices.label(row.label) }
    take(event)
    choices.step(event.line, state: state.line)
    return event
  }

  /// Applies an event; returns the rejection if it is illegal, and then nothing changes.
  @discardableResult
  public mutating func take(_ event: SessionEvent) -> SessionRejection? {
    let recorded = RecordedEvent(
      sequence: fold.sequence + 1,
      time: Timestamp.plainStart.advanced(by: Int64(clamping: fold.sequence) * 1_000),
      event: event)
    do {
      try fold.apply(
        SessionRecord(
          sequence: recorded.sequence, time: recorded.time, content: .event(event)))
    } catch {
      guard case .illegal(let rejection, _) = error else { return nil }
      return rejection
    }
    model.take(event)
    events.append(recorded)
    return nil
  }
}

extension Choices {
  /// Draws an event that is legal next, with any payload; the simplest has plain values.
  public func legalEvent(after model: SessionModel) -> SessionEvent {
    legalEvent(model, request: 0)
  }

  /// Draws an event whose user and token are near those of the session: legal or almost legal.
  public func nearEvent(after model: SessionModel) -> SessionEvent {
    nearEvent(model)
  }
}

/// A row of the transition table (`Specs/Transitions.md`): a state, a kind of event and a
/// condition.
///
/// Its label, such as `authenticated refreshFailed current token`, names the row in the report of a
/// case. So a property can require rows:
///
/// ```swift
/// Property("…", requiredLabels: TransitionRow.legal.map(\.label)).check { choices in
///   var walk = SessionWalk()
///   while choices.chance(15, in: 16) { walk.step(choices) }    // labels each row that it meets
/// }
/// ```
///
/// - Requirement: TST-1
public struct TransitionRow: Hashable, Sendable, CustomStringConvertible {
  /// The state before the event.
  public let state: SessionState.Kind
  /// The kind of the event.
  public let event: SessionEvent.Kind
  /// The condition that distinguishes rows of the same state and kind; empty if there is only one.
  public let condition: String
  /// Whether the event is legal.
  public let isLegal: Bool

  /// Finds the row of an event, using only the model; `nil` if there is none.
  ///
  /// An event whose token is not newer than all before is rejected before the table applies. It has
  /// a row only if the table has one for such a token. An event is legal if and only if it has a
  /// row whose `isLegal` is `true`.
  public init?(_ event: SessionEvent, after model: SessionModel) {
    let number = event.announcedToken?.generation.number
    let condition =
      switch (model.state, event) {
      case (.authenticated, .refreshSucceeded):
        (number ?? 0) > model.token ? "newer token" : "token not newer"
      case (.authenticated, .refreshFailed(let refresh)):
        refresh.generation.number == model.token ? "current token" : "another token"
      case (.authenticated, .contextSwitched):
        number.map { $0 > model.token ? "newer token" : "token not newer" } ?? "no token"
      case (.expired, .login(let login)):
        login.user == model.user ? "same user" : "another user"
      default: ""
      }
    self.init(model.state, event.kind, condition)
    let isStale = number.map { $0 <= model.newest } ?? false
    guard !isStale || condition == "token not newer" else { return nil }
  }

  private init(_ state: SessionState.Kind, _ event: SessionEvent.Kind, _ condition: String) {
    (self.state, self.event, self.condition) = (state, event, condition)
    isLegal =
      switch (state, event) {
      case (.unauthenticated, .login), (.expired, .logout): true
      case (.unauthenticated, _), (.authenticated, .login): false
      case (.authenticated, _): !["token not newer", "another token"].contains(condition)
      case (.expired, .login): condition == "same user"
      case (.expired, _): false
      }
  }

  /// The row as a label for a case.
  public var label: String {
    "\(state.rawValue) \(event)" + (condition.isEmpty ? "" : " \(condition)")
  }

  /// The label.
  public var description: String { label }

  /// All rows of the table, in its order.
  public static let all: [TransitionRow] =
    SessionState.Kind.allCases.flatMap { state in
      SessionEvent.Kind.allCases.flatMap { event in
        conditions(state, event).map { TransitionRow(state, event, $0) }
      }
    }

  /// The rows of legal events.
  public static let legal = all.filter(\.isLegal)

  private static func conditions(_ state: SessionState.Kind, _ event: SessionEvent.Kind)
    -> [String]
  {
    switch (state, event) {
    case (.authenticated, .refreshSucceeded): ["newer token", "token not newer"]
    case (.authenticated, .refreshFailed): ["current token", "another token"]
    case (.authenticated, .contextSwitched): ["newer token", "token not newer", "no token"]
    case (.expired, .login): ["same user", "another user"]
    default: [""]
    }
  }
}
