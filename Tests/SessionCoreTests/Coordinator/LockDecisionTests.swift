import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionCore

@Suite("Decisions: a session that the app has locked")
struct LockDecisionTests {
  private static func policy(_ lock: SessionPolicy.Lock) -> SessionPolicy {
    var policy = SessionPolicy.benchKeeping
    policy.lock = lock
    return policy
  }

  /// Asks to unlock; returns the caller and the number of its check, if it has one.
  private func asked(_ bench: inout CoordinatorBench) -> (Caller, UInt64?) {
    let caller = bench.caller()
    guard case .unlocking(let number)? = bench.tell(.beginUnlock(caller)).reply(to: caller) else {
      return (caller, nil)
    }
    return (caller, number)
  }

  private func unlock(_ bench: inout CoordinatorBench) throws {
    let (caller, number) = asked(&bench)
    #expect(bench.tell(.checkPassed(caller, try #require(number))).reply(to: caller) == .current)
  }

  @Test("ACC-2 each input in each state does what the specification's table says")
  func table() throws {
    let user = AppLock.Input.lock(.user)
    let inputs: [(name: String, input: AppLock.Input)] = [
      ("lock by the app", user), ("lock by itself", .lock(.launch)),
      ("batch of this process", .journaled), ("lock of another process", .peerLocked),
      ("unlock of another process", .peerUnlocked), ("end of the session", .ended),
    ]
    let pasts: [(name: String, inputs: [AppLock.Input])] = [
      ("open", []), ("unnoted", [user]), ("noted", [user, .journaled]),
    ]
    let rows = try SpecFile("Specs/Transitions.md").table(under: "The lock of an app")
    #expect(rows.map { $0["input"] } == inputs.map(\.name))
    for (row, (name, input)) in zip(rows, inputs) {
      for (past, before) in pasts {
        var lock = AppLock(nil)
        for input in before { try lock.take(input) }
        let begun = lock.beginCheck()
        let check = try #require(begun)
        try lock.take(input)
        let state = !lock.isLocked ? "open" : lock.note(after: 0) == nil ? "noted" : "unnoted"
        let word = lock.isUnlocked(by: check) ? state : "\(state), check void"
        #expect(word == row[past], "\(name) while \(past)")
      }
    }
  }

