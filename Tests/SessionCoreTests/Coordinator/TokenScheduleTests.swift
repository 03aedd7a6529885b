import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionCore

/// The machine of the token's schedule, transition by transition.
///
/// The token lives for an hour, and the policy refreshes it five minutes before its end.
@Suite("The machine TokenSchedule")
struct TokenScheduleTests {
  private static let hour: Int64 = 3_600_000
  private static let failure = RequestFailure(kind: .server, status: 503)

  private let policy: PolicyFigures = {
    var policy = SessionPolicy()
    policy.refresh.beforeExpiry = .seconds(300)
    return PolicyFigures(policy)
  }()

  private func token(_ generation: UInt64 = 5, life: Int64 = hour, isRefreshable: Bool = true)
    -> TokenMetadata
  {
    let issued = Timestamp(milliseconds: 0)
    return TokenMetadata(
      generation: Generation(generation), issuedAt: issued, expiresAt: issued.advanced(by: life),
      isRefreshable: isRefreshable)
  }

  /// A schedule that received `token` at the time 0.
  private func schedule(_ token: TokenMetadata) -> TokenSchedule {
    var schedule = TokenSchedule()
    _ = schedule.changed(to: token, remaining: token.lifetimeMilliseconds, policy: policy, at: 0)
    return schedule
  }

  @Test("REF-1 none: nothing is good, and nothing is due")
  func none() {
    let schedule = TokenSchedule()
    #expect(!schedule.isGood(at: .min))
    #expect(schedule.due == nil && schedule.deadline == .min)
  }

  @Test("REF-1 none: a token sets the timer before its expiry")
  func changed() {
    var schedule = TokenSchedule()
    let effects = schedule.changed(to: token(), remaining: Self.hour - 7, policy: policy, at: 1_000)
    let deadline = 1_000 + Self.hour - 7
    #expect(effects == [.cancel(.expiry), .schedule(.refresh, uptime: deadline - 300_000)])
    #expect(schedule.isGood(at: deadline - 1) && !schedule.isGood(at: deadline))
  }

  @Test(
    "REF-16 none: a refresh token that ends before the usual time sets the timer before its end",
    arguments: [
      (3_600_000, 300, 3_300_000), (7_200_000, 300, 3_300_000), (1_800_000, 300, 1_500_000),
      (400_000, 300, 300_000), (1_800_000, nil, 1_500_000),
      (60_000, nil, 45_000), (59_999, 300, 3_300_000),
    ] as [(Int64, Int?, Int64)])
  func refreshTokenLife(life: Int64, threshold: Int?, time: Int64) {
    var policy = SessionPolicy()
    policy.refresh.beforeExpiry = threshold.map { .seconds($0) }
    var schedule = TokenSchedule()
    let effects = schedule.changed(
      to: token(), remaining: Self.hour, refreshTokenLife: life, policy: PolicyFigures(policy),
      at: 0)
    #expect(effects == [.cancel(.expiry), .schedule(.refresh, uptime: time)])
  }

  @Test("REF-12 none: a token that cannot be refreshed sets the timer of its expiry")
  func notRefreshable() {
    var schedule = TokenSchedule()
    let effects = schedule.changed(
      to: token(isRefreshable: false), remaining: Self.hour, policy: policy, at: 0)
    #expect(effects == [.cancel(.refresh), .schedule(.expiry, uptime: Self.hour)])
  }

  @Test("REF-1 none: a policy that refreshes on demand sets no timer")
  func onDemand() {
    var policy = SessionPolicy()
    policy.refresh.beforeExpiry = nil
    var schedule = TokenSchedule()
    let effects = schedule.changed(
      to: token(), remaining: Self.hour, policy: PolicyFigures(policy), at: 0)
    #expect(effects == [.cancel(.refresh), .cancel(.expiry)])
  }

  @Test(
    "REF-12 none: a short token is refreshed a second after it arrived, but the first one at once",
    arguments: [(5, 1_999, 1_000), (5, 2_000, 1_000), (5, 0, 1_000), (1, 0, 0)]
      as [(UInt64, Int64, Int64)])
  func short(generation: UInt64, life: Int64, time: Int64) {
    var schedule = TokenSchedule()
    let effects = schedule.changed(
      to: token(generation, life: life), remaining: life, policy: policy, at: 0)
    #expect(effects == [.cancel(.expiry), .schedule(.refresh, uptime: time)])
  }

  @Test("REF-15 good: the token is sufficient if it is good for long enough, or is new")
  func answers() {
    let schedule = schedule(token())
    let answer = { (need: RefreshNeed, uptime: Int64) in
      schedule.answer(.command, need, for: self.token(), at: uptime)
    }
    #expect(answer(.always, 0) == .refresh)
    #expect(answer(.ifExpired, Self.hour - 1) == .current)
    #expect(answer(.ifExpired, Self.hour) == .refresh)
    #expect(answer(.unlessGood(for: 60_000), Self.hour - 60_000) == .current)
    #expect(answer(.unlessGood(for: 60_000), Self.hour - 59_999) == .refresh)
    // No server issues a token that is good for two hours.
    #expect(answer(.unlessGood(for: 2 * Self.hour), 1_000) == .current)
    #expect(answer(.unlessGood(for: 2 * Self.hour), 1_001) == .refresh)
    #expect(answer(.unlessNewer(than: Generation(4)), 0) == .current)
    #expect(answer(.unlessNewer(than: Generation(4)), Self.hour) == .refresh)
    #expect(answer(.unlessNewer(than: Generation(5)), 0) == .refresh)
  }

