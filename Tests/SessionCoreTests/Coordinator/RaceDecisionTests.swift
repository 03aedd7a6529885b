@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// Races that random runs found: two inputs meet, and one was forgotten.
@Suite("Decisions: races")
struct RaceDecisionTests {
  private func noted() -> CoordinatorBench.CommitEnding { .conflicts([.note(.closed)]) }

  @Test("REF-1 a due refresh is sent after its commit meets another process's note")
  func dueBesideNote() {
    var bench = CoordinatorBench.signedIn()
    bench.commitEndings = [noted()]
    bench.advance(by: CoordinatorBench.lifetime - 60_000)
    #expect(bench.tell(.fired(.refresh)).sendCount == 1)
  }

  @Test("REF-1 CTX-2 a refresh that falls due during a failed switch is sent")
  func dueDuringSwitch() {
    var bench = CoordinatorBench.signedIn()
    let sent = bench.tell(.switchContext(bench.caller()))
    bench.advance(by: CoordinatorBench.lifetime - 60_000)
    #expect(bench.tell(.fired(.refresh)).sendCount == 0)
    let failed = bench.tell(
      .failed(sent.request ?? RequestNumber(0), RequestFailure(kind: .server), jitter: 0))
    #expect(failed.sendCount == 1)
  }

  @Test("REF-1 REF-3 a timer that fired for the token before another process's one starts nothing")
  func staleTimer() {
    var bench = CoordinatorBench.signedIn()
    bench.advance(by: CoordinatorBench.lifetime - 60_000)
    let token = TokenMetadata.plain(2, issuedAt: bench.now.time)
    bench.commitEndings = [
      .conflicts([
        .event(
          .refreshSucceeded(
            SessionEvent.RefreshSucceeded(
              token: token, trigger: .launch, attempt: 1, isRotated: true, request: 0)))
      ])
    ]
    // The switch's commit finds the other process's token. Meanwhile the timer's input waits.
    let sent = bench.tell(.switchContext(bench.caller()))
    let fired = bench.tell(.fired(.refresh))
    let failed = bench.tell(
      .failed(sent.request ?? RequestNumber(0), RequestFailure(kind: .server), jitter: 0))
    #expect(bench.coordinator.state.token == token)
    #expect(sent.sendCount == 1 && fired.sendCount == 0 && failed.sendCount == 0)
    let end = bench.now.uptime + CoordinatorBench.lifetime - 60_000
    #expect(fired.uptime(of: .refresh) == end)
  }

  @Test("CTX-2 a switch that waited for a refresh continues if another process refreshed first")
  func switchBehindForeignRefresh() {
    var bench = CoordinatorBench.signedIn()
    let (waiter, sent) = bench.refresh()
    bench.tell(.switchContext(bench.caller()))
    bench.commitEndings = [.conflicts([.event(.refreshed(to: 2))])]
    let effects = bench.tell(.answered(sent.request ?? RequestNumber(0), .token()))
    #expect(effects.reply(to: waiter) == .refreshed)
    #expect(effects.sendCount == 1)
    #expect(bench.coordinator.activity == .switching)
  }

  @Test("CTX-2 callers that wait for a switch that came too late are answered")
  func waiterBehindStaleSwitch() {
    var bench = CoordinatorBench.signedIn()
    let switcher = bench.caller()
    let sent = bench.tell(.switchContext(switcher))
    let (waiter, _) = bench.refresh()
    let next = bench.caller()
    bench.tell(.switchContext(next))
    bench.commitEndings = [.conflicts([.event(.refreshed(to: 2))])]
    let late = bench.tell(
      .answered(sent.request ?? RequestNumber(0), .context(.plainPrincipal)))
    guard case .failed(.rejected)? = late.reply(to: switcher) else {
      Issue.record("\(late)")
      return
    }
    #expect(late.reply(to: waiter) == .refreshed)
    let switched = bench.tell(
      .answered(late.request ?? RequestNumber(0), .context(.plainPrincipal)))
    #expect(switched.reply(to: next) == .switched)
  }

  @Test("REF-8 the expiry of an old token does not expire another process's new one")
  func expiryBesideRefresh() {
    var bench = CoordinatorBench.signedIn(isRefreshable: false)
    bench.advance(by: CoordinatorBench.lifetime)
    let token = TokenMetadata.plain(2, issuedAt: bench.now.time)
    bench.commitEndings = [
      .conflicts([
        .event(
          .refreshSucceeded(
            SessionEvent.RefreshSucceeded(
              token: token, trigger: .schedule, attempt: 1, isRotated: true, request: 0)))
      ])
    ]
    bench.tell(.fired(.expiry))
    #expect(bench.coordinator.state.token == token)
    #expect(bench.names == ["login", "refreshSucceeded"])
  }

