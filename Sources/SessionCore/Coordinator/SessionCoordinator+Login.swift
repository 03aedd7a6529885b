extension SessionCoordinator {
  mutating func login(_ caller: Caller, _ method: LoginMethod, at now: ClockReading)
    -> [SessionEffect]
  {
    if let stopped { return [.resume(caller, .failed(stopped))] }
    guard isRestored || needsUpdate else { return [.resume(caller, .failed(.locked))] }
    if method == .adoption, !adopts { return [.resume(caller, .notAdopted)] }
    guard state.kind != .authenticated || needsUpdate else {
      return [.resume(caller, .failed(rejection(.login, .alreadyAuthenticated)))]
    }
    // An account that is created now is not that of the session which expired (STA-6).
    guard method != .registration || state.kind == .unauthenticated else {
      return [.resume(caller, .failed(rejection(.login, .differentUser)))]
    }
    guard flight == nil else { return [.resume(caller, .failed(.busy))] }
    // What reaches no credential and asks no user is no try of a user's.
    if method != .adoption, method != .silent, let limit = policy.loginsPerMinute,
      let wait = signInTries.admit(at: now.uptime, under: limit)
    {
      return [.resume(caller, .failed(.tooManyAttempts(retryAfter: wait)))]
    }
    lastProblem = nil
    let number = nextRequest()
    if method == .adoption { adoptions.insert(number) }
    flight = TokenRequest(number: number, purpose: .login(caller, method), base: fold.generation)
    return [.send(number, .login(caller))]
  }

  /// Whether tokens of an app's old layer are taken over.
  ///
  /// Once there has been a token, whatever that layer left is history, and a session that was ended must
  /// not come back by it. A journal that was set aside may have had one that cannot be read.
  ///
  /// - Requirement: LOG-9
  private var adopts: Bool { fold.generation == .none && !continuesAnother }

  /// A login's answer: journaled, or refused and its tokens revoked.
  ///
  /// - Requirement: LOG-10, STA-6
  mutating func settleLogin(
    _ flight: TokenRequest, _ caller: Caller, _ method: LoginMethod,
    _ arrival: TokenRequest.ReceivedResponse, at now: ClockReading
  ) -> [SessionEffect] {
    guard let user = arrival.facts.user else {
      let problem =
        arrival.facts.profileFailure.map(CommandFailure.unidentified)
        ?? .request(RequestFailure(kind: .unreadable))
      return loginRefused(flight, caller, problem)
    }
    if method == .adoption, !adopts {
      self.flight = nil
      return [discard(flight.number, revoking: false), .resume(caller, .notAdopted)]
    }
    let event = SessionEvent.login(
      SessionEvent.Login(
        user: user, method: arrival.facts.method ?? method,
        token: tokenFacts(arrival, isRefreshable: arrival.facts.isRefreshable),
        context: arrival.facts.context ?? arrival.facts.tokenContext))
    let replaced = replacedSession
    do {
      var before = state
      for case .event(let end) in replaced { before = try before.evolved(by: end, at: now.time) }
      _ = try before.evolved(by: event, at: now.time)
    } catch {
      return loginRefused(flight, caller, .rejected(error))
    }
    guard let end = arrival.facts.profileFailure.flatMap(endEvents) else {
      return commit(
        replaced + [.event(event)], for: .settle(arrival), at: now, storing: flight.number)
    }
    // Who may not sign in is journaled, and nothing of it stored.
    return commit([.event(event)] + end, for: .settle(arrival), at: now)
  }

  /// The end of a session whose stored items only a newer version can read: it goes with the sign-in that
  /// replaces them, and not before.
  ///
  /// - Requirement: RES-8
  private var replacedSession: [SessionRecord.Content] {
    guard needsUpdate, state.kind == .authenticated else { return [] }
    return endEvents(.secretsNewer, .keep)
  }

  /// The login is durable, and the end with it: the user may not sign in.
  ///
  /// - Requirement: LOG-6
  mutating func loginEnded(
    _ landed: TokenRequest, by failure: RequestFailure, publishing events: [RecordedEvent]
  ) -> [SessionEffect] {
    flight = nil
    lastProblem = .request(failure)
    return [.cancel(.commit), discard(landed.number, revoking: true)]
      + resume(landed.owner.map { [$0] } ?? [], .failed(.ended(state.kind, by: failure)))
      + publish(events) + wipeEnded()
  }

  /// There is an account, and nobody is signed in: who asked for it may sign in now.
  mutating func accountCreated(_ number: RequestNumber) -> [SessionEffect] {
    abandoned.remove(number)
    guard let landed = flight, landed.number == number, landed.isLogin else { return [] }
    flight = nil
    lastProblem = nil
    return resume(landed.owner.map { [$0] } ?? [], .accountCreated)
  }

  /// A page was left, or showed why not: shown as failed only where something went wrong, and never of a
  /// sign-in that shows nothing.
  ///
  /// - Requirement: LOG-5, STA-3
  mutating func notSignedIn(_ number: RequestNumber, _ problem: WebSignInProblem) -> [SessionEffect]
  {
    abandoned.remove(number)
    guard let landed = flight, landed.number == number,
      case .login(let caller, let method) = landed.purpose
    else { return [] }
    flight = nil
    lastProblem = problem.isQuiet || method == .silent ? nil : .webSignIn(problem)
    return [.resume(caller, .failed(.webSignIn(problem)))]
  }

  private mutating func loginRefused(
    _ refused: TokenRequest, _ caller: Caller, _ problem: CommandFailure
  ) -> [SessionEffect] {
    flight = nil
    lastProblem = problem
    return [
      discard(refused.number, revoking: true), .resume(caller, .failed(problem)),
    ]
  }
}
