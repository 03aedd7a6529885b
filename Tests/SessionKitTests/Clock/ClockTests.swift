import SessionKit
import SessionTestKit
import Testing

@Suite("Clocks")
struct ClockTests {
  @Test("REF-8 the system clock's uptime advances at least as long as a sleep lasts")
  func system() async throws {
    let clock = SystemClock()
    let before = clock.now()
    try await clock.sleep(untilUptime: before.uptime + 20)
    #expect(clock.now().uptime >= before.uptime + 20)
    #expect(before.time > Timestamp(milliseconds: 1_700_000_000_000))
    try await clock.sleep(untilUptime: .min)
  }

  @Test("a cancelled sleep throws at once on each clock")
  func cancellation() async {
    let clocks: [any SessionClock] = [SystemClock(), ManualClock()]
    for clock in clocks {
      let sleeper = Task { try await clock.sleep(untilUptime: .max) }
      sleeper.cancel()
      await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
  }

  @Test("TST-2 a manual clock wakes only the sleepers that are due, in order")
  func order() async throws {
    let clock = ManualClock()
    let start = clock.now().uptime
    let (woken, continuation) = AsyncStream.makeStream(of: Int64.self)
    let tasks = [30, 10, 20, 40].map { (delay: Int64) in
      Task {
        try await clock.sleep(untilUptime: start + delay)
        continuation.yield(delay)
      }
    }
    await clock.waitForSleepers(4)
    #expect(clock.nextDeadline == start + 10)
    clock.advance(by: .milliseconds(9))
    #expect(clock.sleeperCount == 4)
    var iterator = woken.makeAsyncIterator()
    for expected: Int64 in [10, 20, 30] {
      clock.advance(by: .milliseconds(start + expected - clock.now().uptime))
      #expect(await iterator.next() == expected)
    }
    #expect(clock.sleeperCount == 1)
    for task in tasks { task.cancel() }
    #expect(clock.sleeperCount == 0)
  }

  @Test("REF-8 setting the wall clock of a manual clock does not change its uptime")
  func wallClock() async {
    let clock = ManualClock(time: Timestamp(milliseconds: 1000))
    let uptime = clock.now().uptime
    clock.setTime(Timestamp(milliseconds: 999_999))
    #expect(clock.now().uptime == uptime)
    #expect(clock.now().time == Timestamp(milliseconds: 999_999))
    clock.advance(by: .milliseconds(5))
    #expect(
      clock.now() == ClockReading(time: Timestamp(milliseconds: 1_000_004), uptime: uptime + 5))
  }

  @Test("a sleep until a past time returns at once")
  func past() async throws {
    let clock = ManualClock()
    try await clock.sleep(untilUptime: clock.now().uptime)
    try await clock.sleep(untilUptime: .min)
    #expect(clock.sleeperCount == 0)
  }
}
