extension SessionState {
  /// The state after `event`, or the rejection that names both (STA-2).
  ///
  /// Total over 3 states × 6 events; touches no clock and never traps.
  public func evolved(by event: SessionEvent, at time: Timestamp) throws(SessionRejection)
    -> SessionState
  {
    switch self {
    case .unauthenticated: try evolvedFromNothing(by: event, at: time)
    case .authenticated(let session): try evolved(session, by: event, at: time)
    case .expired(let session): try evolved(session, by: event, at: time)
    }
  }

  /// Moves to the state after `event`, or throws and stays.
  public mutating func evolve(_ event: SessionEvent, at time: Timestamp) throws(SessionRejection) {
    self = try evolved(by: event, at: time)
  }

  /// Whether the state has a successor by `event`.
  public func allows(_ event: SessionEvent) -> Bool {
    do {
      _ = try evolved(by: event, at: Timestamp(milliseconds: 0))
      return true
    } catch {
      return false
    }
  }

  private func evolvedFromNothing(by event: SessionEvent, at time: Timestamp)
    throws(SessionRejection) -> SessionState
  {
    switch event {
    case .login(let login): .authenticated(Authenticated(login, at: time))
    case .refreshSucceeded, .refreshFailed, .contextSwitched, .sessionExpired, .logout:
      throw rejection(of: event, .notAuthenticated)
    }
  }

  private func evolved(_ session: Authenticated, by event: SessionEvent, at time: Timestamp)
    throws(SessionRejection) -> SessionState
  {
    var next = session
    switch event {
    case .login:
      throw rejection(of: event, .alreadyAuthenticated)
    case .refreshSucceeded(let refresh):
      guard refresh.token.generation > session.token.generation else {
        throw rejection(of: event, .staleGeneration)
      }
      next.token = refresh.token
      next.failures = RefreshFailures()
    case .refreshFailed(let refresh):
      guard refresh.generation == session.token.generation else {
        throw rejection(of: event, .staleGeneration)
      }
      next.failures.count(refresh.failure)
    case .contextSwitched(let change):
      if let token = change.token {
        guard token.generation > session.token.generation else {
          throw rejection(of: event, .staleGeneration)
        }
        next.token = token
        next.failures = RefreshFailures()
      }
      next.context = change.context
    case .sessionExpired(let expiry):
      return .expired(
        Expired(user: session.user, context: session.context, reason: expiry.reason, since: time))
    case .logout:
      return .unauthenticated
    }
    return .authenticated(next)
  }

  private func evolved(_ session: Expired, by event: SessionEvent, at time: Timestamp)
    throws(SessionRejection) -> SessionState
  {
    switch event {
    case .login(let login):
      guard login.user == session.user else { throw rejection(of: event, .differentUser) }
      return .authenticated(Authenticated(login, at: time))
    case .refreshSucceeded, .refreshFailed, .contextSwitched, .sessionExpired:
      throw rejection(of: event, .expired)
    case .logout:
      return .unauthenticated
    }
  }

  private func rejection(of event: SessionEvent, _ reason: SessionRejection.Reason)
    -> SessionRejection
  {
    SessionRejection(state: kind, event: event.kind, reason: reason)
  }
}

extension SessionState.Authenticated {
  fileprivate init(_ login: SessionEvent.Login, at time: Timestamp) {
    self.init(
      user: login.user, method: login.method, since: time, token: login.token,
      context: login.context, failures: SessionState.RefreshFailures())
  }
}

extension SessionState.RefreshFailures {
  fileprivate mutating func count(_ failure: RequestFailure) {
    total = total == .max ? .max : total + 1
    if failure.kind.isAnswered { answered = answered == .max ? .max : answered + 1 }
    last = failure
  }
}
