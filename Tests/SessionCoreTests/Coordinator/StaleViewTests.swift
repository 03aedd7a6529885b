@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: records of other processes are read before a command is rejected")
struct StaleViewTests {
  /// A bench that was opened before another process signed Ada in.
  private func stale(finding contents: [SessionRecord.Content] = [.event(.login(as: "ada"))])
    -> CoordinatorBench
  {
    var bench = CoordinatorBench()
    bench.tell(.opened(.nothing))
    bench.lookEndings = [.finds(contents)]
    return bench
  }

  @Test("OUT-1 a logout after another process's sign-in is journaled as one")
  func logout() {
    var bench = stale()
    let caller = bench.caller()
    let effects = bench.tell(.logout(caller))
    #expect(effects.reply(to: caller) == nil)
    #expect(bench.names == ["login", "logout", "revocationPending"])
    #expect(effects.contains(.wipe(.everything(keepingRevocation: Generation(1)))))
    bench.tell(.wiped(.done))
    let told = bench.tell(.revoked(Generation(1), .revoked, status: 0))
    #expect(told.reply(to: caller) == .loggedOut(.revoked, status: 0, isWiped: true))
  }

  @Test("OUT-2 without a sign-in, a logout is answered after the read and journals nothing")
  func nobody() {
    var bench = CoordinatorBench()
    bench.tell(.opened(.nothing))
    let caller = bench.caller()
    var coordinator = bench.coordinator
    #expect(coordinator.handle(.logout(caller), at: bench.now) == [.readJournal])
    #expect(bench.tell(.logout(caller)).reply(to: caller) == .alreadyLoggedOut)
    #expect(bench.names.isEmpty)
  }

  @Test("REF-3 a refresh after another process's sign-in finds its session")
  func refresh() {
    var bench = stale()
    let caller = bench.caller()
    let effects = bench.tell(.refresh(caller, .manual, .always))
    #expect(effects.place { $0 == .reloadToken(Generation(1)) } == 0)
    #expect(effects.sendCount == 1)
    #expect(effects.reply(to: caller) == nil)

    var needed = stale()
    let other = needed.caller()
    let told = needed.tell(.refresh(other, .manual, .ifExpired))
    #expect(told.reply(to: other) == .refreshed)
    #expect(told.sendCount == 0)
  }

  @Test("CTX-1 a switch after another process's sign-in is sent, also after an expiry")
  func switchContext() throws {
    var bench = stale()
    #expect(bench.tell(.switchContext(bench.caller())).sendCount == 1)

    var expired = try CoordinatorBench(journal: [
      .event(.login(as: "ada")), .event(.expired(.inactivity)),
    ])
    expired.tell(.opened(.nothing))
    expired.lookEndings = [.finds([.event(.login(as: "ada", token: 2))])]
    #expect(expired.tell(.switchContext(expired.caller())).sendCount == 1)
  }

  @Test("LOG-10 a login is sent after another process's logout; a failed read refuses it")
  func login() {
    var bench = CoordinatorBench.signedIn()
    bench.lookEndings = [.finds([.event(.loggedOut())])]
    let effects = bench.tell(.login(bench.caller(), .password))
    #expect(effects.sendCount == 1)

    var other = CoordinatorBench.signedIn()
    let caller = other.caller()
    var coordinator = other.coordinator
    #expect(coordinator.handle(.login(caller, .password), at: other.now) == [.readJournal])
    other.lookEndings = [.fails]
    #expect(other.tell(.login(caller, .password)) == [.resume(caller, .failed(.storage))])
  }

  @Test(
    "OUT-1 a journal that cannot be read results in an error, never in a rejection as signed out")
  func unreadable() {
    let questions: [(Caller) -> SessionInput] = [
      { .logout($0) }, { .switchContext($0) }, { .refresh($0, .manual, .ifExpired) },
    ]
    for question in questions {
      var bench = stale()
      bench.lookEndings = [.fails]
      let caller = bench.caller()
      #expect(bench.tell(question(caller)) == [.resume(caller, .failed(.storage))])
      #expect(bench.names.isEmpty)
    }
  }

  @Test("OUT-4 calls during the read wait for it, and a login under way is given up")
  func during() {
    var bench = CoordinatorBench()
    bench.tell(.opened(.nothing))
    let signer = bench.caller()
    let sent = bench.tell(.login(signer, .password))
    let (leaver, second) = (bench.caller(), bench.caller())
    var coordinator = bench.coordinator
    #expect(coordinator.handle(.logout(leaver), at: bench.now) == [.readJournal])
    #expect(coordinator.handle(.login(second, .password), at: bench.now).isEmpty)
    let answer = SessionInput.answered(sent.request ?? RequestNumber(0), .login("ada"))
    #expect(coordinator.handle(answer, at: bench.now).isEmpty)
    let effects = coordinator.handle(.observed([], isHolderGone: false), at: bench.now)
    #expect(effects.reply(to: leaver) == .alreadyLoggedOut)
    #expect(effects.reply(to: signer) == .failed(.ended(.unauthenticated, by: nil)))
    #expect(effects.contains(.discard(sent.request ?? RequestNumber(0), revoking: true)))
    #expect(effects.sendCount == 1)
  }

