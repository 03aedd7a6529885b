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
        .noConnection, .noReply, .noRefreshToken, .secretsUnavailable, .intercepted,
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
