@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: a response says when the session ends")
struct StatedEndDecisionTests {
  private static let limit: Int64 = 7_200_000

  private func expired(_ bench: CoordinatorBench) -> ExpiryReason? {
    guard case .expired(let session) = bench.coordinator.state else { return nil }
    return session.reason
  }

  private func stating(_ rest: Int64?, _ response: ResponseMetadata) -> ResponseMetadata {
    var response = response
    response.sessionLifetime = rest
    return response
  }

  private func policy(limit: Int64?) -> SessionPolicy {
    var policy = SessionPolicy.benchKeeping
    policy.ending.absoluteLifetime = limit.map { .milliseconds($0) }
    return policy
  }

  /// Signed in by a response that states the session's lifetime.
  private func signedIn(_ rest: Int64?, limit: Int64? = nil) -> CoordinatorBench {
    var bench = CoordinatorBench(policy(limit: limit))
    bench.tell(.opened(.nothing))
    login(&bench, rest)
    return bench
  }

  @discardableResult
  private func login(_ bench: inout CoordinatorBench, _ rest: Int64?) -> [SessionEffect] {
    let login = bench.tell(.login(bench.caller(), .password))
    return bench.tell(
      .answered(login.request ?? RequestNumber(0), stating(rest, .login("ada"))))
  }

  private func refresh(_ bench: inout CoordinatorBench, _ rest: Int64?) {
    let (_, effects) = bench.refresh()
    bench.tell(.answered(effects.request ?? RequestNumber(0), stating(rest, .token())))
  }

  @Test(
    "POL-10 the earlier of the policy's end and the stated end counts",
    arguments: [(nil, limit), (limit, 2 * limit), (2 * limit, limit)] as [(Int64?, Int64)])
  func earlier(byPolicy: Int64?, rest: Int64) {
    var bench = signedIn(rest, limit: byPolicy)
    bench.advance(by: Self.limit - 1)
    let early = bench.tell(.fired(.lifetime))
    #expect(early.uptime(of: .lifetime) == bench.now.uptime + 1)
    #expect(bench.coordinator.state.kind == .authenticated)
    bench.advance(by: 1)
    let late = bench.tell(.fired(.lifetime))
    #expect(expired(bench) == .lifetimeEnded)
    #expect(bench.names.suffix(2) == ["sessionExpired", "revocationPending"], "OUT-6")
    #expect(late.contains(.cancel(.lifetime)))
    #expect(bench.coordinator.lifetimeEnd == .max)
  }

  @Test("POL-10 a later response moves the stated end both ways; one without an end keeps it")
  func replaced() {
    var bench = signedIn(Self.limit)
    let start = bench.now.uptime
    bench.advance(by: 1_000)
    refresh(&bench, nil)
    #expect(bench.coordinator.lifetimeEnd == start + Self.limit)
    for rest in [2 * Self.limit, Self.limit / 2] {
      refresh(&bench, rest)
      #expect(bench.coordinator.lifetimeEnd == bench.now.uptime + rest)
    }
  }

  @Test("POL-10 CTX-2 the response to a switch may state the end too")
  func switched() {
    var bench = signedIn(Self.limit)
    let effects = bench.tell(.switchContext(bench.caller()))
    bench.tell(
      .answered(
        effects.request ?? RequestNumber(0), stating(90_000, .context(.plainTeacher))))
    #expect(bench.coordinator.lifetimeEnd == bench.now.uptime + 90_000)
  }

  @Test("POL-10 a new login replaces the end, even if it states none")
  func again() {
    for rest in [nil, 3 * Self.limit] {
      var bench = signedIn(Self.limit)
      bench.tell(.logout(bench.caller()))
      login(&bench, rest)
      #expect(bench.coordinator.lifetimeEnd == rest.map { bench.now.uptime + $0 } ?? .max)
      bench.advance(by: Self.limit)
      bench.tell(.fired(.lifetime))
      #expect(bench.coordinator.state.kind == .authenticated)
    }
  }

