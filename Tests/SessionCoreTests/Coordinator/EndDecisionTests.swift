@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: logout, switch, close")
struct EndDecisionTests {
  @Test("OUT-1 a logout is ordered: event, subscribers, wipe, server, caller")
  func order() {
    var bench = CoordinatorBench.signedIn()
    let caller = bench.caller()
    let effects = bench.tell(.logout(caller))
    #expect(bench.names == ["login", "logout", "revocationPending"])
    let published = effects.place { if case .publish = $0 { true } else { false } }
    let wiped = effects.place { $0 == .wipe(.everything(keepingRevocation: Generation(1))) }
    #expect(published < wiped)
    #expect(wiped < effects.count)
    #expect(effects.reply(to: caller) == nil)
    #expect(bench.tell(.wiped(.done)) == [.revoke(Generation(1))])
    let told = bench.tell(.revoked(Generation(1), .revoked, status: 0))
    #expect(bench.names.last == "revocationSettled")
    #expect(
      told == [
        .forgetRevocation(Generation(1)),
        .resume(caller, .loggedOut(.revoked, status: 0, isWiped: true)),
      ])
  }

  @Test("OUT-1 an unreachable server leaves a pending revocation and no session")
  func notTold() throws {
    var bench = CoordinatorBench.signedIn()
    let caller = bench.caller()
    bench.tell(.logout(caller))
    bench.tell(.wiped(.done))
    let effects = bench.tell(.revoked(Generation(1), .failed, status: 503))
    #expect(
      effects == [
        .schedule(.revocation, uptime: bench.now.uptime + 60_000),
        .resume(caller, .loggedOut(.failed, status: 503, isWiped: true)),
      ])

    var later = try CoordinatorBench(journal: bench.journal.map(\.content))
    var stored = StoredItemsReport()
    stored.revocations = [Generation(1)]
    #expect(later.tell(.opened(stored)).contains(.revoke(Generation(1))))
    #expect(later.coordinator.state == .unauthenticated)
    #expect(
      later.tell(.revoked(Generation(1), .revoked, status: 0))
        .contains(.forgetRevocation(Generation(1))))
  }

  @Test("OUT-2 a second logout appends nothing")
  func twice() {
    var bench = CoordinatorBench.signedIn()
    bench.tell(.logout(bench.caller()))
    let before = bench.journal
    let caller = bench.caller()
    #expect(bench.tell(.logout(caller)).reply(to: caller) == .alreadyLoggedOut)
    #expect(bench.journal == before)
  }

  @Test("OUT-4 a refresh that ends after the logout is discarded and its token revoked")
  func lateAnswer() {
    var bench = CoordinatorBench.signedIn()
    let (waiter, sent) = bench.refresh()
    let leaver = bench.caller()
    let effects = bench.tell(.logout(leaver))
    #expect(effects.reply(to: waiter) == .failed(.ended(.unauthenticated, by: nil)))
    let before = bench.journal
    let number = sent.request ?? RequestNumber(0)
    #expect(bench.tell(.answered(number, .token())) == [.discard(number, revoking: true)])
    #expect(bench.tell(.failed(number, RequestFailure(kind: .rejected), jitter: 0)).isEmpty)
    #expect(bench.journal == before)
    #expect(bench.coordinator.state == .unauthenticated)
  }

  @Test(
    "OUT-4 REF-11 a late response of an earlier session is revoked and does not reach the next one")
  func nextUser() {
    var bench = CoordinatorBench.signedIn()
    let (_, sent) = bench.refresh()
    bench.tell(.logout(bench.caller()))
    bench.tell(.wiped(.done))
    let login = bench.tell(.login(bench.caller(), .password))
    bench.tell(.answered(login.request ?? RequestNumber(0), .login("bob")))
    let before = bench.journal
    let late = sent.request ?? RequestNumber(0)
    #expect(bench.tell(.answered(late, .token())) == [.discard(late, revoking: true)])
    #expect(bench.journal == before)
    #expect(bench.coordinator.state.user == "bob")
    #expect(bench.coordinator.state.token?.generation == Generation(2))
  }

  @Test("OUT-1 an item that cannot be removed is reported, and its removal is retried")
  func itemsRemain() {
    var bench = CoordinatorBench.signedIn()
    let caller = bench.caller()
    bench.tell(.logout(caller))
    let effects = bench.tell(.wiped(.failed))
    #expect(effects.uptime(of: .wipe) != nil)
    #expect(effects.contains(.revoke(Generation(1))))
    #expect(
      bench.tell(.revoked(Generation(1), .revoked, status: 0)).reply(to: caller)
        == .loggedOut(.revoked, status: 0, isWiped: false))
    #expect(bench.tell(.fired(.wipe)) == [.wipe(.session)])
    #expect(bench.tell(.wiped(.done)).isEmpty)
  }

  @Test("CTX-1 a switch is requested, journaled with its token, and answered")
  func switching() {
    var bench = CoordinatorBench.signedIn()
    let caller = bench.caller()
    let sent = bench.tell(.switchContext(caller))
    #expect(bench.coordinator.activity == .switching)
    var facts = ResponseMetadata.token(rotated: true)
    facts.context = .plainPrincipal
    let effects = bench.tell(.answered(sent.request ?? RequestNumber(0), facts))
    #expect(effects.reply(to: caller) == .switched)
    #expect(bench.names == ["login", "requestSent", "contextSwitched"])
    #expect(bench.coordinator.state.activeContext == .plainPrincipal)
    #expect(bench.coordinator.state.token?.generation == Generation(2))
  }

  @Test("CTX-1 a failed switch changes nothing, and a note records the reason")
  func switchFails() {
    var bench = CoordinatorBench.signedIn()
    let before = bench.coordinator.state
    let caller = bench.caller()
    let sent = bench.tell(.switchContext(caller))
    let failure = RequestFailure(kind: .rejected, status: 403)
    let effects = bench.tell(.failed(sent.request ?? RequestNumber(0), failure, jitter: 0))
    #expect(effects.reply(to: caller) == .failed(.request(failure)))
    #expect(bench.names == ["login", "requestSent", "requestEnded"])
    #expect(bench.coordinator.state == before)
    #expect(bench.coordinator.activity == .idle)
  }

  @Test("CTX-2 a switch and a refresh wait for each other, with one request at a time")
  func serialised() {
    var bench = CoordinatorBench.signedIn()
    let (_, refresh) = bench.refresh()
    let switcher = bench.caller()
    #expect(bench.tell(.switchContext(switcher)).sendCount == 0)
    let switching = bench.tell(.answered(refresh.request ?? RequestNumber(0), .token()))
    #expect(switching.sendCount == 1)
    let (waiter, none) = bench.refresh()
    #expect(none.sendCount == 0)
    var facts = ResponseMetadata.token()
    facts.context = .plainPrincipal
    let effects = bench.tell(.answered(switching.request ?? RequestNumber(0), facts))
    #expect(effects.reply(to: switcher) == .switched)
    #expect(effects.reply(to: waiter) == .refreshed, "the switch brought a good token")
    #expect(effects.sendCount == 0)
  }

  @Test("CTX-2 a switch with an expired token refreshes first")
  func switchExpired() {
    var bench = CoordinatorBench.signedIn()
    bench.advance(by: CoordinatorBench.lifetime)
    let first = bench.tell(.switchContext(bench.caller()))
    #expect(first.contains(.send(first.request ?? RequestNumber(0), .refresh(Generation(1)))))
    let second = bench.tell(.answered(first.request ?? RequestNumber(0), .token()))
    guard case .send(_, .switchContext(_, Generation(2)))? = second.last else {
      Issue.record("the switch did not follow: \(second)")
      return
    }
  }

  @Test("closing waits for the open request, answers every caller and keeps the session")
  func close() {
    var bench = CoordinatorBench.signedIn()
    let (waiter, sent) = bench.refresh()
    let (closer, other) = (bench.caller(), bench.caller())
    #expect(bench.tell(.close(closer)).isEmpty)
    #expect(bench.tell(.close(other)).isEmpty)
    let switcher = bench.caller()
    #expect(bench.tell(.switchContext(switcher)).isEmpty)
    let effects = bench.tell(.answered(sent.request ?? RequestNumber(0), .token(rotated: true)))
    #expect(effects.reply(to: waiter) == .refreshed)
    #expect(effects.reply(to: switcher) == .failed(.closed))
    #expect(effects.reply(to: closer) == .closed)
    #expect(effects.reply(to: other) == .closed)
    #expect(bench.names == ["login", "requestSent", "refreshSucceeded", "closed"])
    #expect(bench.coordinator.state.kind == .authenticated)
    let late = bench.caller()
    #expect(bench.tell(.logout(late)).reply(to: late) == .failed(.closed))
  }

  @Test("closing succeeds even if its note cannot be journaled")
  func closeWithoutNote() {
    var bench = CoordinatorBench.signedIn()
    bench.commitEndings = [.fails]
    let closer = bench.caller()
    #expect(bench.tell(.close(closer)).reply(to: closer) == .closed)
    #expect(bench.names == ["login"])
  }

  @Test(
    "OUT-1 a revocation that failed is retried with growing delays and noted once")
  func toldAgain() throws {
    var bench = CoordinatorBench.signedIn()
    bench.tell(.logout(bench.caller()))
    bench.tell(.wiped(.done))
    let generation = Generation(1)
    var effects = bench.tell(.revoked(generation, .failed, status: 503))
    #expect(bench.names.last == "revocationSettled")
    let count = bench.journal.count
    var delays: [Int64] = []
    for _ in 0..<12 {
      let next = try #require(effects.uptime(of: .revocation))
      delays.append(next - bench.now.uptime)
      bench.advance(by: next - bench.now.uptime)
      #expect(bench.tell(.fired(.revocation)) == [.revoke(generation)])
      effects = bench.tell(.revoked(generation, .failed, status: 0))
    }
    #expect(bench.journal.count == count)
    #expect(delays.prefix(3) == [60_000, 120_000, 240_000])
    #expect(delays.last == Int64(6 * 3_600_000))
    let told = bench.tell(.revoked(generation, .revoked, status: 0))
    #expect(told.contains(.forgetRevocation(generation)))
    #expect(bench.journal.count == count + 1)
    #expect(bench.tell(.fired(.revocation)).isEmpty)
  }

  @Test("LOG-9 tokens are adopted only if there never was one; a refusal revokes none")
  func adopted() throws {
    var bench = CoordinatorBench()
    bench.tell(.opened(.nothing))
    let nameless = bench.tell(.login(bench.caller(), .adoption))
    let number = try #require(nameless.request)
    let refused = bench.tell(.answered(number, .token()))
    #expect(refused.contains(.discard(number, revoking: false)))
    let caller = bench.caller()
    let sent = try #require(bench.tell(.login(caller, .adoption)).request)
    #expect(bench.tell(.answered(sent, .login("ada"))).reply(to: caller) == .signedIn)
    let again = bench.caller()
    #expect(bench.tell(.login(again, .adoption)) == [.resume(again, .notAdopted)])
    bench.tell(.logout(bench.caller()))
    let late = bench.caller()
    #expect(bench.tell(.login(late, .adoption)) == [.resume(late, .notAdopted)])
  }
}
