@_spi(Internals) import SessionCore
import SessionTestKit
import Synchronization
import Testing

@Suite("TST-2: the manual clock")
struct ManualClockTests {
  private final class Ticks: Sendable {
    private let state = Mutex(0)
    var count: Int { state.withLock { $0 } }
    func tick() { state.withLock { $0 += 1 } }
  }

  @Test("TST-2: a loop of ten sleeps runs ten times if the clock waits for each")
  func steps() async throws {
    let (clock, ticks) = (ManualClock(), Ticks())
    let loop = Task {
      while true {
        try await clock.sleep(until: clock.now().elapsed + .milliseconds(100))
        ticks.tick()
      }
    }
    await clock.advance(by: .seconds(1), sleepers: 1)
    #expect(ticks.count == 10)
    #expect(clock.now().uptime == 2_000)
    loop.cancel()
    _ = await loop.result
  }

  @Test("TST-2: a timer fires once, at its time or at once, and not after it was cancelled")
  func timers() {
    let (clock, ticks) = (ManualClock(), Ticks())
    let first = clock.set(at: 1_500) { ticks.tick() }
    let second = clock.set(at: 2_000) { ticks.tick() }
    #expect(clock.sleeperCount == 2 && clock.nextDeadline == 1_500)
    clock.advance(by: .milliseconds(499))
    #expect(ticks.count == 0)
    clock.advance(by: .milliseconds(1))
    #expect(ticks.count == 1)
    clock.cancel(first)
    clock.cancel(second)
    clock.advance(by: .seconds(10))
    #expect(ticks.count == 1 && clock.sleeperCount == 0)
    _ = clock.set(at: 1_500) { ticks.tick() }
    #expect(ticks.count == 2)
  }

  @Test("TST-2: time does not go back, and the clock accepts any duration")
  func bounds() {
    let clock = ManualClock()
    let start = clock.now()
    clock.advance(by: .milliseconds(-5))
    #expect(clock.now() == start)
    clock.advance(by: .nanoseconds(1))
    #expect(clock.now().uptime == start.uptime + 1, "a part of a millisecond counts as a whole one")
    clock.advance(by: .milliseconds(Int64.max))
    #expect(clock.now().uptime == .max)
  }
}
