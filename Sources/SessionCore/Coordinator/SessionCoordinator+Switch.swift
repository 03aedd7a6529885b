extension SessionCoordinator {
  mutating func switchContext(_ caller: Caller, at now: Moment) -> [SessionEffect] {
    guard isRestored, stopped == nil, state.kind == .authenticated else {
      return [.resume(caller, .failed(notAuthenticated(.contextSwitched)))]
    }
    switches.append(caller)
    return settleAgain(at: now)
  }

  /// Sends the oldest request for another context that waits; never beside a refresh (CTX-2).
  mutating func startSwitch(at now: Moment) -> [SessionEffect] {
    guard flight == nil, closers.isEmpty, !switches.isEmpty, let token = state.token,
      runningElsewhere(at: now) == nil
    else { return [] }
    var contents: [SessionRecord.Content] = []
    if let open = fold.intents.request {
      // A refresh whose answer is lost may have replaced the token that the switch would carry.
      guard open.sent.kind != .refresh || !token.isRefreshable else {
        return startRefresh(.command, at: now)
      }
      contents.append(lost(open, at: now))
    }
    let caller = switches.removeFirst()
    flight = SessionFlight(
      number: nextRequest(), purpose: .switchContext(caller), base: token.generation)
    contents.append(
      sent(.switchContext, token.generation, trigger: .command, attempt: 1, at: now))
    return commit(contents, for: .send, at: now)
  }

  mutating func settleSwitch(
    _ flight: SessionFlight, _ arrival: SessionFlight.Arrival, at now: Moment
  ) -> [SessionEffect] {
    guard case .authenticated(let session) = state, session.token.generation == flight.base else {
      self.flight = nil
      let problem = rejection(.contextSwitched, .staleGeneration)
      return [.discard(flight.number, revoking: state.kind != .authenticated)]
        + resume(flight.owner.map { [$0] } ?? [], .failed(problem))
    }
    // The token before is spent where there is a new refresh token: it is kept, in the context as it was.
    let known = arrival.facts.hasRefreshToken ? session.context : nil
    guard let context = arrival.facts.namedContext ?? known else {
      return [.discard(flight.number, revoking: false)]
        + fail(RequestFailure(kind: .unreadable), jitter: 0, at: now)
    }
    let token = tokenFacts(
      arrival, isRefreshable: arrival.facts.hasRefreshToken || session.token.isRefreshable)
    let event = SessionEvent.ContextSwitched(
      context: context, token: token, trigger: .user, request: flight.note)
    return commit(
      [.event(.contextSwitched(event))], for: .settle(arrival), at: now, storing: flight.number)
  }
}

extension AnswerFacts {
  /// The context that the answer names, as an object or by a claim of its token.
  var namedContext: ActiveContext? { context ?? tokenContext }
}
