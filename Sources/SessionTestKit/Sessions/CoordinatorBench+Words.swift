@_spi(Internals) package import SessionCore

extension CoordinatorBench {
  /// The lifetime of a plain token in milliseconds: an hour.
  package static let lifetime: Int64 = 3_600_000

  /// Returns a bench on which the user `ada` is logged in and nothing is pending.
  package static func signedIn(
    _ policy: SessionPolicy = .bench, lifetime: Int64 = lifetime, isRefreshable: Bool = true
  ) -> CoordinatorBench {
    var bench = CoordinatorBench(policy)
    bench.tell(.opened(.nothing))
    let effects = bench.tell(.login(bench.caller(), .password))
    bench.tell(
      .answered(
        effects.request ?? RequestNumber(0),
        .login("ada", lifetime: lifetime, isRefreshable: isRefreshable)))
    return bench
  }

  /// Makes a new caller refresh; returns the caller and the effects.
  @discardableResult
  package mutating func refresh(_ trigger: RefreshTrigger = .manual) -> (Caller, [SessionEffect]) {
    let caller = caller()
    return (caller, tell(.refresh(caller, trigger, .always)))
  }

  /// Lets half a second pass after an opening; the session refreshes its token then.
  @discardableResult
  package mutating func endLaunchPause() -> [SessionEffect] {
    advance(by: 500)
    return tell(.fired(.refresh))
  }

  /// Lets time pass while the lease timer polls the journal, and no other process appends.
  @discardableResult
  package mutating func pollJournal(for milliseconds: Int64) -> [SessionEffect] {
    var effects: [SessionEffect] = []
    for _ in 0..<(milliseconds / 100) {
      advance(by: 100)
      let asked = tell(.fired(.lease))
      effects += asked.filter { $0 != .readJournal }
      guard asked.contains(.readJournal) else { continue }
      effects += tell(.observed([], isHolderGone: false))
    }
    return effects
  }
}

extension SessionPolicy {
  /// A policy with round figures: a minute before expiry, 3 attempts, 1 s to 60 s; a rejected
  /// refresh clears.
  package static let bench = SessionPolicy.clearOnRefusal.named("bench") {
    $0.refresh.beforeExpiry = .seconds(60)
    $0.refresh.attempts = 3
    $0.refresh.firstRetryDelay = .seconds(1)
    $0.refresh.longestRetryDelay = .seconds(60)
    $0.limits.loginsPerMinute = nil
  }

  /// The same policy, but a session that can no longer be refreshed stays as expired.
  package static let benchKeeping = SessionPolicy.bench.named("bench, keeping") {
    $0.ending.onRejection = .keep
    $0.ending.onExhaustion = .end(.keep)
  }
}

extension ResponseMetadata {
  /// Returns the metadata of a response to a login of this user; `lifetime` is in milliseconds.
  package static func login(
    _ user: Identifier, lifetime: Int64 = CoordinatorBench.lifetime, isRefreshable: Bool = true
  ) -> ResponseMetadata {
    ResponseMetadata(
      lifetime: lifetime, tokenID: "jti-1", hasRefreshToken: isRefreshable, user: user,
      context: .plainTeacher)
  }

  /// Returns the metadata of a response to a refresh; `rotated` adds a new refresh token.
  package static func token(lifetime: Int64 = CoordinatorBench.lifetime, rotated: Bool = false)
    -> ResponseMetadata
  {
    ResponseMetadata(lifetime: lifetime, hasRefreshToken: rotated)
  }

  /// Returns the metadata of a response to a switch to this context.
  package static func context(
    _ context: ActiveContext, lifetime: Int64 = CoordinatorBench.lifetime
  ) -> ResponseMetadata {
    ResponseMetadata(lifetime: lifetime, hasRefreshToken: true, context: context)
  }
}

extension StoredItemsReport {
  /// Returns the report of a session that is stored completely, with a token of this generation.
  package static func session(
    _ generation: UInt64, announcing event: SessionEvent? = nil
  ) -> StoredItemsReport {
    var facts = StoredItemsReport()
    (facts.token, facts.user, facts.context) = (.present, .present, .present)
    facts.generation = Generation(generation)
    facts.announcement = event
    return facts
  }
}

extension [SessionEffect] {
  /// The number of the first request that is sent; `nil` if none is.
  package var request: RequestNumber? {
    for case .send(let number, _) in self { return number }
    return nil
  }

  /// The number of requests that are sent.
  package var sendCount: Int {
    reduce(0) { if case .send = $1 { $0 + 1 } else { $0 } }
  }

  /// Returns the first reply to the caller; `nil` if there is none.
  package func reply(to caller: Caller) -> SessionEffect.Reply? {
    for case .resume(caller, let reply) in self { return reply }
    return nil
  }

  /// Returns the uptime in milliseconds for which the timer was last set; `nil` if it was not set.
  package func uptime(of timer: SessionTimer) -> Int64? {
    for case .schedule(timer, let uptime) in reversed() { return uptime }
    return nil
  }

  /// Returns the index of the first effect that matches; the number of effects if none does.
  package func place(_ matches: (SessionEffect) -> Bool) -> Int {
    firstIndex(where: matches) ?? count
  }
}
