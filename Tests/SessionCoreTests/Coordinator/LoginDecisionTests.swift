import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionCore

@Suite("Decisions: login")
struct LoginDecisionTests {
  @Test("LOG-4 a login is journaled before its caller continues and subscribers see it")
  func order() {
    var bench = CoordinatorBench()
    bench.tell(.opened(.nothing))
    let caller = bench.caller()
    let sent = bench.tell(.login(caller, .password))
    #expect(bench.coordinator.activity == .authenticating)
    #expect(bench.journal.isEmpty, "an attempt to sign in leaves no trace before it succeeds")
    let effects = bench.tell(.answered(sent.request ?? RequestNumber(0), .login("ada")))
    #expect(bench.names == ["login"])
    #expect(bench.coordinator.state.user == "ada")
    #expect(bench.coordinator.activity == .idle)
    let resumed = effects.place { $0 == .resume(caller, .signedIn) }
    let published = effects.place { if case .publish = $0 { true } else { false } }
    #expect(resumed < published)
    #expect(published < effects.count)
    #expect(effects.uptime(of: .refresh) == bench.now.uptime + CoordinatorBench.lifetime - 60_000)
  }

  @Test("LOG-4 a failed login appends nothing and stores nothing; clearError returns to idle")
  func failure() {
    var bench = CoordinatorBench()
    bench.tell(.opened(.nothing))
    let caller = bench.caller()
    let sent = bench.tell(.login(caller, .password))
    let failure = RequestFailure(kind: .rejected, status: 401)
    let effects = bench.tell(.failed(sent.request ?? RequestNumber(0), failure, jitter: 0))
    #expect(effects == [.resume(caller, .failed(.request(failure)))])
    #expect(bench.journal.isEmpty)
    #expect(bench.coordinator.loginError == .request(failure))
    bench.tell(.clearError)
    #expect(bench.coordinator.activity == .idle)
  }

  @Test("LOG-10 a second sign-in is refused before the network")
  func twice() {
    var bench = CoordinatorBench.signedIn()
    let caller = bench.caller()
    let effects = bench.tell(.login(caller, .password))
    #expect(effects.sendCount == 0)
    let rejection = SessionRejection(
      state: .authenticated, event: .login, reason: .alreadyAuthenticated)
    #expect(effects.reply(to: caller) == .failed(.rejected(rejection)))
  }