  @Test("REF-3 nothing is committed while another's request is read")
  func lease() throws {
    let sent = SessionNote.RequestSent(
      kind: .refresh, generation: Generation(1), trigger: .schedule, attempt: 1, process: 77,
      deadline: CoordinatorBench.start.time.advanced(by: 20_000))
    var bench = try CoordinatorBench(journal: [
      .event(.login(as: "ada")), .note(.requestSent(sent)),
    ])
    bench.tell(.opened(.session(1)))
    bench.refresh()
    #expect(bench.tell(.fired(.lease)) == [.readJournal])
    let leaver = bench.caller()
    #expect(bench.tell(.logout(leaver)).isEmpty)
    let failed = bench.tell(.unobserved)
    #expect(failed.contains(.wipe(.everything(keepingRevocation: Generation(1)))))
    #expect(bench.names.suffix(2) == ["logout", "revocationPending"])
  }
}

@Suite("Decisions: another process compacted the journal")
struct SnapshotDecisionTests {
  private func record(_ fold: SessionFold) -> SessionRecord {
    SessionRecord(sequence: fold.sequence, time: SampleRecords.time, content: .snapshot(fold))
  }

  private func fold(_ contents: [SessionRecord.Content], at time: Timestamp) throws -> SessionFold {
    try zip(UInt64(1)..., contents).reduce(into: SessionFold()) {
      try $0.apply(SessionRecord(sequence: $1.0, time: time, content: $1.1))
    }
  }

  private static let login = SessionRecord.Content.event(SampleRecords.events[0])

  private func coordinator(_ fold: SessionFold) -> SessionCoordinator {
    var coordinator = SessionCoordinator(policy: PolicyFigures(.standard), fold: fold)
    var facts = StoredItemsReport()
    (facts.token, facts.generation) = (.present, fold.generation)
    _ = coordinator.handle(.opened(facts), at: ClockReading(time: SampleRecords.time, uptime: 0))
    return coordinator
  }

  private let now = ClockReading(time: SampleRecords.time, uptime: 0)

  @Test("JRN-4 STA-7 a snapshot replaces the fold, and subscribers learn which events they missed")
  func replaced() throws {
    let start = try fold([Self.login], at: SampleRecords.time)
    let ahead = try fold(
      [Self.login, .event(SampleRecords.events[2]), .note(.closed)], at: SampleRecords.time)
    var coordinator = coordinator(start)
    let after = SessionRecord(
      sequence: 4, time: SampleRecords.time, content: .event(SampleRecords.events[6]))
    let effects = coordinator.handle(
      .observed([record(ahead), after], isHolderGone: false), at: now)
    #expect(coordinator.fold.sequence == 4)
    #expect(coordinator.state.token?.generation == Generation(2))
    let told = effects.filter {
      switch $0 {
      case .skip, .publish: true
      default: false
      }
    }
    #expect(
      told == [
        .skip(through: 3),
        .publish([
          RecordedEvent(sequence: 4, time: SampleRecords.time, event: SampleRecords.events[6])
        ]),
      ])
    #expect(effects.contains(.reloadToken(Generation(2))))
  }

  @Test("JRN-4 a snapshot without a new event results in no gap")
  func notesOnly() throws {
    let start = try fold([Self.login], at: SampleRecords.time)
    let ahead = try fold([Self.login, .note(.closed)], at: SampleRecords.time)
    var coordinator = coordinator(start)
    let effects = coordinator.handle(.observed([record(ahead)], isHolderGone: false), at: now)
    #expect(coordinator.fold == ahead)
    #expect(!effects.contains(.skip(through: 2)))
  }

  @Test("JRN-4 a waiting caller receives the end of a session that a snapshot contains")
  func ended() throws {
    let start = try fold([Self.login], at: SampleRecords.time)
    let events: [SessionEvent] = [
      SampleRecords.events[0], .logout(.init(reason: .user)),
      .login(.init(user: SampleRecords.user, method: .password, token: SampleRecords.token(2))),
    ]
    let other = try fold(events.map { .event($0) }, at: SampleRecords.time.advanced(by: 1))
    var coordinator = coordinator(start)
    let sent = coordinator.handle(.refresh(Caller(1), .manual, .always), at: now)
    guard case .commit? = sent.last else {
      Issue.record("no commit: \(sent)")
      return
    }
    let effects = coordinator.handle(.conflicted([record(other)]), at: now)
    #expect(
      effects.contains(.resume(Caller(1), .failed(.ended(.unauthenticated, by: nil)))), "\(effects)"
    )
    #expect(coordinator.state.token?.generation == Generation(2))
  }

  @Test("JRN-4 a snapshot that contradicts the fold stops the session and changes nothing")
  func contradiction() throws {
    let start = try fold([Self.login, .event(SampleRecords.events[2])], at: SampleRecords.time)
    let behind = try fold([Self.login], at: SampleRecords.time)
    var coordinator = coordinator(start)
    _ = coordinator.handle(.observed([record(behind)], isHolderGone: false), at: now)
    #expect(coordinator.fold == start)
    let effects = coordinator.handle(.refresh(Caller(1), .manual, .always), at: now)
    #expect(effects == [.resume(Caller(1), .failed(.unusableJournal(.contradiction(sequence: 1))))])
  }
}
