import Testing

@_spi(Internals) @testable import SessionCore

/// The machine of revocations, transition by transition.
@Suite("The machine Revocations")
struct RevocationsTests {
  private static let policy = PolicyFigures(SessionPolicy())
  private static let now = ClockReading(time: Timestamp(milliseconds: 0), uptime: 1_000)
  private let one = Generation(1)
  private let two = Generation(2)
  private let three = Generation(3)

  /// Continues after a request; `pending` is what the journal says.
  private func proceed(_ machine: inout Revocations, pending: Generation...) -> [SessionEffect] {
    machine.proceed(pending: pending, policy: Self.policy, at: Self.now)
  }

  private func timer(attempt: UInt32) -> [SessionEffect] {
    let delay = Self.policy.revocationDelay(tries: attempt)
    return [.schedule(.revocation, uptime: Self.now.uptime + delay)]
  }

  @Test("OUT-1 idle: several tokens are sent one after the other")
  func oneAfterTheOther() {
    var machine = Revocations()
    #expect(machine.begin(each: [one, two], pending: [one, two]) == [.revoke(one)])
    #expect(machine.isSending(one) && !machine.isSending(two))
    machine.ended(one)
    #expect(proceed(&machine, pending: two) == [.revoke(two)])
    machine.ended(two)
    #expect(proceed(&machine).isEmpty)
  }

  @Test("OUT-1 sending: a logout is sent at once, and the queue waits for both")
  func logoutMeanwhile() {
    var machine = Revocations()
    #expect(machine.begin(each: [one, two], pending: [one, two]) == [.revoke(one)])
    #expect(machine.begin(three) == [.revoke(three)])
    machine.ended(one)
    #expect(proceed(&machine, pending: two, three).isEmpty)
    machine.ended(three)
    #expect(proceed(&machine, pending: two) == [.revoke(two)])
  }

  @Test("OUT-1 sending: a token that is being sent is not sent a second time")
  func notTwice() {
    var machine = Revocations()
    #expect(machine.begin(one) == [.revoke(one)])
    #expect(machine.begin(each: [one, two], pending: [one, two]).isEmpty)
    machine.ended(one)
    #expect(proceed(&machine, pending: one, two) == [.revoke(two)])
    machine.ended(two)
    #expect(proceed(&machine, pending: one) == timer(attempt: 0))
  }

  @Test("OUT-1 sending: a queued token that another process has revoked is left out")
  func revokedElsewhere() {
    var machine = Revocations()
    #expect(machine.begin(each: [one, two, three], pending: [one, two, three]) == [.revoke(one)])
    machine.ended(one)
    #expect(proceed(&machine, pending: three) == [.revoke(three)])
  }

  @Test("OUT-1 ended: attempts of what is pending have growing delays until one does not fail")
  func attempts() {
    var machine = Revocations()
    for attempt in 0..<4 as Range<UInt32> {
      _ = machine.begin(one)
      machine.ended(one)
      machine.journaled(one, .failed)
      #expect(proceed(&machine, pending: one) == timer(attempt: attempt))
    }
    #expect(timer(attempt: 0) != timer(attempt: 1))
    machine.journaled(two, .revoked)
    #expect(proceed(&machine, pending: one) == timer(attempt: 0))
  }

  @Test("OUT-5 a failure is reported until an outcome without a failure is journaled")
  func reported() {
    var machine = Revocations()
    #expect(!machine.hasReported(one))
    machine.journaled(one, .failed)
    #expect(machine.hasReported(one) && !machine.hasReported(two))
    machine.journaled(one, .alreadyInvalid)
    #expect(!machine.hasReported(one))
  }
}
