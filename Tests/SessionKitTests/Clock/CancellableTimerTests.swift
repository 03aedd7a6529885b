import SessionKit
import Testing

@Suite("Timers that can be cancelled", .timeLimit(.minutes(1)))
struct CancellableTimerTests {
  @Test("a timer ends when its time is over, also if that was before the wait")
  func fires() async throws {
    let start = ContinuousClock.now
    try await CancellableTimer(milliseconds: 30).wait()
    #expect(ContinuousClock.now - start >= .milliseconds(29))
    let early = CancellableTimer(milliseconds: 0)
    try await Task.sleep(for: .milliseconds(20))
    try await early.wait()
    try await CancellableTimer(milliseconds: -5).wait()
  }

  @Test("a cancelled timer throws, also if the cancellation was first")
  func cancelled() async {
    let waiting = Task { try await CancellableTimer(milliseconds: .max).wait() }
    await Task.yield()
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      try await CancellableTimer(milliseconds: 60_000).wait()
    }
    late.cancel()
    await #expect(throws: CancellationError.self) { try await late.value }
  }

  @Test("the system releases a cancelled timer at once, not when its time has come")
  func released() async throws {
    weak var timer: CancellableTimer?
    do {
      let running = CancellableTimer(milliseconds: 600_000)
      timer = running
      let waiting = Task { try await running.wait() }
      try await Task.sleep(for: .milliseconds(20))
      waiting.cancel()
      _ = await waiting.result
    }
    let end = ContinuousClock.now + .seconds(20)
    while timer != nil, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(10)) }
    #expect(timer == nil)
  }
}
