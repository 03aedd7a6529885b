@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// A process may die after it stored a token and before it journaled the event.
///
/// Another process finds the token before it uses an older one, and before a refusal ends the session
/// (REF-7).
@Suite("Decisions: a stored token without its event")
struct StoredTokenTests {
  private static let rejected = RequestFailure(kind: .rejected, status: 401)

  private static func sent(_ kind: RequestKind, _ bench: CoordinatorBench) -> SessionRecord.Content
  {
    .note(
      .requestSent(
        SessionNote.RequestSent(
          kind: kind, generation: Generation(1), trigger: .schedule, attempt: 1, process: 99,
          deadline: bench.now.time.advanced(by: 31_000))))
  }

  /// Ada is signed in, process 99 has sent a request, and its lease is over.
  private func outOfTime(_ kind: RequestKind = .refresh) -> (CoordinatorBench, Caller) {
    var bench = CoordinatorBench.signedIn()
    bench.commitEndings = [.conflicts([Self.sent(kind, bench)])]
    let (caller, effects) = bench.refresh()
    #expect(effects.sendCount == 0)
    bench.advance(by: 31_000)
    return (bench, caller)
  }

  @Test(
    "REF-3 REF-7 a token that a presumed lost request had stored is used without a new request")
  func foundBeforeRequest() {
    var (bench, caller) = outOfTime()
    bench.tell(.fired(.lease))
    bench.commitEndings = [.superseded(.refreshed(to: 2))]
    let effects = bench.tell(.observed([], isHolderGone: true))
    #expect(effects.sendCount == 0)
    #expect(bench.names.suffix(2) == ["tokenRecovered", "refreshSucceeded"])
    #expect(effects.reply(to: caller) == .refreshed)
    let loaded = effects.place { $0 == .reloadToken(Generation(2)) }
    let replied = effects.place { $0 == .resume(caller, .refreshed) }
    #expect(loaded < replied, "who is told finds the token")
    #expect(bench.coordinator.state.token?.generation == Generation(2))
    #expect(bench.coordinator.activity == .idle)
  }

