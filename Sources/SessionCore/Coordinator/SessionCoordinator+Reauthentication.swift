/// A login of the user who is signed in: the session goes on with the new tokens.
///
/// It is journaled as `refreshSucceeded` with the trigger `reauthentication`, so that the state stays
/// authenticated and readers of older versions can follow.
///
/// - Requirement: LOG-16
extension SessionCoordinator {
  mutating func reauthenticate(_ caller: Caller, _ method: LoginMethod, at now: ClockReading)
    -> [SessionEffect]
  {
    guard isRestored, stopped == nil, fold.kind == .authenticated else {
      return [.resume(caller, .failed(notAuthenticated(.refreshSucceeded)))]
    }
    // A new account is not the account of the session (STA-6).
    guard method != .registration else {
      return [.resume(caller, .failed(rejection(.login, .differentUser)))]
    }
    guard request?.isLogin != true, !reauthentication.isUnderWay else {
      return [.resume(caller, .failed(.busy))]
    }
    if let wait = pauseBeforeLogin(method, at: now) {
      return [.resume(caller, .failed(.tooManyAttempts(retryAfter: wait)))]
    }
    let number = nextRequest()
    reauthentication.begin(number, for: caller)
    return [.send(number, .login(caller))]
  }

  /// Makes a response that waits the request under way, and journals it; `nil` if none can be.
  ///
  /// If it has a refresh token, it does not wait for another process's refresh: that one's token is of no
  /// use any more. Without one, the present refresh token stays, and must not be sent twice.
  mutating func settleReauthentication(at now: ClockReading) -> [SessionEffect]? {
    guard request == nil, isRestored, fold.kind == .authenticated,
      let response = reauthentication.held,
      response.facts.hasRefreshToken || !peers.isWaiting && runningElsewhere(at: now) == nil,
      let caller = reauthentication.take()
    else { return nil }
    request = TokenRequest(
      number: response.number, purpose: .reauthenticate(caller), base: fold.generation)
    request?.left()
    request?.answered()
    let effects = settle(response, at: now)
    // If it was refused, other work goes on.
    return request == nil ? effects + begin(at: now) : effects
  }

  /// Journals the response, or refuses it and revokes its tokens.
  mutating func settleReauthentication(
    _ request: TokenRequest, _ arrival: TokenRequest.ReceivedResponse, at now: ClockReading
  ) -> [SessionEffect] {
    let facts = arrival.facts
    guard case .authenticated(let session) = state, facts.user != nil,
      !session.isOther(facts.user), facts.profileFailure == nil
    else {
      // A response without a user proves nothing: only the same user may go on with the session.
      let other = facts.user == nil ? RequestFailure(kind: .unreadable) : otherUser(in: facts)
      let problem = facts.profileFailure.map(CommandFailure.unidentified) ?? .request(other)
      return reauthenticationRefused(request, problem)
    }
    if !facts.hasRefreshToken, request.unjournaled == nil, runningElsewhere(at: now) != nil {
      self.request = nil
      reauthentication.putBack()
      return []
    }
    let contents = renewal(
      of: session, by: arrival, trigger: .reauthentication, attempt: 1, request: 0)
    // Another process may have stored a newer token, and died before it journaled that.
    return commit(
      contents, for: .settle(arrival), at: now, storing: request.number,
      doubting: request.unjournaled?.obstacle.isStored != true)
  }

  mutating func reauthenticationRefused(_ refused: TokenRequest, _ problem: CommandFailure)
    -> [SessionEffect]
  {
    request = nil
    reauthentication.settled()
    return [discard(refused.number, revoking: true)]
      + resume(refused.owner.map { [$0] } ?? [], .failed(problem))
  }

  /// Ends a login whose request failed, or that named no token; empty if it is of another request.
  mutating func reauthenticationFailed(_ number: RequestNumber, _ problem: CommandFailure)
    -> [SessionEffect]?
  {
    guard reauthentication.isAsking(number), let ended = reauthentication.end() else { return nil }
    return [.resume(ended.caller, .failed(problem))]
  }

  /// Ends a login whose stored token another process, or this one, has journaled by its announcement.
  ///
  /// To store it again would put a refresh token that is spent in the place of a newer one.
  mutating func endRecoveredReauthentication() -> [SessionEffect] {
    guard let landed = request, case .reauthenticate = landed.purpose,
      landed.unjournaled?.obstacle.isStored == true
    else { return [] }
    request = nil
    reauthentication.settled()
    return [discard(landed.number, revoking: false), .cancel(.commit)]
  }

  /// Drops a login that no caller waits for; its tokens are revoked.
  mutating func dropReauthentication() -> (effects: [SessionEffect], caller: Caller)? {
    guard let dropped = reauthentication.end() else { return nil }
    guard dropped.isHeld else {
      late.abandon(dropped.number)
      return ([], dropped.caller)
    }
    return ([discard(dropped.number, revoking: true)], dropped.caller)
  }
}