  @Test("OUT-4 REF-11 a late response belongs to the session that others ended, not to the next")
  func nextSession() {
    var bench = CoordinatorBench.signedIn()
    let (waiter, sent) = bench.refresh()
    bench.commitEndings = [
      .conflicts([
        .event(.loggedOut()), .note(.revocationPending(Generation(1))),
        .event(.login(as: "bob", token: 2)),
      ])
    ]
    let number = sent.request ?? RequestNumber(0)
    let effects = bench.tell(.answered(number, .token()))
    #expect(effects.reply(to: waiter) == .failed(.ended(.unauthenticated, by: nil)))
    #expect(effects.contains(.discard(number, revoking: true)))
    #expect(bench.coordinator.state.user == "bob")
  }

  @Test("OUT-4 a response is revoked if others ended its session while it was journaled")
  func answerOfEndedSession() {
    var bench = CoordinatorBench.signedIn()
    let (_, sent) = bench.refresh()
    bench.commitEndings = [
      .conflicts([.event(.loggedOut()), .note(.revocationPending(Generation(1)))])
    ]
    let number = sent.request ?? RequestNumber(0)
    #expect(bench.tell(.answered(number, .token())).contains(.discard(number, revoking: true)))
  }

  @Test("RES-6 a caller is not answered twice about a switch that could not be journaled")
  func toldOnce() {
    var bench = CoordinatorBench.signedIn()
    let caller = bench.caller()
    let sent = bench.tell(.switchContext(caller))
    bench.commitEndings = [.fails, .fails]
    let first = bench.tell(
      .answered(sent.request ?? RequestNumber(0), .context(.plainPrincipal)))
    #expect(first.reply(to: caller) == .failed(.unsettled))
    #expect(bench.tell(.fired(.commit)).reply(to: caller) == nil)
    #expect(bench.tell(.fired(.commit)).reply(to: caller) == nil)
    #expect(bench.coordinator.state.activeContext == .plainPrincipal)
  }

  @Test("REF-3 a newer request of another process is waited for, however long the last one was")
  func newerLease() throws {
    var bench = try CoordinatorBench(journal: [
      .event(.login(as: "ada")), .note(OpenDecisionTests.sent(by: 99, deadlineIn: 20_000)),
    ])
    bench.tell(.opened(.session(1)))
    bench.refresh()
    bench.advance(by: 3_500_000)
    let deadline = bench.now.time.advanced(by: 20_000)
    let newer = SessionRecord(
      sequence: 3, time: bench.now.time,
      content: .note(
        .requestSent(
          SessionNote.RequestSent(
            kind: .refresh, generation: Generation(1), trigger: .schedule, attempt: 2,
            process: 99, deadline: deadline))))
    let effects = bench.tell(.observed([newer], isHolderGone: false))
    #expect(effects.sendCount == 0)
    #expect(effects.uptime(of: .lease) != nil)
  }

  @Test("JRN-3 closing succeeds if the journal turns out to be unusable")
  func closeUnusable() {
    var bench = CoordinatorBench.signedIn()
    bench.commitEndings = [.conflicts([.unknown(SessionRecord.Unknown(kind: 9, payload: []))])]
    let caller = bench.caller()
    #expect(bench.tell(.close(caller)).reply(to: caller) == .closed)
  }

  @Test("OUT-1 JRN-3 after a newer version's record, a wipe removes nothing further")
  func wipeOvertaken() {
    var bench = CoordinatorBench.signedIn()
    let caller = bench.caller()
    bench.tell(.logout(caller))
    let newer = SessionRecord(
      sequence: UInt64(bench.journal.count + 1), time: bench.now.time,
      content: .unknown(SessionRecord.Unknown(kind: 9, payload: [])))
    let effects = bench.tell(.wiped(.overtaken([newer])))
    #expect(effects.place { if case .wipe = $0 { true } else { false } } == effects.count)
    #expect(effects.contains(.revoke(Generation(1))))
  }

  @Test("REF-1 REF-6 expired tokens and policies without delays cause no loop of requests")
  func spinning() {
    var bench = CoordinatorBench.signedIn()
    let (_, sent) = bench.refresh()
    let dead = bench.tell(.answered(sent.request ?? RequestNumber(0), .token(lifetime: 0)))
    #expect(dead.uptime(of: .refresh) == bench.now.uptime + 1_000)

    var policy = SessionPolicy.bench
    (policy.refresh.firstRetryDelay, policy.refresh.longestRetryDelay) = (.zero, .zero)
    var hasty = CoordinatorBench.signedIn(policy)
    let (caller, request) = hasty.refresh()
    let offline = RequestFailure(kind: .noConnection)
    let failed = hasty.tell(.failed(request.request ?? RequestNumber(0), offline, jitter: 0))
    #expect(failed.reply(to: caller) == .failed(.request(offline)))
    #expect(failed.uptime(of: .refresh) == hasty.now.uptime + 100)
  }
}
