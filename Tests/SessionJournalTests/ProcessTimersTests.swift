import Testing

@testable import SessionJournal

@Suite("The timers that all sessions share", .timeLimit(.minutes(3)))
struct ProcessTimersTests {
  @Test("SCL-2 timers by deadline agree with a sorted list, whatever is set and cancelled")
  func heap() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var heap = TimerHeap<Int>()
      var model: [(deadline: Int64, number: UInt64, value: Int)] = []
      for value in 0..<60 {
        switch Int.random(in: 0..<5, using: &random) {
        case 0 where !model.isEmpty:
          let removed = model.remove(at: Int.random(in: 0..<model.count, using: &random))
          #expect(heap.remove(removed.number) == removed.value)
          #expect(heap.remove(removed.number) == nil)
        case 1:
          let time = Int64.random(in: 0..<20, using: &random)
          let due = model.filter { $0.deadline <= time }
            .sorted { ($0.deadline, $0.number) < ($1.deadline, $1.number) }
          model.removeAll { $0.deadline <= time }
          #expect(heap.takeDue(at: time) == due.map(\.value))
        default:
          let deadline = Int64.random(in: 0..<20, using: &random)
          model.append((deadline, heap.insert(value, at: deadline), value))
        }
        #expect(heap.count == model.count)
        #expect(heap.nextDeadline == model.map(\.deadline).min())
      }
    }
  }

  @Test("SCL-2 a thousand sleepers wake, none before its time, and leave no timer")
  func sleepers() async throws {
    let timers = ProcessTimers()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<1_000 as Range<Int64> {
        group.addTask {
          let deadline = ProcessTimers.now() + number % 50
          try await timers.sleep(until: deadline)
          return ProcessTimers.now() >= deadline
        }
      }
      for try await isLate in group { #expect(isLate) }
    }
    #expect(timers.count == 0)
  }

  @Test("SCL-2 a cancelled sleeper ends at once, and leaves no timer")
  func cancelled() async {
    let timers = ProcessTimers()
    let tasks = (0..<100).map { number in
      Task { try await timers.sleep(until: number == 0 ? .max : ProcessTimers.now() + 100_000_000) }
    }
    while timers.count < 100 { await Task.yield() }
    for task in tasks { task.cancel() }
    for task in tasks {
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(timers.count == 0)
  }

  @Test("SCL-2 a sleep lasts its span, and a span below zero ends at once")
  func span() async throws {
    let timers = ProcessTimers()
    let start = ContinuousClock.now
    try await timers.sleep(for: .microseconds(29_500))
    #expect(ContinuousClock.now - start >= .milliseconds(29))
    try await timers.sleep(for: .seconds(-5))
    #expect(ProcessTimers.deadline(after: .seconds(Int64.max)) > ProcessTimers.now() + 100_000_000)
    #expect(timers.count == 0)
  }

  @Test("SCL-2 a cancelled timer releases what it holds at once, not when its time has come")
  func released() {
    final class Held: Sendable {}
    let timers = ProcessTimers()
    weak var held: Held?
    let ticket = {
      let made = Held()
      held = made
      return timers.set(at: ProcessTimers.now() + 600_000) { _ = made }
    }()
    #expect(held != nil)
    timers.cancel(ticket)
    #expect(held == nil)
  }

  @Test("SCL-2 a timer that is set later for an earlier time fires first")
  func earlier() async {
    let timers = ProcessTimers()
    let late = timers.set(at: ProcessTimers.now() + 100_000_000) { Issue.record("it fired") }
    await withCheckedContinuation { continuation in
      _ = timers.set(at: ProcessTimers.now() + 5) { continuation.resume() }
    }
    timers.cancel(late)
    timers.cancel(late)
    #expect(timers.count == 0)
  }

  @Test("SCL-2 a sleep whose time has passed ends at once, also in a cancelled task")
  func passed() async throws {
    let timers = ProcessTimers()
    try await timers.sleep(until: .min)
    try await timers.sleep(until: ProcessTimers.now())
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await timers.sleep(until: .max)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(timers.count == 0)
  }
}