  @Test(
    "STA-9 after the token's end and a repeated failure the same user can log in again",
    arguments: [RequestFailure.Kind.unexpected, .unreadable, .intercepted, .server, .noConnection])
  func notRenewed(kind: RequestFailure.Kind) throws {
    var bench = CoordinatorBench.signedIn(
      .benchKeeping.named("patient") { $0.ending.onExhaustion = .stay })
    func login(as user: Identifier?) throws -> SessionEffect.Reply? {
      let caller = bench.caller()
      let effects = bench.tell(.login(caller, .password))
      guard let number = effects.request, let user else { return effects.reply(to: caller) }
      return bench.tell(.answered(number, .login(user))).reply(to: caller)
    }
    let rejection = { SessionRejection(state: $0, event: .login, reason: $1) }
    let already = SessionEffect.Reply.failed(
      .rejected(rejection(.authenticated, .alreadyAuthenticated)))
    for _ in 1...2 {
      let request = try #require(bench.tell(.refresh(bench.caller(), .manual, .always)).request)
      bench.tell(.failed(request, RequestFailure(kind: kind, status: 400), jitter: 0))
      #expect(try login(as: nil) == already, "the token is good")
    }
    bench.advance(by: CoordinatorBench.lifetime)
    guard kind != .noConnection else { return #expect(try login(as: nil) == already) }
    #expect(try login(as: "bob") == .failed(.rejected(rejection(.expired, .differentUser))))
    #expect(bench.coordinator.state.kind == .authenticated)
    let before = bench.names.count
    #expect(try login(as: "ada") == .signedIn)
    #expect(bench.names[before...] == ["sessionExpired", "revocationPending", "login"])
    #expect(bench.coordinator.isTokenGood(at: bench.now.uptime))
  }

  @Test("LOG-10 a second sign-in during the first fails with that reason")
  func concurrent() {
    var bench = CoordinatorBench()
    bench.tell(.opened(.nothing))
    bench.tell(.login(bench.caller(), .password))
    let second = bench.caller()
    #expect(bench.tell(.login(second, .password)) == [.resume(second, .failed(.busy))])
  }

  @Test("STA-6 a different user on an expired session is refused and the tokens are revoked")
  func differentUser() {
    var bench = CoordinatorBench.signedIn(.benchKeeping)
    let refresh = bench.tell(.refresh(bench.caller(), .manual, .always))
    bench.tell(
      .failed(
        refresh.request ?? RequestNumber(0), RequestFailure(kind: .rejected, status: 401), jitter: 0
      ))
    #expect(bench.coordinator.state.kind == .expired)
    let before = bench.journal
    let caller = bench.caller()
    let number = bench.tell(.login(caller, .password)).request ?? RequestNumber(0)
    let effects = bench.tell(.answered(number, .login("bob")))
    let rejection = SessionRejection(state: .expired, event: .login, reason: .differentUser)
    #expect(effects.contains(.discard(number, revoking: true)))
    #expect(effects.reply(to: caller) == .failed(.rejected(rejection)))
    #expect(bench.journal == before)

    let again = bench.tell(.login(bench.caller(), .password)).request ?? RequestNumber(0)
    bench.tell(.answered(again, .login("ada")))
    #expect(bench.coordinator.state.kind == .authenticated)
    #expect(bench.coordinator.state.token?.generation == Generation(2))
  }

  @Test("LOG-4 a login that cannot be journaled is undone and its tokens are revoked")
  func unjournaled() {
    var bench = CoordinatorBench()
    bench.tell(.opened(.nothing))
    let caller = bench.caller()
    let number = bench.tell(.login(caller, .password)).request ?? RequestNumber(0)
    bench.commitEndings = [.fails]
    let effects = bench.tell(.answered(number, .login("ada")))
    #expect(
      effects == [
        .wipe(.session), .discard(number, revoking: true), .resume(caller, .failed(.storage)),
      ])
    #expect(bench.coordinator.state == .unauthenticated)
  }

  @Test("a cancelled sign-in has no effect, and its late response is revoked")
  func cancelled() {
    var bench = CoordinatorBench()
    bench.tell(.opened(.nothing))
    let caller = bench.caller()
    let number = bench.tell(.login(caller, .password)).request ?? RequestNumber(0)
    #expect(bench.tell(.cancelled(caller)) == [.resume(caller, .failed(.cancelled))])
    #expect(bench.tell(.answered(number, .login("ada"))) == [.discard(number, revoking: true)])
    #expect(bench.journal.isEmpty)
  }