  @Test("POL-10 an end in the past is due at once", arguments: [0, -1, .min] as [Int64])
  func passed(rest: Int64) {
    var bench = signedIn(Self.limit)
    let (caller, effects) = bench.refresh()
    let answered = bench.tell(
      .answered(effects.request ?? RequestNumber(0), stating(rest, .token())))
    #expect(answered.uptime(of: .lifetime) == bench.now.uptime)
    #expect(answered.reply(to: caller) == .failed(.ended(.expired, by: nil)))
    let switcher = bench.caller()
    let switching = bench.tell(.switchContext(switcher))
    let switched = bench.tell(
      .answered(
        switching.request ?? RequestNumber(0), stating(rest, .context(.plainTeacher))))
    #expect(switched.reply(to: switcher) == .failed(.ended(.expired, by: nil)))
    bench.tell(.fired(.lifetime))
    #expect(expired(bench) == .lifetimeEnded)
  }

  @Test(
    "POL-10 LOG-10 a login whose stated end has passed fails, and its tokens are revoked",
    arguments: [0, -1, .min] as [Int64], [SessionPolicy.benchKeeping, .bench])
  func loginOfAnEndedSession(rest: Int64, policy: SessionPolicy) {
    var bench = CoordinatorBench(policy)
    bench.tell(.opened(.nothing))
    let caller = bench.caller()
    let request = bench.tell(.login(caller, .password)).request ?? RequestNumber(0)
    let effects = bench.tell(.answered(request, stating(rest, .login("ada"))))
    let kind = bench.coordinator.state.kind
    #expect(kind == (policy == .benchKeeping ? .expired : .unauthenticated))
    #expect(effects.contains(.resume(caller, .failed(.ended(kind, by: nil)))))
    #expect(effects.contains(.discard(request, revoking: true)))
    #expect(bench.coordinator.endCause.expiry == .lifetimeEnded)
    #expect(bench.coordinator.lifetimeEnd == .max)
  }

  @Test("POL-10 more than ten years counts as ten years")
  func bounded() {
    let bench = signedIn(.max)
    #expect(bench.coordinator.lifetimeEnd == bench.now.uptime + TokenMetadata.unknownLifetime)
  }

  @Test("POL-10 REF-8 a jump of the civil clock does not move the stated end")
  func jumps() {
    var bench = signedIn(Self.limit)
    bench.jump(by: 1 << 40)
    #expect(bench.tell(.fired(.lifetime)).uptime(of: .lifetime) != nil)
    bench.jump(by: -(1 << 41))
    bench.advance(by: Self.limit)
    bench.tell(.fired(.lifetime))
    #expect(expired(bench) == .lifetimeEnded)
  }

  @Test(
    "POL-10 REF-8 opening uses the stored end, by civil time only after a reboot",
    arguments: [true, false])
  func reopened(isRestarted: Bool) throws {
    for jump in [0, 1 << 40, -(1 << 40)] as [Int64] where !isRestarted || jump == 0 {
      var bench = try CoordinatorBench(
        policy(limit: nil), journal: [.event(.login(as: "ada"))])
      let token = try #require(bench.coordinator.state.token)
      var facts = StoredItemsReport.session(1)
      facts.sessionEnd = bench.now.time.advanced(by: Self.limit)
      if !isRestarted {
        facts.deadline = bench.now.uptime + token.expiresAt.milliseconds(since: bench.now.time)
      }
      let end = bench.now.uptime + Self.limit
      bench.advance(by: 60_000)
      bench.jump(by: jump)
      #expect(bench.tell(.opened(facts)).uptime(of: .lifetime) == end)
      bench.advance(by: Self.limit - 60_000)
      bench.tell(.fired(.lifetime))
      #expect(expired(bench) == .lifetimeEnded)
    }
  }

