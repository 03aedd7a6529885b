extension SessionCoordinator {
  mutating func login(_ caller: Caller, _ method: LoginMethod, at now: ClockReading)
    -> [SessionEffect]
  {
    if let stopped { return [.resume(caller, .failed(stopped))] }
    guard isRestored || needsUpdate else { return [.resume(caller, .failed(.locked))] }
    if method == .adoption, !adopts { return [.resume(caller, .notAdopted)] }
    guard fold.kind != .authenticated || needsUpdate || isNotRenewed(at: now) else {
      return [.resume(caller, .failed(rejection(.login, .alreadyAuthenticated)))]
    }
    // A new account is not the account of the expired session (STA-6).
    guard method != .registration || fold.kind == .unauthenticated else {
      return [.resume(caller, .failed(rejection(.login, .differentUser)))]
    }
    guard request == nil, !reauthentication.isUnderWay else {
      return [.resume(caller, .failed(.busy))]
    }
    if let wait = pauseBeforeLogin(method, at: now) {
      return [.resume(caller, .failed(.tooManyAttempts(retryAfter: wait)))]
    }
    lastProblem = nil
    let number = nextRequest()
    // Adopted tokens belong to the app's old layer.
    if method == .adoption { late.adopt(number) }
    request = TokenRequest(number: number, purpose: .login(caller, method), base: fold.generation)
    return [.send(number, .login(caller))]
  }

  /// Counts an attempt; returns the milliseconds until another one is allowed, if this one is not.
  ///
  /// A login that sends no credential and asks no user does not count.
  mutating func pauseBeforeLogin(_ method: LoginMethod, at now: ClockReading) -> Int64? {
    guard method != .adoption, method != .silent, let limit = policy.loginsPerMinute else {
      return nil
    }
    return signInTries.admit(at: now.uptime, under: limit)
  }

  /// Whether tokens of an app's old layer are adopted.
  ///
  /// Not if there has ever been a token: a session that has ended must not return with the old
  /// layer's tokens. Not if the journal continues a quarantined one: that may have had a token that
  /// cannot be read.
  ///
  /// - Requirement: LOG-9
  private var adopts: Bool { fold.generation == .none && !continuesAnother }

  /// Journals the response to a login, or rejects it and revokes its tokens.
  ///
  /// - Requirement: LOG-10, STA-6
  mutating func settleLogin(
    _ request: TokenRequest, _ caller: Caller, _ method: LoginMethod,
    _ arrival: TokenRequest.ReceivedResponse, at now: ClockReading
  ) -> [SessionEffect] {
    guard let user = arrival.facts.user else {
      let problem =
        arrival.facts.profileFailure.map(CommandFailure.unidentified)
        ?? .request(RequestFailure(kind: .unreadable))
      return loginRefused(request, caller, problem)
    }
    if method == .adoption, !adopts {
      self.request = nil
      return [discard(request.number, revoking: false), .resume(caller, .notAdopted)]
    }
    let event = SessionEvent.login(
      SessionEvent.Login(
        user: user, method: arrival.facts.method ?? method,
        token: tokenFacts(arrival, isRefreshable: arrival.facts.isRefreshable),
        context: arrival.facts.context ?? arrival.facts.tokenContext))
    let replaced = replacedSession(at: now)
    do {
      var before = state
      for case .event(let end) in replaced { before = try before.evolved(by: end, at: now.time) }
      _ = try before.evolved(by: event, at: now.time)
    } catch {
      return loginRefused(request, caller, .rejected(error))
    }
    // The session ends in a batch of its own, so that its tokens are revoked (OUT-6).
    if !needsUpdate, !replaced.isEmpty { return commit(replaced, for: .replace(arrival), at: now) }
    var end =
      arrival.facts.profileFailure.map { ending(by: .profileFailed($0), at: now).events } ?? []
    if end.isEmpty, let stated = arrival.sessionEnd, stated <= now.uptime {
      end = ending(by: .tooOld, at: now).events
    }
    guard !end.isEmpty else {
      return commit(
        replaced + [.event(event)], for: .settle(arrival), at: now, storing: request.number)
    }
    // The login of a user who may not log in, or whose session is over, is journaled, but nothing of
    // it is stored.
    return commit(replaced + [.event(event)] + end, for: .settle(arrival), at: now)
  }

  /// The end of a session that a login replaces: only a newer version can read its stored items, or
  /// it is not renewed.
  ///
  /// It is journaled with the login, not before. So a wrong password loses nothing.
  ///
  /// - Requirement: RES-8
  private func replacedSession(at now: ClockReading) -> [SessionRecord.Content] {
    guard fold.kind == .authenticated else { return [] }
    if needsUpdate { return ending(by: .replaced, at: now).events }
    return isNotRenewed(at: now) ? ending(by: .notRenewed, at: now).events : []
  }

  /// Whether the token has ended, and the server needs the user, or a server or something in its place
  /// answered more than one attempt to renew it with a failure.
  ///
  /// Such a failure may last, although it does not end the session: a client that is not accepted, or
  /// a response that cannot be read. A user who could not log in again would be locked out.
  private func isNotRenewed(at now: ClockReading) -> Bool {
    guard case .authenticated(let session) = state, !isTokenGood(at: now.uptime) else {
      return false
    }
    if fold.intents.need?.needed.isOfCall == false { return true }
    // One condition a line: the optimizer of Swift 6.3.1 fails on all of them in one expression.
    if session.failures.answered > 1 { return true }
    // Answers in the server's place (`intercepted`) are not counted as answered.
    guard session.failures.total > 1, let last = session.failures.last else { return false }
    return last.kind == .intercepted
  }

  /// Follows a durable login that ended at once.
  ///
  /// The user may not log in, or the session's stated end has passed.
  ///
  /// - Requirement: LOG-6, POL-10
  mutating func loginEnded(
    _ landed: TokenRequest, by failure: RequestFailure?, publishing events: [RecordedEvent]
  ) -> [SessionEffect] {
    request = nil
    let problem = CommandFailure.ended(fold.kind, by: failure)
    lastProblem = failure.map(CommandFailure.request) ?? problem
    return [.cancel(.commit), discard(landed.number, revoking: true)]
      + resume(landed.owner.map { [$0] } ?? [], .failed(problem))
      + publish(events) + wipeItems()
  }

  /// Handles a registration without a login: the account exists, and its user may log in now.
  mutating func accountCreated(_ number: RequestNumber) -> [SessionEffect] {
    late.end(number)
    // Without a token it is unknown whether the user authenticated.
    let none = CommandFailure.request(RequestFailure(kind: .unreadable))
    if let ended = reauthenticationFailed(number, none) { return ended }
    guard let landed = request, landed.number == number, landed.isLogin else { return [] }
    request = nil
    lastProblem = nil
    return resume(landed.owner.map { [$0] } ?? [], .accountCreated)
  }

  /// Handles a sign-in with an identity provider that failed.
  ///
  /// It becomes the activity `failed` only after an error, and never for a silent sign-in.
  ///
  /// - Requirement: LOG-5, STA-3
  mutating func notSignedIn(_ number: RequestNumber, _ problem: WebSignInProblem) -> [SessionEffect]
  {
    late.end(number)
    if let ended = reauthenticationFailed(number, .webSignIn(problem)) { return ended }
    guard let landed = request, landed.number == number,
      case .login(let caller, let method) = landed.purpose
    else { return [] }
    request = nil
    lastProblem = problem.isQuiet || method == .silent ? nil : .webSignIn(problem)
    return [.resume(caller, .failed(.webSignIn(problem)))]
  }

  private mutating func loginRefused(
    _ refused: TokenRequest, _ caller: Caller, _ problem: CommandFailure
  ) -> [SessionEffect] {
    request = nil
    lastProblem = problem
    return [
      discard(refused.number, revoking: true), .resume(caller, .failed(problem)),
    ]
  }
}

