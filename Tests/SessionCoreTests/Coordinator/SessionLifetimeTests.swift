import Testing

@_spi(Internals) @testable import SessionCore

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
      (nil, day, true, .expired),
      (nil, day, false, .goesOn([.schedule(.lifetime, uptime: 1_000)])),
      (nil, -5, true, .goesOn([.schedule(.lifetime, uptime: 1_000 + day)])),
      (900, 0, true, .expired),
      (1_500, 0, true, .goesOn([.schedule(.lifetime, uptime: 1_500)])),
    ] as [(Int64?, Int64, Bool, SessionLifetime.Verdict)])
  func resumed(stated: Int64?, age: Int64, mayExpire: Bool, verdict: SessionLifetime.Verdict) {
    var machine = machine()
    #expect(
      machine.resume(stated: stated, age: age, mayExpire: mayExpire, at: 1_000) == verdict)
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
