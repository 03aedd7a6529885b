import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionCore

@Suite("Decisions: a session at the end of its lifetime")
struct LifetimeDecisionTests {
  private static let limit: Int64 = 7_200_000

  private static func policy(_ end: SessionPolicy.End = .keep) -> SessionPolicy {
    var policy = SessionPolicy.benchKeeping
    policy.ending.onRejection = end
    policy.ending.absoluteLifetime = .milliseconds(limit)
    return policy
  }

  private static func expired(_ bench: CoordinatorBench) -> ExpiryReason? {
    guard case .expired(let session) = bench.coordinator.state else { return nil }
    return session.reason
  }

  @Test("POL-10 a session that is used and refreshed expires exactly at the end of its lifetime")
  func expires() {
    var bench = CoordinatorBench.signedIn(Self.policy())
    bench.advance(by: Self.limit / 2)
    bench.tell(.used(bench.now.uptime))
    let (_, effects) = bench.refresh()
    bench.tell(.answered(effects.request ?? RequestNumber(0), .token()))
    bench.advance(by: Self.limit / 2 - 1)
    let early = bench.tell(.fired(.lifetime))
    #expect(early.uptime(of: .lifetime) == bench.now.uptime + 1)
    #expect(bench.coordinator.state.kind == .authenticated)
    bench.advance(by: 1)
    let late = bench.tell(.fired(.lifetime))
    #expect(Self.expired(bench) == .lifetimeEnded)
    #expect(bench.names.suffix(2) == ["sessionExpired", "revocationPending"], "OUT-6")
    #expect(late.contains(.cancel(.lifetime)))
  }

  @Test(
    "POL-10 opening expires a session past its lifetime, by civil time after a reboot",
    arguments: [limit - 1, limit, 10 * limit])
  func reopened(age: Int64) throws {
    var bench = try CoordinatorBench(Self.policy(), journal: [.event(.login(as: "ada"))])
    bench.advance(by: age)
    let effects = bench.tell(.opened(.session(1)))
    #expect((Self.expired(bench) == .lifetimeEnded) == (age >= Self.limit))
    if age < Self.limit { #expect(effects.uptime(of: .lifetime) == bench.now.uptime + 1) }
  }

  @Test("POL-10 REF-8 opening ignores a civil clock that was set while the system kept running")
  func sameStart() throws {
    for jump in [1 << 40, -(1 << 40)] as [Int64] {
      var bench = try CoordinatorBench(Self.policy(), journal: [.event(.login(as: "ada"))])
      let token = try #require(bench.coordinator.state.token)
      var facts = StoredItemsReport.session(1)
      facts.deadline = bench.now.uptime + token.expiresAt.milliseconds(since: bench.now.time)
      let began = bench.now.uptime - bench.now.time.milliseconds(since: token.issuedAt)
      bench.advance(by: 60_000)
      bench.jump(by: jump)
      let effects = bench.tell(.opened(facts))
      #expect(bench.coordinator.state.kind == .authenticated, "\(jump)")
      guard case .authenticated(let session) = bench.coordinator.state else { continue }
      let head = token.issuedAt.milliseconds(since: session.since)
      #expect(effects.uptime(of: .lifetime) == began - head + Self.limit)
    }
  }

  @Test("POL-10 a new login restarts the lifetime")
  func again() {
    var bench = CoordinatorBench.signedIn(Self.policy())
    bench.advance(by: Self.limit - 1)
    bench.tell(.logout(bench.caller()))
    let login = bench.tell(.login(bench.caller(), .password))
    bench.tell(.answered(login.request ?? RequestNumber(0), .login("ada")))
    bench.advance(by: 1)
    #expect(
      bench.tell(.fired(.lifetime)).uptime(of: .lifetime) == bench.now.uptime + Self.limit - 1)
    #expect(bench.coordinator.state.kind == .authenticated)
  }
}

/// The machine of inactivity, transition by transition.
///
/// The limit is an hour.
@Suite("The machine Inactivity")
struct InactivityTests {
  private static let hour: Int64 = 3_600_000

  private func machine(limit: Duration? = .seconds(3_600)) -> Inactivity {
    var policy = SessionPolicy()
    policy.ending.inactivityLimit = limit
    return Inactivity(PolicyFigures(policy))
  }

