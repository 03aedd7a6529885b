extension SessionCoordinator {
  mutating func switchContext(_ caller: Caller, at now: ClockReading) -> [SessionEffect] {
    guard isRestored, stopped == nil, fold.kind == .authenticated else {
      return [.resume(caller, .failed(notAuthenticated(.contextSwitched)))]
    }
    guard !isLocked else { return [.resume(caller, .failed(.appLocked))] }
    callers.add(caller, for: .context)
    return settleAgain(at: now)
  }

  /// Sends the oldest waiting request for another context; never at the same time as a refresh.
  ///
  /// - Requirement: CTX-2
  mutating func startSwitch(at now: ClockReading) -> [SessionEffect] {
    guard request == nil, callers.isEmpty(.close), !callers.isEmpty(.context),
      let token = state.token,
      runningElsewhere(at: now) == nil
    else { return [] }
    var contents: [SessionRecord.Content] = []
    if let open = fold.intents.request {
      // A request whose response is lost may have replaced the token with which the switch would be
      // made.
      guard !token.isRefreshable else { return startRefresh(.command, at: now) }
      contents.append(lost(open, at: now))
    }
    let needsFreshView = !contents.isEmpty
    guard let caller = callers.takeFirst(.context) else { return [] }
    request = TokenRequest(
      number: nextRequest(), purpose: .switchContext(caller), base: token.generation)
    contents.append(
      sent(.switchContext, token.generation, trigger: .command, attempt: 1, at: now))
    return commit(contents, for: .send, at: now, doubting: needsFreshView)
  }

  /// Whether the batch says that the response to a switch is lost: the server may have replaced the
  /// token.
  ///
  /// Call it before the batch is folded.
  func losesSwitch(_ durable: PendingCommit) -> Bool {
    guard let open = fold.intents.request, open.sent.kind == .switchContext else { return false }
    return open.sent.generation == state.token?.generation && durable.loses(open)
  }

  /// Refreshes after a lost response, which may have held the only token that the server accepts.
  ///
  /// At once, while the server may still accept the old token. If that response was lost too, the
  /// usual delay applies.
  ///
  /// - Requirement: REF-7
  mutating func refreshInDoubt() {
    guard request == nil, case .authenticated(let session) = state, session.token.isRefreshable,
      session.failures.last?.kind != .noReply
    else { return }
    schedule.request(.retry)
  }

  mutating func settleSwitch(
    _ request: TokenRequest, _ arrival: TokenRequest.ReceivedResponse, at now: ClockReading
  ) -> [SessionEffect] {
    guard case .authenticated(let session) = state, session.token.generation == request.base else {
      self.request = nil
      noteUnusedResponse(to: request)
      let problem = rejection(.contextSwitched, .staleGeneration)
      return [discard(request.number, revoking: fold.kind != .authenticated)]
        + resume(request.owner.map { [$0] } ?? [], .failed(problem))
    }
    guard !session.isOther(arrival.facts.user) else {
      return [discard(request.number, revoking: true)]
        + fail(otherUser(in: arrival.facts), jitter: 0, at: now)
    }
    // A new refresh token means that the previous one is spent. It is kept, with the previous
    // context.
    let known = arrival.facts.hasRefreshToken ? session.context : nil
    guard let context = arrival.facts.namedContext ?? known else {
      return [.discard(request.number, revoking: false)]
        + fail(RequestFailure(kind: .unreadable), jitter: 0, at: now)
    }
    let token = tokenFacts(
      arrival, isRefreshable: arrival.facts.isRefreshable || session.token.isRefreshable)
    let event = SessionEvent.ContextSwitched(
      context: context, token: token, trigger: .user, request: request.intent)
    return commit(
      [.event(.contextSwitched(event))], for: .settle(arrival), at: now, storing: request.number)
  }
}

extension ResponseMetadata {
  /// The context that the response names, as an object or by a claim of its token.
  var namedContext: ActiveContext? { context ?? tokenContext }
}

extension SessionState.Authenticated {
  /// Whether a response to a request of this session names another user.
  ///
  /// The shell reads a user from the response only if the source that named the session's user speaks,
  /// or if another source agrees.
  ///
  /// - Requirement: LOG-12
  func isOther(_ named: Identifier?) -> Bool {
    named.map { $0 != user } ?? false
  }
}

/// Returns the failure of a response that names another user, with the source of that name.
func otherUser(in facts: ResponseMetadata) -> RequestFailure {
  RequestFailure(kind: .otherUser, serverCode: facts.namedBy?.rawValue)
}
