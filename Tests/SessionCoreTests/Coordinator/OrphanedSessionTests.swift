@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: OrphanedSession, secrets of another journal")
struct OrphanedSessionTests {
  private static let token = TokenMetadata(
    generation: Generation(7), issuedAt: CoordinatorBench().now.time,
    expiresAt: CoordinatorBench().now.time.advanced(by: CoordinatorBench.lifetime),
    isRefreshable: true)

  private func facts(_ cause: SessionNote.ContinuationCause, expired: ExpiryReason? = nil)
    -> StoredItemsReport
  {
    var facts = StoredItemsReport()
    if expired == nil { facts.token = .otherJournal }
    facts.stray = OrphanedSession(
      link: SessionNote.Continued(journal: "old", sequence: 12, cause: cause), user: "ada",
      context: .plainTeacher, token: Self.token, expired: expired)
    return facts
  }

  private func policy(_ stray: SessionPolicy.OrphanedSecrets, _ end: SessionPolicy.End = .clear)
    -> SessionPolicy
  {
    var policy = SessionPolicy.bench
    policy.recovery.orphanedSecrets = stray
    policy.ending.onRejection = end
    return policy
  }

  @Test("RES-5 orphaned secrets are adopted with a note of their origin, or wiped, by policy")
  func policies() {
    var adopting = CoordinatorBench(policy(.adopt))
    adopting.tell(.opened(facts(.lost)))
    #expect(adopting.names == ["continued", "login"])
    #expect(adopting.coordinator.state.token?.generation == Generation(7))
    #expect(adopting.coordinator.isTokenGood(at: adopting.now.uptime))
    var wiping = CoordinatorBench(policy(.wipe))
    wiping.tell(.opened(facts(.lost)))
    #expect(wiping.names == ["secretsWiped"])
    #expect(wiping.coordinator.state == .unauthenticated)
  }

  @Test(
    "RES-5 RES-7 the secrets of a missed journal stay for seven days, or until a logout or a login",
    arguments: [(nil, true), (0, false), (AbsenceDoubt.patience - 1, false)] + [
      (AbsenceDoubt.patience, true)
    ] as [(Int64?, Bool)])
  func missed(since: Int64?, isWiped: Bool) {
    var facts = facts(.lost)
    facts.missedFor = since
    var bench = CoordinatorBench(policy(.wipe))
    let effects = bench.tell(.opened(facts))
    #expect(bench.names == [isWiped ? "secretsWiped" : "storageFailed"])
    #expect(effects.contains(.wipe(.session.sparing(others: !isWiped))))
    #expect(bench.coordinator.state == .unauthenticated && bench.coordinator.activity == .idle)
    var other = bench
    let login = other.tell(.login(other.caller(), .password))
    other.tell(.answered(login.request ?? RequestNumber(0), .login("ada")))
    #expect(other.coordinator.state.kind == .authenticated)
    let everything = SessionEffect.wipe(.everything(keepingRevocation: nil))
    #expect(bench.tell(.logout(bench.caller())).contains(everything) != isWiped)
    #expect(!bench.tell(.logout(bench.caller())).contains(everything))
  }

  @Test("RES-5 a missed journal does not prevent that a session continues, if the policy says so")
  func missedAndAdopted() {
    var facts = facts(.lost)
    facts.missedFor = 0
    var bench = CoordinatorBench(policy(.adopt))
    bench.tell(.opened(facts))
    #expect(bench.names == ["continued", "login"])
  }