  @Test("REF-14 backing off: callers receive the failure; the foreground and a command do not")
  func pausing() {
    var schedule = schedule(token())
    let end = 2 * Self.hour
    schedule.pause(Backoff(failure: Self.failure, end: end))
    let answer = { (trigger: RefreshTrigger, need: RefreshNeed, uptime: Int64) in
      schedule.answer(trigger, need, for: self.token(), at: uptime)
    }
    #expect(answer(.command, .ifExpired, end - 1) == .pausing(Self.failure))
    #expect(answer(.command, .ifExpired, end) == .refresh)
    #expect(answer(.foreground, .ifExpired, end - 1) == .refresh)
    #expect(answer(.command, .always, end - 1) == .refresh)
    #expect(answer(.command, .ifExpired, Self.hour - 1) == .current)
    #expect(answer(.unauthorized, .unlessNewer(than: Generation(5)), 0) == .pausing(Self.failure))
    #expect(answer(.unauthorized, .unlessNewer(than: Generation(5)), end) == .refresh)
    // Another token than the one that the server rejected has expired.
    #expect(answer(.unauthorized, .unlessNewer(than: Generation(4)), end - 1) == .refresh)
  }

  @Test("REF-14 backing off: after two requests that ended the process, the foreground waits too")
  func pausingForAll() {
    var schedule = schedule(token())
    schedule.pause(Backoff(failure: Self.failure, end: 2 * Self.hour, isForAll: true))
    #expect(
      schedule.answer(.foreground, .ifExpired, for: token(), at: Self.hour)
        == .pausing(Self.failure))
  }

  @Test("REF-1 good: the first trigger counts until the refresh has started")
  func due() {
    var schedule = schedule(token())
    schedule.request(.command)
    #expect(schedule.timerFired(at: Self.hour) == [])
    #expect(schedule.due == .command)
    schedule.started()
    #expect(schedule.due == nil)
    _ = schedule.changed(to: token(6), remaining: Self.hour, policy: policy, at: 0)
    #expect(schedule.timerFired(at: Self.hour) == [])
    #expect(schedule.due == .schedule)
    schedule.repeatNow(.retry)
    #expect(schedule.due == .retry)
  }

  @Test("REF-1 REF-3 good: a timer that waited while another token arrived is only set again")
  func early() {
    var schedule = schedule(token())
    let end = Self.hour - 300_000
    #expect(schedule.timerFired(at: end - 1) == [.schedule(.refresh, uptime: end)])
    #expect(schedule.due == nil)
    #expect(schedule.timerFired(at: end) == [])
    #expect(schedule.due == .schedule)
    schedule.started()
    // It fires once.
    #expect(schedule.timerFired(at: end + 1) == [])
    #expect(schedule.due == nil)
    // The timer was set for the token before this one.
    _ = schedule.changed(to: token(6), remaining: Self.hour, policy: policy, at: end)
    #expect(schedule.timerFired(at: end + 1) == [.schedule(.refresh, uptime: 2 * end)])
    #expect(schedule.due == nil)
  }

  @Test("REF-6 backing off: the timer's next refresh is a retry until another token arrives")
  func retry() {
    var schedule = schedule(token())
    #expect(schedule.begin(.retry, at: 77) == .schedule(.refresh, uptime: 77))
    #expect(schedule.timerFired(at: 77) == [])
    #expect(schedule.due == .retry)
    _ = schedule.changed(to: token(6), remaining: Self.hour, policy: policy, at: 0)
    #expect(schedule.due == nil)
    #expect(schedule.timerFired(at: Self.hour) == [])
    #expect(schedule.due == .schedule)
  }

  @Test(
    "STO-2 postponed: all but a manual refresh of a good token are made up for",
    arguments: [
      (.schedule, 0, true), (.manual, 0, false), (.manual, hour, true), (.command, hour, true),
    ] as [(RefreshTrigger, Int64, Bool)])
  func postponed(trigger: RefreshTrigger, uptime: Int64, isMadeUpFor: Bool) {
    var schedule = schedule(token())
    schedule.postpone(trigger, at: uptime)
    #expect(schedule.due == nil)
    schedule.presenceMayBeShown()
    #expect((schedule.due != nil) == isMadeUpFor)
    schedule.started()
    schedule.presenceMayBeShown()
    #expect(schedule.due == nil)
  }

  @Test("REF-1 another token ends the pause, what is due and what was postponed")
  func renewed() {
    var schedule = schedule(token())
    schedule.pause(Backoff(failure: Self.failure, end: 2 * Self.hour))
    schedule.request(.command)
    schedule.postpone(.schedule, at: 0)
    _ = schedule.changed(to: token(6), remaining: Self.hour, policy: policy, at: 0)
    schedule.presenceMayBeShown()
    #expect(schedule.due == nil)
    #expect(schedule.answer(.command, .ifExpired, for: token(6), at: Self.hour) == .refresh)
  }

  @Test("REF-1 the end of the session ends the schedule")
  func stopped() {
    var schedule = schedule(token())
    schedule.request(.command)
    #expect(schedule.stop() == [.cancel(.refresh), .cancel(.expiry)])
    #expect(schedule == TokenSchedule())
  }
}

