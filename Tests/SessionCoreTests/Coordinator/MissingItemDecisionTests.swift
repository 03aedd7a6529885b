import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionCore

@Suite("Decisions: a missing item is read again")
struct MissingItemDecisionTests {
  private static let login = OpenDecisionTests.login

  private func missing(_ item: SecretItem = .token) -> StoredItemsReport {
    var facts = StoredItemsReport.session(1)
    if item == .token { (facts.token, facts.generation) = (.absent, .none) }
    if item == .user { facts.user = .absent }
    return facts
  }

  @Test(
    "RES-7 one or two missing answers do not end the session, which continues if the item returns")
  func foundAgain() throws {
    var bench = try CoordinatorBench(.benchKeeping, journal: [.event(Self.login)])
    bench.tell(.opened(missing()))
    for _ in 0..<10 { bench.tell(.secretsRead(missing())) }
    bench.advance(by: 1_000)
    for _ in 0..<10 { bench.tell(.secretsRead(missing())) }
    #expect(bench.coordinator.activity == .loading)
    bench.tell(.secretsRead(.session(1)))
    #expect(bench.coordinator.state.kind == .authenticated)
    #expect(bench.coordinator.activity == .idle)
    #expect(bench.names == ["login", "storageFailed", "storageRecovered"])
  }

  @Test(
    "LOG-10 a login that nothing proves and whose token is gone is undone, and no host is called")
  func undone() throws {
    for before in [SessionState.Kind.unauthenticated, .expired] {
      for (token, user) in [
        (StoredItemsReport.Item.absent, StoredItemsReport.Item.present), (.present, .present),
        (.absent, .absent),
      ] {
        for isPeers in [false, true] {
          var facts = missing()
          (facts.token, facts.generation) = (token, .none)
          (facts.user, facts.hostClears) = (user, true)
          facts.beforeUnprovenLogin = before
          var bench = try CoordinatorBench(.bench, journal: isPeers ? [] : [.event(Self.login)])
          var effects: [SessionEffect] = []
          if isPeers {
            var empty = StoredItemsReport.nothing
            empty.hostClears = true
            bench.tell(.opened(empty))
            let record = SessionRecord(
              sequence: UInt64(bench.journal.count + 1), time: bench.now.time,
              content: .event(Self.login))
            bench.tell(.observed([record], isHolderGone: false))
            effects = bench.tell(.secretsRead(facts))
          } else {
            effects = bench.tell(.opened(facts))
          }
          // An empty store may be one that is not mounted yet. After an expiry, the user item is no sign.
          let isSure = user == .present && (before == .unauthenticated || token == .present)
          if !isSure {
            #expect(bench.coordinator.state.kind == .authenticated)
            for pause in AbsenceDoubt.repetitions {
              bench.advance(by: pause)
              effects = bench.tell(.secretsRead(facts))
            }
          }
          // Another process stored the token, so it may be in another place.
          guard !isPeers || isSure else {
            #expect(bench.coordinator.state.kind == .authenticated)
            continue
          }
          #expect(bench.coordinator.state.kind == before)
          let isTold = before == .unauthenticated && token == .absent
          #expect(effects.contains(.clearLocalData(.policy)) == isTold)
          let rest = before == .expired ? [] : ["logout"] + (isTold ? [] : ["localDataCleared"])
          #expect(bench.names.suffix(rest.count + 1) == ["sessionExpired"] + rest)
        }
      }
    }
  }

  @Test("RES-7 an answer of another kind, or none, restarts the count")
  func anew() throws {
    var bench = try CoordinatorBench(.benchKeeping, journal: [.event(Self.login)])
    var locked = StoredItemsReport()
    locked.isLocked = true
    bench.tell(.opened(missing()))
    for _ in 0..<4 {
      bench.advance(by: 10_000)
      bench.tell(.secretsRead(locked))
      bench.advance(by: 10_000)
      bench.tell(.secretsRead(missing()))
      #expect(bench.coordinator.state.kind == .authenticated)
    }
    for _ in 0..<2 {
      bench.advance(by: 10_000)
      bench.tell(.secretsRead(missing()))
    }
    #expect(bench.coordinator.state.kind == .expired)
  }

  @Test("RES-7 RES-1 a waiting caller receives the end of a session whose item stays missing")
  func waiterOfEndedSession() throws {
    var bench = CoordinatorBench.signedIn(.benchKeeping)
    let (waiter, sent) = bench.refresh()
    #expect(sent.sendCount == 1)
    bench.tell(.secretsRead(missing()))
    bench.advance(by: 1_000)
    bench.tell(.secretsRead(missing()))
    bench.advance(by: 3_000)
    let end = bench.tell(.secretsRead(missing()))
    #expect(bench.coordinator.state.kind == .expired)
    #expect(end.reply(to: waiter) == .failed(.ended(.expired, by: nil)))
  }

  @Test(
    "RES-7 a process that does not find the token that others store ends nothing, and says why",
    arguments: [StoredItemsReport.Item.absent, .otherJournal])
  func elsewhere(item: StoredItemsReport.Item) {
    var facts = StoredItemsReport()
    facts.token = item
    var bench = CoordinatorBench(.benchKeeping)
    bench.tell(.opened(.nothing))
    bench.lookEndings = [.finds([.event(Self.login)])]
    let seen = bench.tell(.foreground(bench.caller()))
    #expect(seen.contains(.reloadToken(Generation(1))))
    bench.tell(.reloaded(Generation(1), .other))
    for _ in 0..<5 {
      let effects = bench.tell(.secretsRead(facts))
      #expect(effects.uptime(of: .restore) != nil)
      bench.advance(by: 10_000)
    }
    #expect(bench.coordinator.isTokenElsewhere && bench.coordinator.activity == .loading)
    #expect(bench.coordinator.state.kind == .authenticated)
    bench.tell(.secretsRead(.session(1)))
    #expect(!bench.coordinator.isTokenElsewhere && bench.coordinator.activity == .idle)
    // Now an absence counts: the token was here.
    for _ in 0..<3 {
      bench.tell(.secretsRead(.nothing))
      bench.advance(by: 5_000)
    }
    #expect(bench.coordinator.state.kind == .expired)
  }

