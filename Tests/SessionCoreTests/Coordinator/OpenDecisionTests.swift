@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: open, and other processes")
struct OpenDecisionTests {
  static let login = SessionEvent.login(
    SessionEvent.Login(
      user: "ada", method: .password,
      token: TokenMetadata(
        generation: Generation(1), issuedAt: CoordinatorBench().now.time,
        expiresAt: CoordinatorBench().now.time.advanced(by: CoordinatorBench.lifetime),
        isRefreshable: true), context: .plainTeacher))

  static func refreshed(_ generation: UInt64, request: UInt64 = 0) -> SessionEvent {
    .refreshSucceeded(
      SessionEvent.RefreshSucceeded(
        token: TokenMetadata(
          generation: Generation(generation), issuedAt: CoordinatorBench().now.time,
          expiresAt: CoordinatorBench().now.time.advanced(by: CoordinatorBench.lifetime),
          isRefreshable: true), trigger: .schedule, attempt: 1, isRotated: true,
        request: request))
  }

  static func sent(by process: UInt32, deadlineIn milliseconds: Int64) -> SessionNote {
    .requestSent(
      SessionNote.RequestSent(
        kind: .refresh, generation: Generation(1), trigger: .schedule, attempt: 1,
        process: process, deadline: CoordinatorBench().now.time.advanced(by: milliseconds)))
  }

