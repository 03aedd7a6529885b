@_spi(Internals) package import SessionCore

extension CoordinatorBench {
  /// How long a plain token lives: an hour.
  package static let lifetime: Int64 = 3_600_000

  /// A bench with Ada signed in and nothing under way.
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

  /// Tells of a caller's refresh and returns who called and what followed.
  @discardableResult
  package mutating func refresh(_ trigger: RefreshTrigger = .manual) -> (Caller, [SessionEffect]) {
    let caller = caller()
    return (caller, tell(.refresh(caller, trigger, .always)))
  }

  /// Lets time pass while the journal is read at the pace of the poll, and no other process appends.
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
  /// Round figures: a minute before expiry, 3 attempts, 1 s to 60 s; a refused refresh clears.
  package static let bench = SessionPolicy.clearOnRefusal.named("bench") {
    $0.refresh.beforeExpiry = .seconds(60)
    $0.refresh.attempts = 3
    $0.refresh.firstRetryDelay = .seconds(1)
    $0.refresh.longestRetryDelay = .seconds(60)
    $0.limits.loginsPerMinute = nil
  }

  /// The same, and a session that can no longer be refreshed stays as expired.
  package static let benchKeeping = SessionPolicy.bench.named("bench, keeping") {
    $0.ending.onRejection = .keep
    $0.ending.onExhaustion = .end(.keep)
  }
}

extension ResponseMetadata {
  /// A server's answer to this user's login.
  package static func login(
    _ user: Identifier, lifetime: Int64 = CoordinatorBench.lifetime, isRefreshable: Bool = true
  ) -> ResponseMetadata {
    ResponseMetadata(
      lifetime: lifetime, tokenID: "jti-1", hasRefreshToken: isRefreshable, user: user,
      context: .plainTeacher)
  }

  /// A server's answer to a refresh; `rotated` with a new refresh token.
  package static func token(lifetime: Int64 = CoordinatorBench.lifetime, rotated: Bool = false)
    -> ResponseMetadata
  {
    ResponseMetadata(lifetime: lifetime, hasRefreshToken: rotated)
  }

  /// A server's answer to a switch into this context.
  package static func context(
    _ context: ActiveContext, lifetime: Int64 = CoordinatorBench.lifetime
  ) -> ResponseMetadata {
    ResponseMetadata(lifetime: lifetime, hasRefreshToken: true, context: context)
  }
}

extension StoredItemsReport {
  /// What is stored of a session whose token has this generation, with nothing amiss.
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
  /// The number of the first request that is sent, where one is.
  package var request: RequestNumber? {
    for case .send(let number, _) in self { return number }
    return nil
  }

  /// How many requests are sent.
  package var sendCount: Int {
    reduce(0) { if case .send = $1 { $0 + 1 } else { $0 } }
  }

  /// What the caller is told first, where it is told anything.
  package func reply(to caller: Caller) -> SessionEffect.Reply? {
    for case .resume(caller, let reply) in self { return reply }
    return nil
  }

  /// When the timer goes off, in milliseconds of uptime, where it is set.
  package func uptime(of timer: SessionTimer) -> Int64? {
    for case .schedule(timer, let uptime) in reversed() { return uptime }
    return nil
  }

  /// The position of the first effect that the test recognises; the count where there is none.
  package func place(_ matches: (SessionEffect) -> Bool) -> Int {
    firstIndex(where: matches) ?? count
  }
}