  /// A machine that measures since `uptime`, and has stored that use.
  private func measuring(since uptime: Int64) -> Inactivity {
    var machine = machine()
    machine.begin(at: uptime)
    _ = machine.use(at: uptime, now: uptime)
    return machine
  }

  private func timer(_ uptime: Int64) -> SessionEffect { .schedule(.inactivity, uptime: uptime) }

  @Test("POL-5 off: without a limit, no input has an effect")
  func withoutLimit() {
    var machine = machine(limit: nil)
    machine.begin(at: 10)
    #expect(!machine.isLimited)
    #expect(machine.resume(idle: 2 * Self.hour, at: 20) == .goesOn([]))
    #expect(machine.use(at: 30, now: 30).isEmpty)
    #expect(machine.isDue(at: .max).isEmpty)
    #expect(machine.read(nil, retryPause: 5, at: 40) == .goesOn([]))
    #expect(machine.stop().isEmpty)
  }

  @Test("POL-5 off: a login begins the measurement, and its use is stored")
  func begun() {
    var machine = machine()
    machine.begin(at: 100)
    #expect(machine.use(at: 100, now: 100) == [timer(100 + Self.hour), .markActive(100)])
  }

  @Test(
    "POL-5 off: an opening continues with the stored use",
    arguments: [
      (0, .goesOn([.schedule(.inactivity, uptime: 5_000 + hour)])),
      (hour - 1, .goesOn([.schedule(.inactivity, uptime: 5_001)])), (hour, .expired),
      (.max, .expired), (-7, .goesOn([.schedule(.inactivity, uptime: 5_000 + hour)])),
    ] as [(Int64, Inactivity.Verdict)])
  func resumed(idle: Int64, verdict: Inactivity.Verdict) {
    var machine = machine()
    #expect(machine.resume(idle: idle, at: 5_000) == verdict)
  }

  @Test("POL-5 off: an opening without a stored use counts as the first use")
  func resumedWithoutUse() {
    var machine = machine()
    #expect(
      machine.resume(idle: nil, at: 5_000)
        == .goesOn([timer(5_000 + Self.hour), .markActive(5_000)]))
  }

  @Test("POL-5 measuring: a use moves the timer, and is stored once in an interval")
  func used() {
    var policy = SessionPolicy()
    policy.ending.inactivityLimit = .seconds(3_600)
    let interval = PolicyFigures(policy).useInterval
    var machine = measuring(since: 0)
    #expect(machine.use(at: interval - 1, now: interval) == [timer(interval - 1 + Self.hour)])
    #expect(
      machine.use(at: interval, now: interval) == [
        timer(interval + Self.hour), .markActive(interval),
      ])
    // A time in the future is a mistake of the caller, and an older one changes nothing.
    #expect(machine.use(at: .max, now: interval + 1) == [timer(interval + 1 + Self.hour)])
    #expect(machine.use(at: 3, now: interval + 2) == [timer(interval + 1 + Self.hour)])
  }

  @Test("POL-5 measuring: the timer reads the use of other processes only at the end")
  func due() {
    let machine = measuring(since: 0)
    #expect(machine.isDue(at: Self.hour - 1) == [timer(Self.hour)])
    #expect(machine.isDue(at: Self.hour) == [.readUse])
  }

  @Test("POL-5 RES-3 reading: a newer use continues, an old one expires, an unreadable one waits")
  func read() {
    var machine = measuring(since: 0)
    let now = Self.hour
    #expect(machine.read(nil, retryPause: 1_000, at: now) == .goesOn([timer(now + 1_000)]))
    #expect(machine.read(5, retryPause: 1_000, at: now) == .goesOn([timer(5 + Self.hour)]))
    #expect(machine.read(5, retryPause: 1_000, at: now + 5) == .expired)
    // A time in the future counts as now.
    #expect(
      machine.read(.max, retryPause: 1_000, at: now + 5) == .goesOn([timer(now + 5 + Self.hour)]))
  }

  @Test("POL-5 measuring: the end of the session stops the measurement")
  func stopped() {
    var machine = measuring(since: 0)
    #expect(machine.stop() == [.cancel(.inactivity)])
    #expect(machine.lastUse == .min)
  }
}