  @Test("ACC-2 a lock is journaled, refuses who waits for a token, and ends nothing")
  func locks() throws {
    var bench = CoordinatorBench.signedIn()
    let (waiter, sent) = bench.refresh()
    let (caller, events) = (bench.caller(), bench.events.count)
    let effects = bench.tell(.lock(caller))
    #expect(effects.reply(to: caller) == .current && bench.names.last == "locked")
    #expect(effects.reply(to: waiter) == .failed(.appLocked))
    // The request is on the wire, and its token may be the only one that the server still accepts.
    bench.tell(.answered(try #require(sent.request), .token()))
    #expect(bench.coordinator.fold.generation == Generation(2) && bench.events.count == events + 1)
    #expect(bench.refresh().1 == [.resume(Caller(bench.callers), .failed(.appLocked))])
    let switcher = bench.caller()
    #expect(bench.tell(.switchContext(switcher)).reply(to: switcher) == .failed(.appLocked))
    #expect(bench.coordinator.state.kind == .authenticated)
    try unlock(&bench)
    #expect(bench.names.last == "unlocked" && bench.refresh().1.request != nil)
  }

  @Test(
    "ACC-2 a refresh goes on while locked, or is held until the unlock", arguments: [true, false])
  func refreshes(isAllowed: Bool) throws {
    var bench = CoordinatorBench.signedIn(Self.policy(.init(allowsRefresh: isAllowed)))
    bench.tell(.lock(bench.caller()))
    bench.advance(by: 2 * CoordinatorBench.lifetime)
    #expect((bench.tell(.fired(.refresh)).request != nil) == isAllowed)
    guard !isAllowed else { return }
    let foreground = bench.caller()
    #expect(bench.tell(.foreground(foreground)) == [.resume(foreground, .current)])
    let (caller, number) = asked(&bench)
    #expect(bench.tell(.checkPassed(caller, try #require(number))).request != nil)
  }

  @Test("ACC-2 a token that cannot be refreshed ends while a refresh would be held")
  func expires() {
    var bench = CoordinatorBench.signedIn(
      Self.policy(.init(allowsRefresh: false)), isRefreshable: false)
    bench.tell(.lock(bench.caller()))
    bench.advance(by: CoordinatorBench.lifetime)
    bench.tell(.fired(.expiry))
    #expect(bench.coordinator.state.kind == .expired && !bench.coordinator.isLocked)
  }

  @Test("ACC-2 of two unlocks one checks; if its check fails, the other one checks")
  func checks() throws {
    var bench = CoordinatorBench.signedIn()
    bench.tell(.lock(bench.caller()))
    let (first, number) = asked(&bench)
    let (second, none) = asked(&bench)
    #expect(none == nil)
    let next = bench.tell(.checkFailed(try #require(number)))
    guard case .unlocking(let again)? = next.reply(to: second) else {
      Issue.record("the second one is not asked to check")
      return
    }
    let (third, _) = asked(&bench)
    let done = bench.tell(.checkPassed(second, again))
    #expect(done.reply(to: second) == .current && done.reply(to: third) == .current)
    #expect(bench.tell(.checkPassed(first, again)).reply(to: first) == .current)
    #expect(bench.names.count { $0 == "unlocked" } == 1)
  }

  @Test("ACC-2 a lock during a check stays, here and of another process")
  func relocked() throws {
    var bench = CoordinatorBench.signedIn()
    bench.tell(.lock(bench.caller()))
    let (caller, number) = asked(&bench)
    let (waiter, _) = asked(&bench)
    #expect(bench.tell(.lock(bench.caller())).reply(to: waiter) == .failed(.appLocked))
    let late = bench.tell(.checkPassed(caller, try #require(number)))
    #expect(late.reply(to: caller) == .failed(.appLocked) && bench.coordinator.isLocked)

    let (other, again) = asked(&bench)
    bench.commitEndings = [.conflicts([.note(.locked(.user))])]
    let refused = bench.tell(.checkPassed(other, try #require(again)))
    #expect(refused.reply(to: other) == .failed(.appLocked) && bench.coordinator.isLocked)
    // A check that hangs prevents no other one after a lock.
    _ = asked(&bench)
    bench.tell(.lock(bench.caller()))
    try unlock(&bench)
  }

  @Test("ACC-2 other processes lock and unlock")
  func peers() {
    var bench = CoordinatorBench.signedIn()
    let (waiter, _) = bench.refresh()
    bench.lookEndings = [.finds([.note(.locked(.user))])]
    let effects = bench.tell(.foreground(bench.caller()))
    #expect(effects.reply(to: waiter) == .failed(.appLocked) && bench.coordinator.isLocked)
    bench.lookEndings = [.finds([.note(.unlocked)])]
    #expect(asked(&bench).1 == nil && !bench.coordinator.isLocked)
    // A lock that is met when a token is to be journaled.
    let (other, sent) = (bench.caller(), RequestNumber(1))
    bench.tell(.answered(sent, .token()))
    bench.tell(.refresh(other, .manual, .always))
    bench.commitEndings = [.conflicts([.note(.locked(.user))])]
    let met = bench.tell(.answered(RequestNumber(2), .token()))
    #expect(met.reply(to: other) == .failed(.appLocked) && bench.names.last == "refreshSucceeded")
  }

  @Test("ACC-2 without its note a lock counts in its process; without its note an unlock does not")
  func unjournaled() throws {
    var bench = CoordinatorBench.signedIn()
    bench.commitEndings = [.fails, .fails]
    let caller = bench.caller()
    #expect(bench.tell(.lock(caller)).reply(to: caller) == .failed(.storage))
    #expect(bench.coordinator.isLocked && bench.names.last == "login")
    let (other, number) = asked(&bench)
    let failed = bench.tell(.checkPassed(other, try #require(number)))
    #expect(failed.reply(to: other) == .failed(.storage) && bench.coordinator.isLocked)
    try unlock(&bench)
    #expect(bench.names.suffix(2) == ["locked", "unlocked"])
  }

  @Test("ACC-2 the lock ends with the session, and a new login is unlocked")
  func ends() {
    var bench = CoordinatorBench.signedIn()
    bench.tell(.lock(bench.caller()))
    let (first, number) = asked(&bench)
    let (second, _) = asked(&bench)
    let logout = bench.tell(.logout(bench.caller()))
    #expect(logout.reply(to: second) == .failed(.ended(.unauthenticated, by: nil)))
    let passed = bench.tell(.checkPassed(first, number ?? 0))
    #expect(passed.reply(to: first) != .current && !bench.names.contains("unlocked"))
    let sent = bench.tell(.login(bench.caller(), .password)).request
    bench.tell(.answered(sent ?? RequestNumber(0), .login("ada")))
    #expect(bench.coordinator.state.kind == .authenticated && !bench.coordinator.isLocked)
    let caller = bench.caller()
    bench.tell(.logout(bench.caller()))
    #expect(bench.tell(.lock(caller)).reply(to: caller) != .current)
  }

  @Test("ACC-2 POL-5 it locks after the time without a use, and an unlock is a use")
  func unused() throws {
    var bench = CoordinatorBench.signedIn(Self.policy(.init(afterUnused: .seconds(300))))
    bench.advance(by: 200_000)
    bench.tell(.used(bench.now.uptime))
    bench.advance(by: 299_999)
    #expect(bench.tell(.fired(.inactivity)).uptime(of: .inactivity) == bench.now.uptime + 1)
    bench.advance(by: 1)
    #expect(bench.tell(.fired(.inactivity)) == [.readUse])
    bench.tell(.useRead(bench.now.uptime - 1_000))
    #expect(!bench.coordinator.isLocked, "another process has used it")
    bench.advance(by: 299_000)
    bench.tell(.fired(.inactivity))
    bench.tell(.useRead(.min))
    #expect(bench.coordinator.fold.intents.lock?.reason == .unused)
    try unlock(&bench)
    bench.advance(by: 299_999)
    #expect(bench.tell(.fired(.inactivity)).uptime(of: .inactivity) == bench.now.uptime + 1)
  }

  @Test("ACC-2 POL-5 a locked session still expires by inactivity")
  func inactive() {
    var policy = Self.policy(.init(afterUnused: .seconds(300)))
    policy.ending.inactivityLimit = .seconds(600)
    var bench = CoordinatorBench.signedIn(policy)
    for _ in 0..<2 {
      bench.advance(by: 300_000)
      bench.tell(.fired(.inactivity))
      bench.tell(.useRead(.min))
    }
    #expect(bench.names.suffix(3) == ["locked", "sessionExpired", "revocationPending"])
  }

  @Test(
    "ACC-2 LCH-1 an opening locks by launch, or if it was unused too long, and writes nothing",
    arguments: [
      (true, 0, SessionNote.LockReason.launch), (false, 300_000, .unused), (false, nil, .unused),
      (false, 299_999, nil),
    ] as [(Bool, Int64?, SessionNote.LockReason?)])
  func opened(atLaunch: Bool, idle: Int64?, reason: SessionNote.LockReason?) throws {
    let policy = Self.policy(.init(afterUnused: .seconds(300), atLaunch: atLaunch))
    var bench = try CoordinatorBench(policy, journal: [.event(.login(as: "ada"))])
    var facts = StoredItemsReport.session(1)
    (facts.idle, facts.notes) = (idle, [.opened(.init(process: 1, boot: nil, uptime: 0))])
    bench.tell(.opened(facts))
    #expect(bench.names == ["login"] && bench.coordinator.isLocked == (reason != nil))
    guard let reason else { return }
    try unlock(&bench)
    #expect(bench.names == ["login", "opened", "locked", "unlocked"])
    #expect(bench.journal.map(\.content).contains(.note(.locked(reason))))
  }

  @Test("ACC-2 REF-7 a login that only an opening journals is locked at launch too")
  func takenOver() throws {
    var bench = CoordinatorBench(Self.policy(.init(atLaunch: true)))
    bench.tell(.opened(.session(1, announcing: .login(as: "ada"))))
    #expect(bench.names.last == "locked" && bench.coordinator.isLocked)
  }

  @Test("ACC-2 JRN-4 a lock survives a restart and a compaction, also one of many refreshes")
  func kept() throws {
    var bench = CoordinatorBench.signedIn()
    bench.tell(.lock(bench.caller()))
    var plan = RetentionPlan(RetentionPolicy(maximumRecords: 10, keptRecords: 2))
    while bench.names.count(where: { $0 == "locked" }) < 2 {
      bench.advance(by: CoordinatorBench.lifetime - 1_000)
      guard let sent = bench.tell(.fired(.refresh)).request else { break }
      bench.tell(.answered(sent, .token()))
      try #require(bench.journal.count < 2 * AppLock.repetition)
    }
    for record in bench.journal { plan.take(record, bytes: 100) }
    let first = try #require(plan.firstKept)
    #expect(bench.journal[Int(first) - 1].name == "locked")
    #expect(first > AppLock.repetition, "the note before is not needed any more")
    var (before, fold) = (SessionFold(), SessionFold())
    for record in bench.journal.prefix(Int(first) - 1) { try before.apply(record) }
    // A snapshot in a file holds no lock.
    let (kind, payload) = SessionCodec.encode(.snapshot(before), at: SampleRecords.time)
    try fold.apply(try SessionCodec.decode(sequence: first - 1, kind: kind, payload: payload))
    #expect(fold.intents.lock == nil)
    for record in bench.journal.suffix(from: Int(first) - 1) { try fold.apply(record) }
    #expect(SessionCoordinator(policy: PolicyFigures(.bench), fold: fold).isLocked)
  }
}

extension AppLock {
  fileprivate enum Input {
    case lock(SessionNote.LockReason)
    case journaled, peerLocked, peerUnlocked, ended
  }

  fileprivate mutating func take(_ input: Input) throws {
    switch input {
    case .lock(let reason): lock(reason)
    case .journaled: journaled(isLocked ? try Self.noted(2) : nil)
    case .peerLocked: follow(try Self.noted(3), hasEnded: false)
    case .peerUnlocked: follow(nil, hasEnded: false)
    case .ended: follow(nil, hasEnded: true)
    }
  }

  private static func noted(_ sequence: UInt64) throws -> OpenLock? {
    var intents = OpenIntents()
    intents.apply(.locked(.user), sequence: sequence, at: SampleRecords.time)
    return intents.lock
  }
}
