import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionCore

@Suite("Decisions: refresh")
struct RefreshDecisionTests {
  @Test("REF-3 all callers share one request, and each receives its result")
  func singleFlight() {
    var bench = CoordinatorBench.signedIn()
    let (first, sent) = bench.refresh()
    let others = (0..<100).map { _ in bench.refresh() }
    #expect(others.allSatisfy { $0.1.sendCount == 0 })
    let effects = bench.tell(.answered(sent.request ?? RequestNumber(0), .token()))
    for caller in [first] + others.map(\.0) { #expect(effects.reply(to: caller) == .refreshed) }
    #expect(bench.names == ["login", "requestSent", "refreshSucceeded"])
  }

  @Test("REF-3 the intent is durable before the request leaves")
  func intentFirst() {
    var bench = CoordinatorBench.signedIn()
    bench.commitEndings = [.fails]
    let (caller, effects) = bench.refresh()
    #expect(effects.sendCount == 0)
    #expect(effects.reply(to: caller) == .failed(.storage))
    #expect(bench.coordinator.state.kind == .authenticated)
    let (_, again) = bench.refresh()
    #expect(again.sendCount == 1)
  }

  @Test(
    "REF-1 a refresh is due before the expiry, after half of the lifetime, at most every second",
    arguments: [
      (600_000, 540_000), (120_000, 60_000), (60_000, 30_000), (2_000, 1_000), (1_000, 1_000),
      (1, 1_000),
    ] as [(Int64, Int64)])
  func schedule(lifetime: Int64, expected: Int64) {
    var bench = CoordinatorBench.signedIn()
    let (_, sent) = bench.refresh()
    let effects = bench.tell(
      .answered(sent.request ?? RequestNumber(0), .token(lifetime: lifetime)))
    #expect(effects.uptime(of: .refresh) == bench.now.uptime + expected)
  }

  @Test("REF-2 a refresh for an expired token does nothing while the token is good")
  func ifExpired() {
    var bench = CoordinatorBench.signedIn()
    let caller = bench.caller()
    #expect(bench.tell(.refresh(caller, .manual, .ifExpired)) == [.resume(caller, .refreshed)])
    bench.advance(by: CoordinatorBench.lifetime)
    #expect(bench.tell(.refresh(bench.caller(), .manual, .ifExpired)).sendCount == 1)
  }

  @Test("REF-5 the old refresh token stays without a new one; a new one is a rotation")
  func rotation() {
    var bench = CoordinatorBench.signedIn()
    for isRotated in [false, true] {
      let (_, sent) = bench.refresh()
      bench.tell(.answered(sent.request ?? RequestNumber(0), .token(rotated: isRotated)))
      guard case .refreshSucceeded(let refresh) = bench.events.last else {
        Issue.record("no refreshSucceeded")
        return
      }
      #expect(refresh.isRotated == isRotated)
      #expect(refresh.token.isRefreshable)
    }
  }

  @Test("REF-6 a temporary failure keeps the session and names the next attempt")
  func passing() {
    var bench = CoordinatorBench.signedIn()
    let (caller, sent) = bench.refresh()
    let failure = RequestFailure(kind: .server, status: 503)
    let effects = bench.tell(.failed(sent.request ?? RequestNumber(0), failure, jitter: 0))
    #expect(effects.reply(to: caller) == .failed(.request(failure)))
    #expect(effects.uptime(of: .refresh) == bench.now.uptime + 1_000)
    guard case .refreshFailed(let failed) = bench.events.last else {
      Issue.record("no refreshFailed")
      return
    }
    #expect(failed.attempt == 1)
    #expect(failed.retryAt == bench.now.time.advanced(by: 1_000))
    #expect(failed.request == 2)
    #expect(bench.coordinator.state.kind == .authenticated)
    bench.advance(by: 1_000)
    let retry = bench.tell(.fired(.refresh))
    #expect(retry.sendCount == 1)
    let second = bench.tell(.failed(retry.request ?? RequestNumber(0), failure, jitter: 0))
    #expect(second.uptime(of: .refresh) == bench.now.uptime + 2_000)
  }

  @Test("REF-6 jitter shortens a delay by up to half, and Retry-After replaces it")
  func delays() {
    for (jitter, retryAfter, expected) in [
      (UInt16.max, Duration?.none, Int64(501)), (0, .seconds(9), 9_000),
      (0, .milliseconds(10), 1_000),
    ] {
      var bench = CoordinatorBench.signedIn()
      let (_, sent) = bench.refresh()
      let failure = RequestFailure(kind: .rateLimited, status: 429, retryAfter: retryAfter)
      let effects = bench.tell(.failed(sent.request ?? RequestNumber(0), failure, jitter: jitter))
      #expect(effects.uptime(of: .refresh) == bench.now.uptime + expected)
    }
  }

  @Test(
    "REF-6 a refused refresh ends the session in one batch, as the policy says",
    arguments: [
      (SessionPolicy.bench, ["refreshFailed", "sessionExpired", "logout"]),
      (.benchKeeping, ["refreshFailed", "sessionExpired"]),
    ])
  func refused(policy: SessionPolicy, expected: [String]) {
    var bench = CoordinatorBench.signedIn(policy)
    let (caller, sent) = bench.refresh()
    let before = bench.names.count
    let effects = bench.tell(
      .failed(
        sent.request ?? RequestNumber(0), RequestFailure(kind: .rejected, status: 401), jitter: 0))
    #expect(Array(bench.names[before...]) == expected)
    #expect(
      effects.reply(to: caller)
        == .failed(
          .ended(bench.coordinator.state.kind, by: RequestFailure(kind: .rejected, status: 401))))
    #expect(effects.contains(.wipe(policy.ending.onRejection == .clear ? .session : .token)))
    #expect(effects.uptime(of: .refresh) == nil)
  }