  @Test(
    "LOG-2 POL-1 above the limit a sign-in is refused with the time to wait and without a request")
  func limited() throws {
    var policy = SessionPolicy.bench
    policy.limits.loginsPerMinute = 3
    var bench = CoordinatorBench(policy)
    bench.tell(.opened(.nothing))
    func tryIt(_ bench: inout CoordinatorBench) throws -> Int64? {
      let caller = bench.caller()
      let effects = bench.tell(.login(caller, .password))
      if case .failed(.tooManyAttempts(let wait))? = effects.reply(to: caller) {
        #expect(effects.sendCount == 0)
        return wait
      }
      let failure = RequestFailure(kind: .rejected, status: 401)
      bench.tell(.failed(try #require(effects.request), failure, jitter: 0))
      return nil
    }
    for pause: Int64 in [0, 10_000, 20_000] {
      bench.advance(by: pause)
      #expect(try tryIt(&bench) == nil)
    }
    #expect(try tryIt(&bench) == 30_000)
    bench.advance(by: 29_999)
    #expect(try tryIt(&bench) == 1)
    bench.jump(by: 3_600_000)
    #expect(try tryIt(&bench) == 1)
    bench.advance(by: 1)
    #expect(try tryIt(&bench) == nil)
    #expect(try tryIt(&bench) == 10_000)
    let limits = [SessionPolicy.standard, .staging, .development].map {
      $0.limits.loginsPerMinute ?? .max
    }
    #expect(limits == limits.sorted() && limits[0] < limits[2])
  }
}

@Suite("The machine SignInTries")
struct SignInTriesTests {
  @Test("LOG-2 allowed: attempts below the limit are counted")
  func allowed() {
    var machine = SignInTries()
    for time in [0, 10_000, 20_000] as [Int64] { #expect(machine.admit(at: time, under: 3) == nil) }
    #expect(machine.admit(at: 30_000, under: 3) == 30_000)
  }

  @Test("LOG-2 refused: an attempt waits for the oldest one to be a minute ago, and is not counted")
  func refused() {
    var machine = SignInTries()
    _ = machine.admit(at: 0, under: 2)
    _ = machine.admit(at: 1_000, under: 2)
    #expect(machine.admit(at: 59_999, under: 2) == 1)
    #expect(machine.admit(at: 60_000, under: 2) == nil)
    #expect(machine.admit(at: 60_000, under: 2) == 1_000)
    #expect(machine.admit(at: 61_000, under: 2) == nil)
  }

  @Test("LOG-2 a smaller limit counts the latest attempts")
  func smallerLimit() {
    var machine = SignInTries()
    for time in [0, 10_000, 20_000] as [Int64] { _ = machine.admit(at: time, under: 3) }
    #expect(machine.admit(at: 30_000, under: 1) == 50_000)
  }
}

/// The notes that wait for a batch, transition by transition.
@Suite("The machine PendingNotes")
struct PendingNotesTests {
  private let opened = SessionNote.localDataCleared
  private let ending = SessionNote.answerUnused(4)

  @Test("RES-6 opening: its notes go with the next batch, once")
  func opening() {
    var notes = PendingNotes()
    notes.opened([opened])
    notes.postpone([.itemUnreadable(.token)])
    #expect(notes.forNextBatch(at: 0) == [opened, .itemUnreadable(.token)])
    notes.journaled()
    #expect(notes == PendingNotes())
  }

  @Test("RES-6 opening: a continuation that another process noted is not noted again")
  func continued() {
    var notes = PendingNotes()
    let link = SessionNote.Continued(journal: nil, sequence: 0, cause: .lost)
    notes.opened([.continued(link), opened])
    notes.continuationNoted()
    #expect(notes.forNextBatch(at: 0) == [opened])
  }

  @Test("STO-5 the secret store's failures go with the next batch, after those of the opening")
  func storage() {
    var notes = PendingNotes()
    notes.opened([opened])
    let failure = StorageReport.Failure(.failed)
    notes.take(StorageReport(item: .token, operation: .write, failure: failure), at: 0)
    #expect(notes.forNextBatch(at: 0).count == 2 && notes.forNextBatch(at: 0).first == opened)
    notes.journaled()
    #expect(notes.forNextBatch(at: 0).isEmpty)
  }

  @Test("RPL-6 ending: the ends of requests wait for their own batch")
  func endings() {
    var notes = PendingNotes()
    notes.add(ending: ending)
    notes.journaled()
    #expect(notes.endings == [ending] && notes.forNextBatch(at: 0).isEmpty)
    #expect(notes.takeEndings() == [ending])
    #expect(notes.endings.isEmpty)
  }

  @Test(
    "REF-8 a skew is noted if it differs by more than half a minute from the last one",
    arguments: [
      (0, 30_000, nil), (0, 30_001, 30_001), (0, -30_001, -30_001), (60_000, 90_000, nil),
      (60_000, 29_999, 29_999), (60_000, 0, 0),
    ] as [(Int64, Int64, Int64?)])
  func skew(last: Int64, now: Int64, noted: Int64?) {
    var notes = PendingNotes()
    notes.noted(skew: last)
    let server = Timestamp(milliseconds: 1_000_000)
    #expect(notes.newSkew(of: server, at: server.advanced(by: now)) == noted)
    #expect(notes.newSkew(of: nil, at: server) == nil)
  }
}