  @Test(
    "RES-7 a session ends if the items are another journal's, which keeps them while it is missed")
  func missedByASession() throws {
    for rule in [SessionPolicy.End.keep, .clear] {
      var bench = try CoordinatorBench(
        policy(.wipe, rule), journal: [.event(OpenDecisionTests.login)])
      var facts = StoredItemsReport.session(7)
      (facts.token, facts.user, facts.context) = (.otherJournal, .otherJournal, .otherJournal)
      facts.missedFor = 0
      let effects = bench.tell(.opened(facts))
      #expect(bench.coordinator.state.kind == (rule == .keep ? .expired : .unauthenticated))
      #expect(
        effects.allSatisfy { if case .wipe(let wipe) = $0 { wipe.sparesOthers } else { true } })
    }
  }

  @Test("RES-7 the items of a journal that continues this one go on here if their event can follow")
  func successor() throws {
    func login(_ user: Identifier, _ generation: UInt64) -> SessionEvent {
      let token = TokenMetadata(
        generation: Generation(generation), issuedAt: Self.token.issuedAt,
        expiresAt: Self.token.expiresAt, isRefreshable: true)
      return .login(
        SessionEvent.Login(user: user, method: .adoption, token: token, context: .plainTeacher))
    }
    let out = SessionRecord.Content.event(.logout(SessionEvent.Logout(reason: .user)))
    for (end, generation, event, names) in [
      ([], 1, login("ada", 1), ["continued"]), ([], 1, login("bob", 1), nil),
      ([], 2, OpenDecisionTests.refreshed(2), ["continued", "tokenRecovered", "refreshSucceeded"]),
      ([], 5, OpenDecisionTests.refreshed(5), ["continued", "tokenRecovered", "refreshSucceeded"]),
      ([], 5, login("ada", 5), nil),
      ([out], 5, login("bob", 5), ["continued", "tokenRecovered", "login"]),
      ([out], 5, OpenDecisionTests.refreshed(5), nil),
    ] as [([SessionRecord.Content], UInt64, SessionEvent, [String]?)] {
      var bench = try CoordinatorBench(
        policy(.wipe), journal: [.event(OpenDecisionTests.login)] + end)
      let before = bench.names
      var facts = StoredItemsReport.session(generation, announcing: event)
      #expect(bench.coordinator.goesOn(with: facts) == (names != nil))
      guard let names else { continue }
      facts.successor = "next"
      bench.tell(.opened(facts))
      #expect(bench.names == before + names)
      #expect(bench.coordinator.state.token?.generation == Generation(generation))
      bench.tell(.secretsRead(facts))
      #expect(bench.names == before + names, "it is noted once")
    }
  }

  @Test("RES-6 a session continues from a quarantined journal, whatever the policy says")
  func continued() {
    for rule in [SessionPolicy.OrphanedSecrets.wipe, .adopt] {
      var bench = CoordinatorBench(policy(rule))
      bench.tell(.opened(facts(.damaged)))
      #expect(bench.names == ["login"])
      #expect(bench.coordinator.state.user == "ada")
    }
  }

  @Test("RES-6 POL-10 the stated end of a session continues with it")
  func statedEnd() {
    var bench = CoordinatorBench(policy(.adopt))
    var facts = facts(.damaged)
    facts.sessionEnd = bench.now.time.advanced(by: 90_000)
    let effects = bench.tell(.opened(facts))
    #expect(bench.coordinator.state.kind == .authenticated)
    #expect(bench.coordinator.lifetimeEnd == bench.now.uptime + 90_000)
    #expect(effects.uptime(of: .lifetime) == bench.now.uptime + 90_000)
  }

  @Test("RES-5 if this journal ever had a token, nothing of another journal is restored")
  func settledBefore() throws {
    for cause in [SessionNote.ContinuationCause.lost, .damaged] {
      var bench = try CoordinatorBench(
        policy(.adopt),
        journal: [
          .event(OpenDecisionTests.login), .event(.logout(SessionEvent.Logout(reason: .user))),
        ])
      bench.tell(.opened(facts(cause)))
      #expect(bench.names == ["login", "logout", "secretsWiped"])
    }
  }

  @Test("RES-6 POL-2 an expired session stays expired if the policy keeps those; else it ends")
  func expired() {
    var keeping = CoordinatorBench(policy(.wipe, .keep))
    keeping.tell(.opened(facts(.damaged, expired: .inactivity)))
    #expect(keeping.names == ["login", "sessionExpired"])
    guard case .expired(let session) = keeping.coordinator.state else {
      Issue.record("\(keeping.coordinator.state)")
      return
    }
    #expect(session.reason == .inactivity)
    #expect(session.user == "ada")
    var clearing = CoordinatorBench(policy(.wipe, .clear))
    clearing.tell(.opened(facts(.damaged, expired: .inactivity)))
    #expect(clearing.names.isEmpty)
  }

  @Test("RES-6 without room for its note, the session keeps loading and is adopted later")
  func fullDisk() {
    var bench = CoordinatorBench(policy(.adopt))
    var now = bench.now
    var coordinator = bench.coordinator
    let first = coordinator.handle(.opened(facts(.lost)), at: now)
    guard case .commit(let commit)? = first.last else {
      Issue.record("\(first)")
      return
    }
    #expect(commit.storing == .stray)
    let failed = coordinator.handle(.commitFailed(isLasting: false), at: now)
    #expect(failed.uptime(of: .restore) != nil)
    #expect(coordinator.activity == .loading)
    now = ClockReading(time: now.time, uptime: now.uptime + 1_000)
    #expect(coordinator.handle(.fired(.restore), at: now) == [.readSecrets])
    bench.tell(.opened(facts(.lost)))
    #expect(bench.coordinator.state.kind == .authenticated)
  }
}