  @Test("REF-6 only failures with a response count: a missing network never ends a session")
  func noNetwork() {
    var policy = SessionPolicy.bench
    policy.ending.onExhaustion = .end(.clear)
    var bench = CoordinatorBench.signedIn(policy)
    var (_, sent) = bench.refresh()
    for round in 0..<50 {
      let kind: RequestFailure.Kind = round % 2 == 0 ? .noConnection : .noReply
      var effects = bench.tell(
        .failed(sent.request ?? RequestNumber(0), RequestFailure(kind: kind), jitter: 0))
      if effects.sendCount == 0 { effects = bench.fireRefresh(after: effects) }
      #expect(effects.sendCount == 1)
      sent = effects
    }
    #expect(bench.coordinator.state.kind == .authenticated)
    #expect(!bench.names.contains("sessionExpired"))
  }

  @Test("POL-2 after the last attempt the session stays, expires or is logged out, by policy")
  func exhausted() {
    for (exhaustion, state) in [
      (SessionPolicy.Exhaustion.stay, SessionState.Kind.authenticated), (.end(.keep), .expired),
      (.end(.clear), .unauthenticated),
    ] {
      var policy = SessionPolicy.bench
      policy.ending.onExhaustion = exhaustion
      var bench = CoordinatorBench.signedIn(policy)
      var (_, effects) = bench.refresh()
      let failure = RequestFailure(kind: .server, status: 500)
      for _ in 0..<2 {
        effects = bench.tell(.failed(effects.request ?? RequestNumber(0), failure, jitter: 0))
        effects = bench.fireRefresh(after: effects)
      }
      effects = bench.tell(.failed(effects.request ?? RequestNumber(0), failure, jitter: 0))
      #expect(bench.coordinator.state.kind == state)
      if exhaustion == .stay { #expect(effects.uptime(of: .refresh) == bench.now.uptime + 60_000) }
    }
  }

  @Test("REF-7 a lost reply is retried at once, one time, and its callers keep waiting")
  func lostReply() {
    var bench = CoordinatorBench.signedIn()
    let (caller, sent) = bench.refresh()
    let lost = RequestFailure(kind: .noReply)
    let again = bench.tell(.failed(sent.request ?? RequestNumber(0), lost, jitter: 0))
    #expect(again.sendCount == 1)
    #expect(again.reply(to: caller) == nil)
    let second = bench.tell(.failed(again.request ?? RequestNumber(0), lost, jitter: 0))
    #expect(second.sendCount == 0)
    #expect(second.reply(to: caller) == .failed(.request(lost)))
    #expect(second.uptime(of: .refresh) == bench.now.uptime + 2_000)
  }

  @Test("REF-6 a good token without a refresh token is kept until it expires")
  func noRefreshToken() {
    var bench = CoordinatorBench.signedIn(isRefreshable: false)
    let (caller, effects) = bench.refresh()
    #expect(effects.reply(to: caller) == .failed(.request(RequestFailure(kind: .noRefreshToken))))
    #expect(bench.names == ["login"])
    bench.advance(by: CoordinatorBench.lifetime)
    bench.tell(.fired(.expiry))
    #expect(bench.names == ["login", "sessionExpired", "logout"])
  }

  @Test("LOG-6 an inactive account results in expired, a deleted one in logout, for every policy")
  func accounts() {
    for (kind, names) in [
      (RequestFailure.Kind.userInactive, ["refreshFailed", "sessionExpired"]),
      (.userDeleted, ["refreshFailed", "logout"]),
    ] {
      var bench = CoordinatorBench.signedIn()
      let (_, sent) = bench.refresh()
      bench.tell(.failed(sent.request ?? RequestNumber(0), RequestFailure(kind: kind), jitter: 0))
      #expect(Array(bench.names.suffix(3)) == names + ["revocationPending"])
    }
  }

  @Test("STA-5 a refreshed token with other permissions switches the context in the same batch")
  func permissions() {
    var bench = CoordinatorBench.signedIn()
    let (_, sent) = bench.refresh()
    var facts = ResponseMetadata.token()
    facts.tokenContext = .plainPrincipal
    bench.tell(.answered(sent.request ?? RequestNumber(0), facts))
    #expect(bench.names.suffix(2) == ["refreshSucceeded", "contextSwitched"])
    #expect(bench.coordinator.state.activeContext == .plainPrincipal)
  }

  @Test("RES-6 a token that cannot be journaled is kept and journaled later")
  func journalFull() {
    var bench = CoordinatorBench.signedIn()
    let (caller, sent) = bench.refresh()
    bench.commitEndings = [.fails, .fails]
    let number = sent.request ?? RequestNumber(0)
    let effects = bench.tell(.answered(number, .token(rotated: true)))
    #expect(effects.reply(to: caller) == .failed(.unsettled))
    #expect(effects.uptime(of: .commit) != nil)
    #expect(bench.coordinator.isHolding(number))
    #expect(bench.coordinator.state.token?.generation == Generation(1))
    bench.tell(.fired(.commit))
    #expect(bench.coordinator.isHolding(number))
    bench.tell(.fired(.commit))
    #expect(!bench.coordinator.isHolding(number))
    #expect(bench.coordinator.state.token?.generation == Generation(2))
  }

  @Test("cancelling one caller does not cancel the others")
  func cancellation() {
    var bench = CoordinatorBench.signedIn()
    let (first, sent) = bench.refresh()
    let (second, _) = bench.refresh()
    #expect(bench.tell(.cancelled(first)) == [.resume(first, .failed(.cancelled))])
    let effects = bench.tell(.answered(sent.request ?? RequestNumber(0), .token()))
    #expect(effects.reply(to: first) == nil)
    #expect(effects.reply(to: second) == .refreshed)
  }
}

/// The one request for a token, transition by transition.
@Suite("The machine TokenRequest")
struct TokenRequestTests {
  private func request(_ purpose: TokenRequest.Purpose = .refresh(.schedule, attempt: 1))
    -> TokenRequest
  { TokenRequest(number: RequestNumber(4), purpose: purpose, base: Generation(1)) }