/// Requests the user's profile at an opening and with a login.
///
/// - Requirement: LOG-6
extension SessionCoordinator {
  /// Requests the profile once after opening, as soon as there is a valid token and no other work.
  mutating func requestProfileIfOwed(at now: ClockReading) -> [SessionEffect] {
    guard owesProfile, !holdsRequests, callers.isEmpty(.close), request == nil, isRestored,
      !peers.isWaiting,
      schedule.due == nil,
      callers.isEmpty(.token), case .authenticated(let session) = state, isTokenGood(at: now.uptime)
    else { return [] }
    owesProfile = false
    return [.askProfile(session.user, session.token.generation)]
  }

  /// Handles the profile of the user who was logged in at the request.
  ///
  /// A user who is inactive or deleted ends the session. So does a refusal of the current token if
  /// the same refusal of a call would.
  ///
  /// - Requirement: LOG-6, POL-7
  mutating func profileRead(
    _ user: Identifier, _ failure: RequestFailure?, _ token: Generation?, at now: ClockReading
  ) -> [SessionEffect] {
    guard stopped == nil, fold.kind == .authenticated, state.user == user, let failure else {
      return []
    }
    var cause = SessionEnding.Cause.profileFailed(failure)
    // A token that can be refreshed is not judged here: the next call refreshes it (INT-2).
    if failure.kind == .rejected, let current = state.token, current.generation == token,
      !current.isRefreshable
    {
      cause = .notRefreshable(.unauthorized, current)
    }
    let end = ending(by: cause, at: now).events
    return end.isEmpty
      ? []
      : commit(
        end, for: .profileEndsSession(user, failure, token: token), at: now,
        doubting: failure.kind == .rejected)
  }
}