@Suite("Decisions: another process's session whose token is missing")
struct LostSessionTests {
  /// A bench whose own sign-in is on the wire while a caller's switch finds that another process has
  /// signed Ada in.
  private func overtaken() -> (bench: CoordinatorBench, signer: Caller, switcher: Caller) {
    var bench = CoordinatorBench()
    bench.tell(.opened(.nothing))
    let (signer, switcher) = (bench.caller(), bench.caller())
    bench.tell(.login(signer, .password))
    bench.lookEndings = [.finds([.event(.login(as: "ada"))])]
    bench.tell(.switchContext(switcher))
    return (bench, signer, switcher)
  }

  @Test("REF-3 RES-1 a session that ends after a second read of its items answers every caller")
  func endsAtRestore() {
    var (bench, signer, switcher) = overtaken()
    // It was found here, so this process looks in the right place.
    bench.tell(.reloaded(Generation(1), .found()))
    bench.tell(.reloaded(Generation(1), .unread))
    #expect(bench.tell(.fired(.restore)) == [.readSecrets])
    // One missing read does not prove that it is gone (RES-7).
    bench.tell(.secretsRead(.nothing))
    bench.advance(by: 1_000)
    bench.tell(.secretsRead(.nothing))
    bench.advance(by: 3_000)
    let effects = bench.tell(.secretsRead(.nothing))
    #expect(bench.names == ["login", "storageFailed", "sessionExpired", "logout"])
    for caller in [signer, switcher] {
      #expect(effects.reply(to: caller) == .failed(.ended(.unauthenticated, by: nil)))
    }
    #expect(effects.contains(.cancel(.refresh)))
    #expect(effects.contains(.wipe(.session)))
    // The sign-in ended with the session: its late response is revoked.
    let answered = bench.tell(.answered(RequestNumber(1), .login("ada")))
    #expect(answered == [.discard(RequestNumber(1), revoking: true)])
  }

  @Test("RES-1 a token of an unexpected generation is checked at once")
  func otherToken() {
    var (bench, _, switcher) = overtaken()
    #expect(bench.tell(.reloaded(Generation(1), .other)) == [.readSecrets])
    #expect(bench.coordinator.activity == .loading)
    let effects = bench.tell(.secretsRead(.session(0)))
    #expect(bench.names == ["login", "sessionExpired", "logout"])
    #expect(effects.reply(to: switcher) == .failed(.ended(.unauthenticated, by: nil)))
  }

  @Test("REF-7 a token newer than the announced one proves an event that a crash prevented")
  func newerToken() throws {
    let refreshed = SessionEvent.refreshed(to: 2)
    var bench = try CoordinatorBench(journal: [.event(.login(as: "ada"))])
    bench.tell(.opened(.session(1)))
    bench.commitEndings = [.conflicts([.event(refreshed)])]
    bench.refresh()
    #expect(bench.tell(.reloaded(Generation(2), .other)) == [.readSecrets])
    bench.tell(.secretsRead(.session(3, announcing: .refreshed(to: 3))))
    #expect(bench.coordinator.state.token?.generation == Generation(3))
    #expect(bench.names.suffix(2) == ["tokenRecovered", "refreshSucceeded"])
  }

  @Test("RES-1 a result about a token that is no longer current changes nothing")
  func late() {
    var (bench, _, _) = overtaken()
    let before = bench.coordinator
    for outcome in [.found(), .other, .unread] as [SessionInput.Reload] {
      #expect(bench.tell(.reloaded(Generation(7), outcome)).isEmpty)
      #expect(bench.coordinator == before)
    }
    #expect(bench.tell(.reloaded(Generation(1), .found())).isEmpty)
    #expect(
      bench.coordinator.state == before.state && bench.coordinator.activity == before.activity)
  }
}