  /// A request whose intent has sequence 9, and which was sent.
  private func sent() -> TokenRequest {
    var machine = request()
    machine.intentDurable(at: 9)
    machine.left()
    return machine
  }

  private func response(arrival uptime: Int64) -> TokenRequest.ReceivedResponse {
    TokenRequest.ReceivedResponse(
      number: RequestNumber(4), facts: .token(),
      moment: ClockReading(time: .plainStart, uptime: uptime))
  }

  @Test("REF-3 intended: it is unsent as soon as its intent is durable")
  func intended() {
    var machine = request()
    #expect(!machine.isUnsent && !machine.hasLeft && !machine.isOnTheWire && machine.intent == 0)
    machine.intentDurable(at: 9)
    #expect(machine.isUnsent && machine.intent == 9)
  }

  @Test("REF-10 held back: before or after the intent, and until the journal was read again")
  func heldBack() {
    var machine = request()
    machine.release()
    #expect(!machine.isHeldBack)
    machine.holdBack()
    machine.intentDurable(at: 9)
    #expect(machine.isHeldBack && machine.isUnsent)
    machine.release()
    #expect(!machine.isHeldBack && machine.isUnsent)
  }

  @Test("REF-10 on the wire: what was sent is neither held back nor released")
  func onTheWire() {
    var machine = sent()
    #expect(machine.isOnTheWire && machine.hasLeft && !machine.isUnsent)
    machine.holdBack()
    #expect(!machine.isHeldBack && machine.isOnTheWire)
    machine.release()
    #expect(machine.hasLeft)
  }

  @Test("REF-3 answered: a second response changes nothing")
  func answered() {
    var machine = sent()
    machine.answered()
    #expect(!machine.isOnTheWire && machine.hasLeft && machine.unjournaled == nil)
    let first = machine
    machine.answered()
    #expect(machine == first)
  }

  @Test(
    "REF-11 unjournaled: the response stays, and a later failure does not hide that it is stored")
  func unjournaled() throws {
    var machine = sent()
    machine.answered()
    machine.keep(
      response(arrival: 5), StorageObstacle(cause: .noRoom, isStored: true), isClosing: false)
    machine.keep(
      response(arrival: 5), StorageObstacle(cause: .refused, isStored: false), isClosing: true)
    let kept = try #require(machine.unjournaled)
    #expect(kept.obstacle == StorageObstacle(cause: .refused, isStored: true))
    #expect(kept.failuresAtClose == 1 && kept.response == response(arrival: 5))
    machine.answered()
    #expect(machine.unjournaled == kept, "the first arrival counts")
    machine.keep(
      response(arrival: 5), StorageObstacle(cause: .refused, isStored: false), isClosing: true)
    #expect(machine.unjournaled?.failuresAtClose == 2)
  }

  @Test("REF-11 CTX-2 the caller of a switch has had its reply once the response is unjournaled")
  func owner() {
    #expect(request().owner == nil && request().isRefresh)
    let caller = Caller(7)
    var machine = request(.switchContext(caller))
    #expect(machine.owner == caller && !machine.isRefresh && !machine.isLogin)
    machine.keep(
      response(arrival: 5), StorageObstacle(cause: .refused, isStored: false), isClosing: false)
    #expect(machine.owner == nil)
    let login = request(.login(caller, .password))
    #expect(login.isLogin && login.isLogin(of: caller) && !login.isLogin(of: Caller(8)))
  }
}