/// Which token suffices for a caller that names its minimum lifetime.
@Suite("Decisions: a token with a minimum of life")
struct TokenMinimumTests {
  /// A minimum, the age of a token with its whole lifetime, and whether a request follows.
  private static let rows: [(lifetime: Int64, passed: Int64, minimum: Int64, sends: Bool)] = [
    (600_000, 0, 0, false), (600_000, 0, 120_000, false), (600_000, 480_000, 120_000, false),
    (600_000, 480_001, 120_000, true), (600_000, 599_999, 1, false), (600_000, 600_000, 0, true),
    (600_000, 600_000, -5, true), (600_000, 300_000, -5, false), (600_000, 300_000, .min, false),
    (600_000, 1_000, .max, false), (600_000, 1_001, .max, true), (60_000, 0, 120_000, false),
    (60_000, 1_000, 120_000, false), (60_000, 1_001, 120_000, true), (500, 0, 120_000, false),
    (500, 499, 120_000, false), (500, 500, 120_000, true),
  ]

  @Test(
    "REF-15 a refresh follows if the token lives less than the minimum and did not just arrive",
    arguments: rows)
  func table(lifetime: Int64, passed: Int64, minimum: Int64, sends: Bool) {
    var bench = CoordinatorBench.signedIn(lifetime: lifetime)
    bench.advance(by: passed)
    let caller = bench.caller()
    let effects = bench.tell(.refresh(caller, .manual, .unlessGood(for: minimum)))
    #expect(effects.sendCount == (sends ? 1 : 0))
    #expect(effects.reply(to: caller) == (sends ? nil : .refreshed))
  }

  @Test("REF-15 a larger minimum causes a refresh whenever a smaller one does")
  func grows() {
    for passed in stride(from: 0 as Int64, through: 61_000, by: 500) {
      var wasSent = false
      for minimum in [Int64.min, -1, 0, 1, 999, 1_000, 30_000, 59_000, 60_000, .max] {
        var bench = CoordinatorBench.signedIn(lifetime: 60_000)
        bench.advance(by: passed)
        let caller = bench.caller()
        let sent = bench.tell(.refresh(caller, .manual, .unlessGood(for: minimum))).sendCount == 1
        #expect(sent || !wasSent, "\(minimum) ms after \(passed) ms")
        wasSent = sent
      }
      #expect(wasSent == (passed > 1_000))
    }
  }

  @Test("REF-15 REF-3 callers with different minimums share one request, and one reply serves all")
  func shared() {
    var bench = CoordinatorBench.signedIn(lifetime: 60_000)
    bench.advance(by: 20_000)
    let callers = [bench.caller(), bench.caller(), bench.caller()]
    let minimums: [Int64] = [50_000, 300_000, .max]
    var request: RequestNumber?
    var sent = 0
    for (caller, minimum) in zip(callers, minimums) {
      let effects = bench.tell(.refresh(caller, .manual, .unlessGood(for: minimum)))
      sent += effects.sendCount
      request = request ?? effects.request
    }
    #expect(sent == 1)
    let modest = bench.caller()
    #expect(
      bench.tell(.refresh(modest, .manual, .unlessGood(for: 30_000))).reply(to: modest)
        == .refreshed, "a token that is good enough is not waited for")
    let effects = bench.tell(.answered(request ?? RequestNumber(0), .token(lifetime: 10_000)))
    for caller in callers { #expect(effects.reply(to: caller) == .refreshed) }
    #expect(effects.sendCount == 0, "a short life is no reason to ask again")
  }

  @Test("REF-15 a server that has just failed does not receive a request for each caller")
  func rests() {
    let trouble = RequestFailure(kind: .server, status: 503)
    var bench = CoordinatorBench.signedIn(lifetime: 600_000)
    bench.advance(by: 500_000)
    let first = bench.tell(.refresh(bench.caller(), .manual, .unlessGood(for: 120_000))).request
    bench.tell(.failed(first ?? RequestNumber(0), trouble, jitter: 0))
    let caller = bench.caller()
    let effects = bench.tell(.refresh(caller, .manual, .unlessGood(for: 120_000)))
    #expect(effects == [.resume(caller, .failed(.request(trouble)))])
    let modest = bench.caller()
    #expect(
      bench.tell(.refresh(modest, .manual, .unlessGood(for: 60_000))).reply(to: modest)
        == .refreshed)
  }
}