  @Test("POL-10 an end that another process stored with its token applies here")
  func others() throws {
    var bench = signedIn(Self.limit)
    let token = try #require(bench.coordinator.state.token)
    let end = bench.now.time.advanced(by: 90_000)
    bench.tell(.reloaded(token.generation, .found()))
    #expect(bench.coordinator.lifetimeEnd == bench.now.uptime + Self.limit, "it said nothing")
    let effects = bench.tell(
      .reloaded(
        token.generation,
        .found(
          sessionEnd: end,
          deadline: bench.now.uptime + token.expiresAt.milliseconds(since: bench.now.time)))
    )
    #expect(effects.uptime(of: .lifetime) == bench.now.uptime + 90_000)
  }

  @Test("POL-10 a stated end that cannot be journaled is tried again a second later")
  func failing() {
    var bench = signedIn(Self.limit)
    bench.advance(by: Self.limit)
    bench.commitEndings = [.fails]
    let effects = bench.tell(.fired(.lifetime))
    #expect(effects.uptime(of: .lifetime) == bench.now.uptime + 1_000)
    bench.advance(by: 1_000)
    bench.tell(.fired(.lifetime))
    #expect(expired(bench) == .lifetimeEnded)
  }

  @Test("INT-9 the key of a token is noted once, and its loss ends a session by the policy")
  func boundKey() throws {
    var bench = CoordinatorBench.signedIn()
    let before = bench.names.count
    for key in ["k-1", "k-1", nil, "k-2"] as [Identifier?] {
      let number = bench.tell(.refresh(bench.caller(), .manual, .always)).request
      var response = ResponseMetadata.login("ada")
      response.boundKey = key
      bench.tell(.answered(try #require(number), response))
    }
    let noted = bench.journal[before...].compactMap { record -> Identifier? in
      guard case .note(.tokensBound(let bound)) = record.content else { return nil }
      return bound.thumbprint
    }
    #expect(noted == ["k-1", "k-2"] && bench.coordinator.fold.intents.boundKey == "k-2")
    let number = bench.tell(.refresh(bench.caller(), .manual, .always)).request
    bench.tell(
      .failed(try #require(number), RequestFailure(kind: .proofKeyLost), jitter: 0))
    let end = SessionEvent.sessionExpired(.init(reason: .proofKeyLost))
    #expect(bench.journal.contains { $0.content == .event(end) })
    #expect(bench.coordinator.fold.intents.boundKey == nil)
  }

  @Test("REF-16 how long a refresh token lives is noted once, and again if it is another time")
  func refreshTokenLife() throws {
    var bench = CoordinatorBench.signedIn()
    let before = bench.names.count
    func answer(_ input: SessionInput, _ life: Int64?) throws {
      let number = bench.tell(input).request
      var response = ResponseMetadata.login("ada")
      response.refreshTokenLife = life
      let effects = bench.tell(.answered(try #require(number), response))
      #expect(effects.uptime(of: .refresh) ?? 0 > bench.now.uptime)
    }
    for life in [1_800_000, 1_799_000, 1_800_000, nil, 600_000] as [Int64?] {
      try answer(.refresh(bench.caller(), .manual, .always), life)
    }
    let noted = bench.journal[before...].compactMap { record -> Int64? in
      guard case .note(.refreshTokenLife(let life)) = record.content else { return nil }
      return life.milliseconds
    }
    #expect(noted == [1_800_000, 1_799_000, 600_000])
    // The tokens of another login have their own life, which may be unknown.
    for life in [601_000, nil] as [Int64?] {
      try answer(.reauthenticate(bench.caller(), .interactive), life)
      #expect(bench.coordinator.fold.intents.refreshTokenLife == life)
    }
    try answer(.refresh(bench.caller(), .manual, .always), 600_000)
    bench.tell(.logout(bench.caller()))
    #expect(bench.coordinator.fold.intents.refreshTokenLife == nil)
  }
}