/// The machine of a session's lifetime, transition by transition.
///
/// The policy's limit is a day.
@Suite("The machine SessionLifetime")
struct SessionLifetimeTests {
  private static let day: Int64 = 86_400_000

  private func machine(limit: Duration? = .seconds(86_400)) -> SessionLifetime {
    var policy = SessionPolicy()
    policy.ending.absoluteLifetime = limit
    return SessionLifetime(PolicyFigures(policy))
  }

  private func timer(_ uptime: Int64) -> [SessionEffect] { [.schedule(.lifetime, uptime: uptime)] }

  @Test("POL-10 off: without a limit and a stated end, no input has an effect")
  func withoutLimit() {
    var machine = machine(limit: nil)
    #expect(machine.begin(age: 0, at: 10).isEmpty)
    #expect(machine.resume(stated: nil, age: .max, mayExpire: true, at: 20) == .goesOn([]))
    #expect(machine.state(nil).isEmpty)
    #expect(machine.check(at: .max) == .goesOn([]))
    #expect(machine.stop().isEmpty)
    #expect(machine.end == .max)
  }

  @Test("POL-10 off: a login begins the policy's limit, from the time of the login")
  func begun() {
    var machine = machine()
    #expect(machine.begin(age: 7, at: 1_000) == timer(1_000 + Self.day - 7))
    #expect(machine.check(at: 1_000 + Self.day - 8) == .goesOn(timer(1_000 + Self.day - 7)))
    #expect(machine.check(at: 1_000 + Self.day - 7) == .expired)
  }

  @Test("POL-10 limited: a stated end counts if it is the earlier one")
  func stated() {
    var machine = machine()
    _ = machine.begin(age: 0, at: 0)
    #expect(machine.state(5_000) == timer(5_000))
    #expect(machine.state(5_000).isEmpty && machine.state(nil).isEmpty)
    #expect(machine.state(2 * Self.day) == timer(Self.day))
    #expect(machine.statedEnd == 2 * Self.day)
  }

  @Test("POL-10 limited: a new session does not keep the end that a response stated before")
  func anotherSession() {
    var limited = machine()
    _ = limited.state(5_000)
    #expect(limited.begin(age: 0, at: 1_000) == timer(1_000 + Self.day))
    var unlimited = machine(limit: nil)
    _ = unlimited.state(5_000)
    #expect(unlimited.begin(age: 0, at: 1_000) == [.cancel(.lifetime)])
    #expect(unlimited.end == .max)
  }

  @Test(
    "POL-10 off: an opening continues, or expires at the end unless another end is being journaled",
    arguments: [
      (nil, 0, true, .goesOn([.schedule(.lifetime, uptime: 1_000 + day)])),
      (nil, day - 1, true, .goesOn([.schedule(.lifetime, uptime: 1_001)])),
      (nil, day, true, .expired), (nil, day, false, .goesOn([.schedule(.lifetime, uptime: 1_000)])),
      (nil, -5, true, .goesOn([.schedule(.lifetime, uptime: 1_000 + day)])),
      (900, 0, true, .expired), (1_500, 0, true, .goesOn([.schedule(.lifetime, uptime: 1_500)])),
    ] as [(Int64?, Int64, Bool, SessionLifetime.Verdict)])
  func resumed(stated: Int64?, age: Int64, mayExpire: Bool, verdict: SessionLifetime.Verdict) {
    var machine = machine()
    #expect(machine.resume(stated: stated, age: age, mayExpire: mayExpire, at: 1_000) == verdict)
  }

  @Test("POL-10 limited: a second opening keeps the policy's end that was computed first")
  func resumedTwice() {
    var machine = machine()
    _ = machine.begin(age: 0, at: 0)
    #expect(
      machine.resume(stated: nil, age: Self.day, mayExpire: true, at: 10)
        == .goesOn(timer(Self.day)))
  }

  @Test("POL-10 limited: the end of the session stops the measurement")
  func stopped() {
    var machine = machine()
    _ = machine.begin(age: 0, at: 0)
    _ = machine.state(5_000)
    #expect(machine.stop() == [.cancel(.lifetime)])
    #expect(machine.end == .max)
  }
}