  @Test("REF-3 REF-7 after a refusal, the stored items are read before the session ends")
  func foundBeforeVerdict() throws {
    var bench = CoordinatorBench.signedIn()
    let (caller, sent) = bench.refresh()
    bench.commitEndings = [.superseded(.refreshed(to: 2))]
    let effects = bench.tell(.failed(try #require(sent.request), Self.rejected, jitter: 0))
    #expect(bench.coordinator.state.token?.generation == Generation(2))
    #expect(effects.reply(to: caller) == .refreshed)
    #expect(
      bench.names.suffix(3) == ["tokenRecovered", "refreshSucceeded", "requestEnded"])
    #expect(bench.coordinator.activity == .idle)
    #expect(bench.refresh().1.sendCount == 1)
  }

  @Test("REF-6 REF-7 a commit that ends the session names the newest known token")
  func verdictsLook() throws {
    let bench = CoordinatorBench.signedIn()
    var coordinator = bench.coordinator
    let caller = Caller(99)
    _ = coordinator.handle(.refresh(caller, .manual, .always), at: bench.now)
    let sent = coordinator.handle(.committed(firstSequence: 2), at: bench.now)
    let number = try #require(sent.request)
    let refused = coordinator.handle(.failed(number, Self.rejected, jitter: 0), at: bench.now)
    #expect(refused.newest == Generation(1))
    var dying = CoordinatorBench.signedIn(isRefreshable: false)
    dying.advance(by: CoordinatorBench.lifetime)
    var other = dying.coordinator
    #expect(other.handle(.fired(.expiry), at: dying.now).newest == Generation(1))
  }

  @Test("CTX-2 REF-7 a switch that was not sent yet uses the token that was found")
  func switchGoesOn() throws {
    var bench = CoordinatorBench.signedIn(isRefreshable: false)
    let request = Self.sent(.switchContext, bench)
    bench.commitEndings = [.conflicts([request])]
    let switcher = bench.caller()
    #expect(bench.tell(.switchContext(switcher)).sendCount == 0)
    bench.commitEndings = [.superseded(.switched(to: .plainPrincipal, token: 2))]
    let effects = bench.pollJournal(for: 31_000)
    let number = try #require(effects.request)
    #expect(effects.contains(.send(number, .switchContext(switcher, Generation(2)))))
    #expect(bench.coordinator.state.activeContext == .plainPrincipal)
  }

  @Test(
    "REF-7 a found token that cannot be announced is skipped without a loop")
  func passedOver() {
    var (bench, caller) = outOfTime()
    bench.tell(.fired(.lease))
    bench.commitEndings = [.superseded(.refreshed(to: 1))]
    let effects = bench.tell(.observed([], isHolderGone: true))
    #expect(effects.sendCount == 1)
    #expect(effects.reply(to: caller) == nil)
  }

  @Test("REF-7 LOG-10 a found login that the journal has already ended is not announced again")
  func endedLogin() {
    var bench = CoordinatorBench.signedIn()
    bench.tell(.logout(bench.caller(), .deviceAndServer))
    #expect(bench.coordinator.state.kind == .unauthenticated)
    bench.commitEndings = [.superseded(.login(as: "ada"))]
    let closer = bench.caller()
    #expect(bench.tell(.close(closer)).reply(to: closer) == .closed)
    #expect(bench.names.count { $0 == "login" } == 1)
    #expect(bench.names.last == "closed" && bench.coordinator.state.kind == .unauthenticated)
  }

  @Test(
    "REF-7 JRN-2 a found token that can never be journaled is skipped; one that may be is retried")
  func notJournaled() {
    var (bench, caller) = outOfTime()
    var other = bench
    bench.tell(.fired(.lease))
    bench.commitEndings = [.superseded(.refreshed(to: 2)), .failsForGood]
    #expect(bench.tell(.observed([], isHolderGone: true)).sendCount == 1)
    other.tell(.fired(.lease))
    other.commitEndings = [.superseded(.refreshed(to: 2)), .fails]
    let effects = other.tell(.observed([], isHolderGone: true))
    #expect(effects.sendCount == 0)
    #expect(effects.reply(to: caller) == .failed(.storage))
    #expect(effects.uptime(of: .refresh) != nil)
    #expect(other.coordinator.activity == .idle)
  }

  @Test("REF-7 a found token that was skipped is known to the next batch")
  func foundOnce() throws {
    let (bench, _) = outOfTime()
    var coordinator = bench.coordinator
    _ = coordinator.handle(.fired(.lease), at: bench.now)
    let asked = coordinator.handle(.observed([], isHolderGone: true), at: bench.now)
    #expect(asked.newest == Generation(1))
    let found = coordinator.handle(.superseded(.refreshed(to: 2)), at: bench.now)
    #expect(found.newest == nil && found.count == 1)
    let again = coordinator.handle(.commitFailed(isLasting: true), at: bench.now)
    #expect(again.newest == Generation(2))
  }

  @Test("REF-7 a found token that another process journals first is used by all")
  func another() {
    var (bench, caller) = outOfTime()
    bench.tell(.fired(.lease))
    bench.commitEndings = [
      .superseded(.refreshed(to: 2)),
      .conflicts([.note(.tokenRecovered(Generation(2))), .event(.refreshed(to: 2))]),
    ]
    let effects = bench.tell(.observed([], isHolderGone: true))
    #expect(effects.sendCount == 0)
    #expect(effects.reply(to: caller) == .refreshed)
    #expect(bench.events.count { $0.kind == .refreshSucceeded } == 1)
  }

  // MARK: A lost switch

  @Test(
    "CTX-1 REF-7 if the response to a switch is lost, its caller fails and the token is refreshed")
  func lostSwitch() throws {
    var bench = CoordinatorBench.signedIn()
    let caller = bench.caller()
    let sent = bench.tell(.switchContext(caller))
    let lost = RequestFailure(kind: .noReply)
    let effects = bench.tell(.failed(try #require(sent.request), lost, jitter: 0))
    #expect(effects.reply(to: caller) == .failed(.request(lost)))
    #expect(bench.names.suffix(2) == ["requestEnded", "requestSent"])
    let number = try #require(effects.request)
    #expect(effects.contains(.send(number, .refresh(Generation(1)))))
    // If this is lost too, it retries at once, as after any refresh, and then later.
    let again = bench.tell(.failed(number, lost, jitter: 0))
    #expect(again.sendCount == 1)
    let late = bench.tell(.failed(try #require(again.request), lost, jitter: 0))
    #expect(late.sendCount == 0 && late.uptime(of: .refresh) != nil)
  }

  @Test("CTX-1 a switch that was never sent, or was answered, does not change the token")
  func failedSwitch() throws {
    for kind: RequestFailure.Kind in [.noConnection, .rejected, .server] {
      var bench = CoordinatorBench.signedIn()
      let sent = bench.tell(.switchContext(bench.caller()))
      let failure = RequestFailure(kind: kind)
      #expect(bench.tell(.failed(try #require(sent.request), failure, jitter: 0)).sendCount == 0)
    }
  }

  @Test("CTX-1 REF-7 opening after a switch that was cut short refreshes the token at once")
  func reopened() throws {
    let bench = CoordinatorBench.signedIn()
    var stored = StoredItemsReport.session(1)
    stored.isHolderGone = true
    var later = try CoordinatorBench(
      journal: bench.journal.map(\.content) + [Self.sent(.switchContext, bench)])
    let effects = later.tell(.opened(stored))
    #expect(later.names.suffix(2) == ["requestEnded", "requestSent"])
    #expect(effects.contains(.send(try #require(effects.request), .refresh(Generation(1)))))
  }

  @Test("CTX-2 REF-7 before a switch, the token of a lost switch is refreshed")
  func switchAfterSwitch() throws {
    var bench = CoordinatorBench.signedIn()
    bench.commitEndings = [.conflicts([Self.sent(.switchContext, bench)])]
    let switcher = bench.caller()
    bench.tell(.switchContext(switcher))
    let effects = bench.pollJournal(for: 31_100)
    #expect(effects.contains(.send(try #require(effects.request), .refresh(Generation(1)))))
  }

  @Test(
    "REF-3 CTX-1 a refusal after a suspended and overtaken switch ends nothing during the grace")
  func doubted() throws {
    var (bench, caller) = outOfTime(.switchContext)
    let sent = bench.pollJournal(for: 2_200)
    let effects = bench.tell(.failed(try #require(sent.request), Self.rejected, jitter: 0))
    #expect(bench.coordinator.state.kind == .authenticated)
    #expect(effects.reply(to: caller) == .failed(.request(RequestFailure(kind: .noReply))))
  }
}

extension [SessionEffect] {
  /// The newest token that is known to the last commit.
  fileprivate var newest: Generation? {
    guard case .commit(let commit)? = last else { return nil }
    return commit.newest
  }
}
