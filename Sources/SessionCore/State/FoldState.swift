/// A session's state in a flat layout, with one function for each event (`Specs/Transitions.md`).
///
/// The flat layout lets an event change a few fields in place. A rejected event changes nothing.
/// Fields that the current state does not have keep their initial values.
struct FoldState: Hashable, Sendable {
  // It has fields that a state does not have, so each rule resets them. Properties F1 and S1
  // compare whether equal states have equal fold states.

  /// The name of the state.
  private(set) var kind = SessionState.Kind.unauthenticated

  // These fields belong to an authenticated or an expired session.
  private var user = Identifier.none
  private var since = Timestamp(milliseconds: 0)
  private var context: ActiveContext?

  // These fields belong to an authenticated session.
  private var method = LoginMethod.password
  private var token = TokenMetadata.none
  private var failures = SessionState.RefreshFailures()

  // This field belongs to an expired session.
  private var reason = ExpiryReason.tokenExpired

  /// Creates the state without a user.
  init() {}

  init(_ state: SessionState) {
    switch state {
    case .unauthenticated: break
    case .authenticated(let session):
      kind = .authenticated
      (user, since, context) = (session.user, session.since, session.context)
      (method, token, failures) = (session.method, session.token, session.failures)
    case .expired(let session):
      kind = .expired
      (user, since, context) = (session.user, session.since, session.context)
      reason = session.reason
    }
  }

  /// The same state as an enumeration.
  var state: SessionState {
    switch kind {
    case .unauthenticated: .unauthenticated
    case .authenticated:
      .authenticated(
        SessionState.Authenticated(
          user: user, method: method, since: since, token: token, context: context,
          failures: failures))
    case .expired:
      .expired(
        SessionState.Expired(user: user, context: context, reason: reason, since: since))
    }
  }

  /// The user of the session; `nil` if there is none.
  var owner: Identifier? { kind == .unauthenticated ? nil : user }

  /// The generation of the current token; `nil` unless authenticated.
  var tokenGeneration: Generation? { kind == .authenticated ? token.generation : nil }

  mutating func apply(_ event: SessionEvent, at time: Timestamp) throws(SessionRejection) {
    switch event {
    case .login(let login):
      try self.login(
        login.user, by: login.method, token: login.token, context: login.context, at: time)
    case .refreshSucceeded(let refresh): try refreshSucceeded(refresh.token)
    case .refreshFailed(let refresh):
      try refreshFailed(with: refresh.generation, by: refresh.failure)
    case .contextSwitched(let change): try contextSwitched(to: change.context, token: change.token)
    case .sessionExpired(let expiry): try sessionExpired(expiry.reason, at: time)
    case .logout: try logout()
    }
  }

  @inline(__always)
  mutating func login(
    _ user: Identifier, by method: LoginMethod, token: TokenMetadata, context: ActiveContext?,
    at time: Timestamp
  ) throws(SessionRejection) {
    switch kind {
    case .authenticated: throw rejection(of: .login, .alreadyAuthenticated)
    case .expired:
      guard user == self.user else { throw rejection(of: .login, .differentUser) }
      reason = .tokenExpired
    case .unauthenticated: break
    }
    kind = .authenticated
    self.user = user
    since = time
    self.context = context
    self.method = method
    self.token = token
  }

  @inline(__always)
  mutating func refreshSucceeded(_ token: TokenMetadata) throws(SessionRejection) {
    try requireUser(for: .refreshSucceeded)
    try replace(by: token, in: .refreshSucceeded)
  }

  @inline(__always)
  mutating func refreshFailed(
    with generation: Generation, by failure: RequestFailure
  ) throws(SessionRejection) {
    try requireUser(for: .refreshFailed)
    guard generation == token.generation else {
      throw rejection(of: .refreshFailed, .staleGeneration)
    }
    failures.count(failure)
  }

  @inline(__always)
  mutating func contextSwitched(to context: ActiveContext?, token: TokenMetadata?)
    throws(SessionRejection)
  {
    try requireUser(for: .contextSwitched)
    if let token { try replace(by: token, in: .contextSwitched) }
    self.context = context
  }

  @inline(__always)
  mutating func sessionExpired(_ reason: ExpiryReason, at time: Timestamp) throws(SessionRejection)
  {
    try requireUser(for: .sessionExpired)
    var expired = FoldState()
    expired.kind = .expired
    (expired.user, expired.since, expired.context) = (user, time, context)
    expired.reason = reason
    self = expired
  }

  @inline(__always)
  mutating func logout() throws(SessionRejection) {
    guard kind != .unauthenticated else { throw rejection(of: .logout, .notAuthenticated) }
    self = FoldState()
  }

  /// Sets the values that were left out when the events were folded.
  mutating func complete(token: TokenMetadata?, context: ActiveContext?) {
    if let token { self.token = token }
    if let context { self.context = context }
  }

  @inline(__always)
  private mutating func replace(by token: TokenMetadata, in event: SessionEvent.Kind)
    throws(SessionRejection)
  {
    guard token.generation > self.token.generation else {
      throw rejection(of: event, .staleGeneration)
    }
    self.token = token
    if failures.total > 0 { failures = SessionState.RefreshFailures() }
  }

  /// Rejects an event that needs a logged-in user.
  @inline(__always)
  private func requireUser(for event: SessionEvent.Kind) throws(SessionRejection) {
    // Also after an expiry: nothing that ended comes back by a late response. A rule without
    // exceptions can be checked, and the token item is wiped at the expiry, so there is nothing
    // left to refresh with. The ways out are a login of the same user, also a silent one, and a
    // logout.
    guard kind == .authenticated else {
      throw rejection(of: event, kind == .expired ? .expired : .notAuthenticated)
    }
  }

  private func rejection(of event: SessionEvent.Kind, _ reason: SessionRejection.Reason)
    -> SessionRejection
  {
    SessionRejection(state: kind, event: event, reason: reason)
  }
}

extension Identifier {
  fileprivate static let none = Identifier(uuidHigh: 0, low: 0)
}

extension TokenMetadata {
  fileprivate static let none = TokenMetadata(
    generation: .none, issuedAt: Timestamp(milliseconds: 0), expiresAt: Timestamp(milliseconds: 0),
    isRefreshable: false)
}

extension SessionState.RefreshFailures {
  fileprivate mutating func count(_ failure: RequestFailure) {
    total = total == .max ? .max : total + 1
    if failure.kind.isAnswered { answered = answered == .max ? .max : answered + 1 }
    last = failure
  }
}