  @Test(
    "RES-1 opening with a good token restores the session and schedules its refresh without a request"
  )
  func restores() throws {
    var bench = try CoordinatorBench(journal: [.event(Self.login)])
    #expect(bench.coordinator.activity == .loading)
    let effects = bench.tell(.opened(.session(1)))
    #expect(bench.coordinator.activity == .idle)
    #expect(effects.sendCount == 0)
    #expect(
      effects.uptime(of: .refresh) == bench.now.uptime + CoordinatorBench.lifetime - 60_000)
  }

  @Test("RES-1 LCH-1 half a second after an opening, a token that is no longer good is refreshed")
  func launch() throws {
    for (age, trigger) in [
      (CoordinatorBench.lifetime + 1, RefreshTrigger.launch),
      (CoordinatorBench.lifetime - 1_000, .schedule),
    ] {
      var bench = try CoordinatorBench(journal: [.event(Self.login)])
      bench.advance(by: age)
      let effects = bench.tell(.opened(.session(1)))
      #expect(effects.sendCount == 0 && bench.coordinator.activity == .idle)
      #expect(effects.uptime(of: .refresh) == bench.now.uptime + 500)
      #expect(bench.endLaunchPause().sendCount == 1)
      guard case .note(.requestSent(let sent)) = bench.journal.last?.content else {
        Issue.record("no request is noted")
        return
      }
      #expect(sent.trigger == trigger && bench.coordinator.activity == .refreshing)
    }
  }

  @Test("LCH-1 a caller that needs a token after an opening does not wait for that half second")
  func askedAtLaunch() throws {
    var bench = try CoordinatorBench(journal: [.event(Self.login)])
    bench.advance(by: CoordinatorBench.lifetime + 1)
    bench.tell(.opened(.session(1)))
    #expect(bench.tell(.refresh(bench.caller(), .manual, .ifExpired)).sendCount == 1)
  }

  @Test("LCH-1 a close in that half second waits for no request")
  func closedAtLaunch() throws {
    var bench = try CoordinatorBench(journal: [.event(Self.login)])
    bench.advance(by: CoordinatorBench.lifetime + 1)
    bench.tell(.opened(.session(1)))
    let closer = bench.caller()
    #expect(bench.tell(.close(closer)).reply(to: closer) == .closed)
    #expect(!bench.names.contains("requestSent"))
  }

  @Test("POL-3 a policy may refresh at every launch")
  func always() throws {
    var policy = SessionPolicy.bench
    policy.refresh.atLaunch = .always
    var bench = try CoordinatorBench(policy, journal: [.event(Self.login)])
    #expect(bench.tell(.opened(.session(1))).sendCount == 1)
  }

  @Test("RES-1 a missing required item ends the session with its reason")
  func missing() throws {
    for item in [SecretItem.token, .user, .context] {
      var policy = SessionPolicy.bench
      policy.limits.requiredItems = [.token, .user, .context]
      var bench = try CoordinatorBench(policy, journal: [.event(Self.login)])
      var facts = StoredItemsReport.session(1)
      switch item {
      case .token: facts.token = .absent
      case .user: facts.user = .absent
      default: facts.context = .absent
      }
      // A missing item is read twice again before anything ends (RES-7).
      for pause in [0, 1_000, 2_999] as [Int64] {
        bench.advance(by: pause)
        let effects = pause == 0 ? bench.tell(.opened(facts)) : bench.tell(.secretsRead(facts))
        #expect(
          bench.names == ["login", "storageFailed"] && bench.coordinator.activity == .loading)
        #expect(effects.uptime(of: .restore) != nil)
      }
      bench.advance(by: 1)
      bench.tell(.secretsRead(facts))
      // The token is present, and still valid at the server (OUT-6).
      let told = item == .token ? [] : ["revocationPending"]
      #expect(bench.names == ["login", "storageFailed", "sessionExpired", "logout"] + told)
      guard case .sessionExpired(let expiry) = bench.events[1] else { return }
      #expect(expiry.reason == .secretsMissing)
    }
  }

  @Test("RES-1 an item that is only a cache may be missing")
  func cache() throws {
    var bench = try CoordinatorBench(journal: [.event(Self.login)])
    var facts = StoredItemsReport.session(1)
    (facts.user, facts.context) = (.absent, .unreadable)
    bench.tell(.opened(facts))
    #expect(bench.names == ["login", "itemUnreadable"])
    #expect(bench.coordinator.state.kind == .authenticated)
  }

  @Test("RES-2 an unreadable token ends the session as corrupt storage")
  func corrupt() throws {
    var bench = try CoordinatorBench(.benchKeeping, journal: [.event(Self.login)])
    var facts = StoredItemsReport.session(1)
    facts.token = .unreadable
    bench.tell(.opened(facts))
    #expect(bench.names == ["login", "itemUnreadable", "sessionExpired"])
    guard case .expired(let expired) = bench.coordinator.state else {
      Issue.record("not expired")
      return
    }
    #expect(expired.reason == .corruptStorage)
  }

  @Test("RES-3 locked secrets are not missing: the session keeps loading and tries again")
  func locked() throws {
    var bench = try CoordinatorBench(journal: [.event(Self.login)])
    var facts = StoredItemsReport()
    facts.isLocked = true
    let effects = bench.tell(.opened(facts))
    #expect(effects.uptime(of: .restore) != nil)
    #expect(bench.coordinator.activity == .loading)
    #expect(bench.coordinator.state.kind == .authenticated)
    let caller = bench.caller()
    #expect(
      bench.tell(.refresh(caller, .manual, .always)).reply(to: caller)
        == .failed(.locked))
    #expect(bench.tell(.fired(.restore)) == [.readSecrets])
    bench.tell(.secretsRead(.session(1)))
    #expect(bench.coordinator.activity == .idle)
    #expect(!bench.names.contains("requestSent"))
  }

  @Test("REF-7 a stored token newer than the journal is announced as recovered")
  func recovers() throws {
    var bench = try CoordinatorBench(journal: [.event(Self.login)])
    bench.tell(.opened(.session(2, announcing: Self.refreshed(2))))
    #expect(bench.names == ["login", "tokenRecovered", "refreshSucceeded"])
    #expect(bench.coordinator.state.token?.generation == Generation(2))
  }

  @Test("REF-7 a login whose event was lost in a crash is recovered too")
  func recoversLogin() {
    var bench = CoordinatorBench()
    bench.tell(.opened(.session(1, announcing: Self.login)))
    #expect(bench.names == ["tokenRecovered", "login"])
    #expect(bench.coordinator.state.user == "ada")
  }

  @Test("OUT-1 a journal that is signed out takes precedence over stored secrets")
  func signedOutWins() throws {
    var bench = try CoordinatorBench(journal: [
      .event(Self.login), .event(.logout(SessionEvent.Logout(reason: .user))),
    ])
    let effects = bench.tell(.opened(.session(1, announcing: Self.login)))
    #expect(effects.contains(.wipe(.session)))
    #expect(bench.names == ["login", "logout", "secretsWiped"])
    #expect(bench.coordinator.state == .unauthenticated)
  }

  @Test("OUT-1 after a crash between logout and wipe, opening wipes and revokes")
  func killedBeforeWipe() throws {
    var bench = try CoordinatorBench(journal: [
      .event(Self.login), .event(.logout(SessionEvent.Logout(reason: .user))),
      .note(.revocationPending(Generation(1))),
    ])
    let effects = bench.tell(.opened(.session(1, announcing: Self.login)))
    #expect(
      effects == [.wipe(.everything(keepingRevocation: Generation(1))), .revoke(Generation(1))])
    bench.tell(.wiped(.done))
    bench.tell(.revoked(Generation(1), .revoked, status: 0))
    #expect(bench.coordinator.fold.intents.revocations.isEmpty)
  }

  @Test("OUT-1 a revocation without its token is settled as abandoned")
  func abandoned() throws {
    var bench = try CoordinatorBench(journal: [
      .event(Self.login), .event(.logout(SessionEvent.Logout(reason: .user))),
      .note(.revocationPending(Generation(1))),
    ])
    #expect(bench.tell(.opened(.nothing)) == [.wipe(.session)])
    #expect(bench.names.last == "revocationSettled")
    #expect(bench.coordinator.fold.intents.revocations.isEmpty)
  }

  @Test("RES-3 another process's token that cannot be read yet does not end the session")
  func reloadFails() throws {
    var bench = try CoordinatorBench(journal: [.event(Self.login)])
    bench.tell(.opened(.session(1)))
    bench.commitEndings = [.conflicts([.event(Self.refreshed(2))])]
    let (_, effects) = bench.refresh()
    #expect(effects.contains(.reloadToken(Generation(2))))
    #expect(bench.tell(.reloaded(Generation(2), .unread)).uptime(of: .restore) != nil)
    #expect(bench.coordinator.activity == .loading)
    #expect(bench.tell(.fired(.restore)) == [.readSecrets])
    bench.tell(.secretsRead(.session(2)))
    #expect(bench.coordinator.state.token?.generation == Generation(2))
    #expect(!bench.names.contains("sessionExpired"))
  }

  @Test("RES-5 another journal's secrets are not restored")
  func otherJournal() {
    var bench = CoordinatorBench()
    var facts = StoredItemsReport.session(7, announcing: Self.refreshed(7))
    (facts.token, facts.user, facts.context) = (.otherJournal, .otherJournal, .otherJournal)
    let effects = bench.tell(.opened(facts))
    #expect(effects.contains(.wipe(.session)))
    #expect(
      bench.journal.map(\.content) == [.note(.secretsWiped(.otherJournal))])
  }

  @Test("a stored token older than the journal's ends the session as a restored backup")
  func outdated() throws {
    var bench = try CoordinatorBench(
      .benchKeeping, journal: [.event(Self.login), .event(Self.refreshed(2))])
    bench.tell(.opened(.session(1)))
    guard case .expired(let expired) = bench.coordinator.state else {
      Issue.record("not expired")
      return
    }
    #expect(expired.reason == .secretsOutdated)
  }

  @Test("REF-7 a request left open by an ended process counts as a lost reply and is retried")
  func crashedInRefresh() throws {
    var bench = try CoordinatorBench(journal: [
      .event(Self.login), .note(Self.sent(by: 99, deadlineIn: 20_000)),
    ])
    var facts = StoredItemsReport.session(1)
    facts.isHolderGone = true
    bench.tell(.opened(facts))
    #expect(bench.endLaunchPause().sendCount == 1)
    #expect(bench.names == ["login", "requestSent", "refreshFailed", "requestSent"])
    guard case .refreshFailed(let failed) = bench.events[1] else { return }
    #expect(failed.failure.kind == .noReply)
    #expect(failed.request == 2)
  }

  @Test("REF-10 an opening that presumes a request lost reads the journal before its own request")
  func overtakesAtOpening() throws {
    var bench = try CoordinatorBench(journal: [
      .event(Self.login), .note(Self.sent(by: 99, deadlineIn: -5_000)),
    ])
    bench.tell(.opened(.session(1)))
    let opened = bench.endLaunchPause()
    #expect(bench.names.suffix(2) == ["refreshFailed", "requestSent"])
    #expect(opened.sendCount == 0 && opened.uptime(of: .lease) == bench.now.uptime + 100)
    #expect(bench.pollJournal(for: 100).sendCount == 1)
  }

  @Test("REF-3 another process's request is polled until it ends, at most to its deadline")
  func lease() throws {
    var bench = try CoordinatorBench(journal: [
      .event(Self.login), .note(Self.sent(by: 99, deadlineIn: 20_000)),
    ])
    bench.tell(.opened(.session(1)))
    let (waiter, effects) = bench.refresh()
    #expect(effects.sendCount == 0)
    for _ in 0..<199 {
      bench.advance(by: 100)
      #expect(bench.tell(.fired(.lease)) == [.readJournal])
      let again = bench.tell(.observed([], isHolderGone: false))
      #expect(again == [.schedule(.lease, uptime: bench.now.uptime + 100)])
    }
    bench.advance(by: 100)
    bench.tell(.fired(.lease))
    #expect(bench.tell(.observed([], isHolderGone: false)).sendCount == 0)
    #expect(bench.names.suffix(2) == ["refreshFailed", "requestSent"])
    let overtaking = bench.pollJournal(for: 100)
    #expect(overtaking.sendCount == 1)
    let done = bench.tell(.answered(overtaking.request ?? RequestNumber(0), .token()))
    #expect(done.reply(to: waiter) == .refreshed)
  }

  @Test("CTX-2 a switch also waits for another process's request")
  func leaseForSwitch() throws {
    var bench = try CoordinatorBench(journal: [
      .event(Self.login), .note(Self.sent(by: 99, deadlineIn: 20_000)),
    ])
    bench.tell(.opened(.session(1)))
    #expect(bench.tell(.switchContext(bench.caller())).sendCount == 0)
    let record = SessionRecord(
      sequence: 3, time: bench.now.time, content: .event(Self.refreshed(2, request: 2)))
    #expect(bench.tell(.observed([record], isHolderGone: false)).sendCount == 1)
  }

  @Test("REF-3 if another process rotated first, its token is used and the late response is not")
  func rotatedElsewhere() throws {
    var bench = try CoordinatorBench(journal: [.event(Self.login)])
    bench.tell(.opened(.session(1)))
    let (waiter, sent) = bench.refresh()
    bench.commitEndings = [.conflicts([.event(Self.refreshed(2))])]
    let number = sent.request ?? RequestNumber(0)
    let effects = bench.tell(.answered(number, .token()))
    #expect(effects.reply(to: waiter) == .refreshed)
    #expect(effects.contains(.reloadToken(Generation(2))))
    #expect(bench.names == ["login", "requestSent", "refreshSucceeded", "answerUnused"])
    #expect(!bench.coordinator.isHolding(number))
  }

  @Test("a rejected refresh does not end the session if another process has rotated")
  func rejectedAfterRotation() throws {
    var bench = try CoordinatorBench(journal: [.event(Self.login)])
    bench.tell(.opened(.session(1)))
    let (waiter, sent) = bench.refresh()
    bench.commitEndings = [.conflicts([.event(Self.refreshed(2))])]
    let effects = bench.tell(
      .failed(
        sent.request ?? RequestNumber(0), RequestFailure(kind: .rejected, status: 401),
        jitter: 0))
    #expect(effects.reply(to: waiter) == .refreshed)
    #expect(bench.coordinator.state.kind == .authenticated)
    #expect(!bench.names.contains("sessionExpired"))
  }

  @Test("after another process's logout, waiters are answered, secrets wiped and nothing is sent")
  func loggedOutElsewhere() throws {
    var bench = try CoordinatorBench(journal: [.event(Self.login)])
    bench.tell(.opened(.session(1)))
    bench.commitEndings = [
      .conflicts([.event(.logout(SessionEvent.Logout(reason: .user)))])
    ]
    let (waiter, effects) = bench.refresh()
    #expect(effects.reply(to: waiter) == .failed(.ended(.unauthenticated, by: nil)))
    #expect(effects.sendCount == 0)
    #expect(effects.contains(.wipe(.session)))
    #expect(bench.names == ["login", "logout"])
  }

  @Test("JRN-3 an essential record of a newer version stops the session")
  func newer() throws {
    var bench = try CoordinatorBench(journal: [.event(Self.login)])
    bench.tell(.opened(.session(1)))
    bench.commitEndings = [
      .conflicts([.unknown(SessionRecord.Unknown(kind: 9, payload: [1, 2]))])
    ]
    let (waiter, effects) = bench.refresh()
    #expect(effects.reply(to: waiter) == .failed(.unusableJournal(.unknownKind(9, sequence: 2))))
    let late = bench.caller()
    #expect(
      bench.tell(.logout(late)).reply(to: late)
        == .failed(.unusableJournal(.unknownKind(9, sequence: 2))))
  }

  @Test("REF-8 a wall clock set back by days does not lengthen a restored token's life")
  func clockBack() throws {
    var bench = try CoordinatorBench(journal: [.event(Self.login)])
    bench.now = ClockReading(
      time: bench.now.time.advanced(by: -86_400_000 * 30), uptime: bench.now.uptime)
    bench.tell(.opened(.session(1)))
    #expect(bench.coordinator.tokenDeadline == bench.now.uptime + CoordinatorBench.lifetime)
  }

  @Test(
    "RES-6 with a full disk, opening serves the token and journals its notes later")
  func openedOnFullDisk() throws {
    var bench = try CoordinatorBench(journal: [.event(Self.login)])
    bench.commitEndings = [.fails]
    var facts = StoredItemsReport.session(1)
    facts.notes = [.tailCut(SessionNote.TailCut(bytes: 7, isUndetermined: false))]
    facts.user = .unreadable
    let effects = bench.tell(.opened(facts))
    #expect(bench.coordinator.activity == .idle)
    #expect(bench.coordinator.isTokenGood(at: bench.now.uptime))
    #expect(effects.uptime(of: .refresh) != nil)
    #expect(!bench.names.contains("requestSent"))
    #expect(bench.refresh().1.sendCount == 1)
    #expect(bench.names == ["login", "tailCut", "itemUnreadable", "requestSent"])
  }

  @Test("RES-6 with a full disk, opening retries records that begin or end a session")
  func endOnFullDisk() throws {
    var bench = try CoordinatorBench(journal: [.event(Self.login)])
    var outdated = StoredItemsReport.session(1)
    outdated.generation = .none
    bench.commitEndings = [.fails]
    let effects = bench.tell(.opened(outdated))
    #expect(bench.coordinator.activity == .loading)
    let again = try #require(effects.uptime(of: .restore))
    bench.advance(by: again - bench.now.uptime)
    #expect(bench.tell(.fired(.restore)).contains(.readSecrets))
    bench.tell(.secretsRead(outdated))
    #expect(bench.names == ["login", "sessionExpired", "logout"])
  }
}
