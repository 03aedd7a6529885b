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

  /// Makes a response that waits the request under way, and journals it.
  ///
  /// It does not wait for another process's refresh: that process sees that its token is of no use any more.
  mutating func settleReauthentication(at now: ClockReading) -> [SessionEffect]? {
    guard request == nil, isRestored, fold.kind == .authenticated,
      let (response, caller) = reauthentication.take()
    else { return nil }
    request = TokenRequest(
      number: response.number, purpose: .reauthenticate(caller), base: fold.generation)
    request?.left()
    request?.answered()
    return settle(response, at: now)
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
    let contents = renewal(
      of: session, by: arrival, trigger: .reauthentication, attempt: 1, request: 0)
    // Another process may have stored a newer token, and died before it journaled that. After a failed
    // commit the newer one can be this response's own.
    return commit(
      contents, for: .settle(arrival), at: now, storing: request.number,
      doubting: request.unjournaled == nil)
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