  @Test("RES-7 a token that a living process may have stored is not missed at an opening")
  func storerLives() throws {
    for lives in [true, false] {
      var bench = try CoordinatorBench(.benchKeeping, journal: [.event(Self.login)])
      var facts = missing()
      facts.isStorerAlive = lives
      bench.tell(.opened(facts))
      // That process may end meanwhile, as in an update.
      facts.isStorerAlive = false
      for _ in 0..<3 {
        bench.tell(.secretsRead(facts))
        bench.advance(by: 5_000)
      }
      #expect(bench.coordinator.state.kind == (lives ? .authenticated : .expired))
    }
  }

  @Test("RES-7 a logout takes effect at once and ends the doubt")
  func logout() throws {
    var bench = try CoordinatorBench(.benchKeeping, journal: [.event(Self.login)])
    bench.tell(.opened(missing()))
    let caller = Caller(1)
    bench.tell(.logout(caller))
    #expect(bench.coordinator.state == .unauthenticated)
    bench.tell(.secretsRead(.nothing))
    #expect(bench.coordinator.activity == .idle)
  }

  @Test("RES-7 secrets of a missing journal are neither wiped nor adopted at once")
  func owner() {
    for rule in [SessionPolicy.OrphanedSecrets.wipe, .adopt] {
      var policy = SessionPolicy.bench
      policy.recovery.orphanedSecrets = rule
      var bench = CoordinatorBench(policy)
      var facts = StoredItemsReport()
      (facts.token, facts.owner) = (.otherJournal, .missing)
      let token = TokenMetadata(
        generation: Generation(7), issuedAt: bench.now.time,
        expiresAt: bench.now.time.advanced(by: CoordinatorBench.lifetime), isRefreshable: true)
      facts.stray = OrphanedSession(
        link: SessionNote.Continued(journal: "old", sequence: 0, cause: .lost), user: "ada",
        context: nil, token: token)
      bench.tell(.opened(facts))
      bench.advance(by: 1_000)
      bench.tell(.secretsRead(facts))
      #expect(bench.names == ["storageFailed"] && bench.coordinator.activity == .loading)
      bench.advance(by: 3_000)
      bench.tell(.secretsRead(facts))
      let end = rule == .wipe ? ["secretsWiped"] : ["continued", "login"]
      #expect(bench.names == ["storageFailed"] + end)
    }
  }
}

/// The machine that doubts a missing item, result by result.
@Suite("The machine AbsenceDoubt")
struct AbsenceDoubtTests {
  /// A result at an uptime, and whether it is doubted.
  private typealias Row = (missing: AbsenceDoubt.Absence?, uptime: Int64, isDoubted: Bool)

  private let token = AbsenceDoubt.Absence(item: .token, cause: .missing)
  private let user = AbsenceDoubt.Absence(item: .user, cause: .missing)
  private let owner = AbsenceDoubt.Absence(item: .token, cause: .ownerMissing)

  private func expect(_ rows: [Row], _ comment: Comment) {
    var machine = AbsenceDoubt()
    for row in rows {
      #expect(machine.doubts(row.missing, at: row.uptime) == row.isDoubted, comment)
    }
  }

  @Test("RES-7 found: nothing is doubted")
  func found() {
    expect([(nil, 0, false), (nil, 9_000, false)], "nothing is missing")
    expect([(token, 5, true)], "the first result is doubted")
    expect([(token, .min, true), (token, .min, true)], "at any uptime")
  }

  @Test("RES-7 missing: the second result counts a second after the first")
  func second() {
    // A second result that counts too early would make the third one count too early.
    expect(
      [(token, 0, true), (token, 999, true), (token, 3_999, true), (token, 6_998, true)],
      "one millisecond too early: only the result at 3,999 is the second")
    expect([(token, 0, true), (token, 1_000, true), (token, 4_000, false)], "at one second")
  }

  @Test("RES-7 missing: the third result counts three seconds after the second")
  func third() {
    expect(
      [(token, 0, true), (token, 1_000, true), (token, 3_999, true), (token, 4_000, false)],
      "one millisecond too early, then believed")
    expect(
      [(token, 0, true), (token, 2_000, true), (token, 4_999, true), (token, 5_000, false)],
      "the pause begins with the second result")
    expect(
      [(token, 0, true), (token, 1_000, true), (token, 4_000, false), (token, 4_000, false)],
      "it stays believed")
  }

  @Test("RES-7 missing: another item, or another cause, begins anew")
  func otherItem() {
    for other in [user, owner] {
      expect(
        [
          (token, 0, true), (token, 1_000, true), (other, 4_000, true), (token, 9_000, true),
          (token, 10_000, true), (token, 13_000, false),
        ], "the count of the first item is forgotten")
    }
    expect(
      [(token, 0, true), (token, 1_000, true), (token, 4_000, false), (user, 4_001, true)],
      "a believed absence says nothing about another item")
  }

  @Test("RES-7 missing: a result without an absence begins anew")
  func reset() {
    expect(
      [
        (token, 0, true), (token, 1_000, true), (nil, 4_000, false), (token, 4_000, true),
        (token, 5_000, true), (token, 8_000, false), (nil, 8_001, false), (token, 9_000, true),
      ], "found, or not readable")
  }
}
