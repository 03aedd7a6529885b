import Testing

@_spi(Internals) @testable import SessionCore

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
      (hour - 1, .goesOn([.schedule(.inactivity, uptime: 5_001)])),
      (hour, .expired), (.max, .expired),
      (-7, .goesOn([.schedule(.inactivity, uptime: 5_000 + hour)])),
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
      machine.use(at: interval, now: interval)
        == [timer(interval + Self.hour), .markActive(interval)])
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
