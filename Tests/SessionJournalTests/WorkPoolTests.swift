import ChildProcesses
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import SessionJournal

@Suite("The threads that all sessions share", .timeLimit(.minutes(3)))
struct WorkPoolTests {
  /// How many pieces run now, and how many ran at once.
  private final class Meter: Sendable {
    private let state = Mutex((now: 0, most: 0))

    func enter() {
      state.withLock { state in
        state.now += 1
        state.most = max(state.most, state.now)
      }
    }
    func leave() { state.withLock { $0.now -= 1 } }
    var now: Int { state.withLock { $0.now } }
    var most: Int { state.withLock { $0.most } }
  }

  /// Starts work and waits until it has ended that many times.
  private func ended(_ count: Int, _ start: (_ end: @escaping @Sendable () -> Void) -> Void) async {
    let (ends, input) = AsyncStream.makeStream(of: Void.self)
    start { input.yield() }
    var left = count
    for await _ in ends {
      left -= 1
      if left == 0 { return }
    }
  }

  @Test("SCL-2 as many lanes as there are threads run at once, and never more")
  func bounded() async {
    let (pool, meter) = (WorkPool(width: 3), Meter())
    let lanes = (0..<40).map { _ in WorkLane(on: pool) }
    let gate = DispatchSemaphore(value: 0)
    await ended(40) { end in
      for lane in lanes {
        lane.perform {
          meter.enter()
          gate.wait()
          meter.leave()
          end()
        }
      }
      // All threads are taken before the first piece may end.
      while meter.now < 3 { sched_yield() }
      for _ in lanes { gate.signal() }
    }
    #expect(meter.most == 3)
  }

  @Test("SCL-2 the work of a lane runs in order, one piece at a time")
  func inOrder() async {
    let pool = WorkPool(width: 4)
    let orders = (0..<8).map { _ in Order() }
    await ended(8 * 500) { end in
      for order in orders {
        let lane = WorkLane(on: pool)
        for number in 0..<500 {
          lane.perform {
            order.add(number)
            end()
          }
        }
      }
    }
    for order in orders { #expect(order.numbers == Array(0..<500)) }
  }

  private final class Order: Sendable {
    private let state = Mutex<(numbers: [Int], isRunning: Bool)>(([], false))
    var numbers: [Int] { state.withLock { $0.numbers } }

    func add(_ number: Int) {
      let isAlone = state.withLock { state in
        defer { state.isRunning = true }
        return !state.isRunning
      }
      #expect(isAlone)
      state.withLock { state in
        state.numbers.append(number)
        state.isRunning = false
      }
    }
  }

  @Test("SCL-2 a lane that always has work does not keep the others from their turn")
  func fair() async {
    let pool = WorkPool(width: 1)
    let (busy, other) = (WorkLane(on: pool), WorkLane(on: pool))
    let loop = Loop(busy)
    await ended(1) { end in
      loop.begin()
      other.perform {
        loop.end()
        end()
      }
    }
    #expect(loop.rounds > 0)
  }

  /// Work that adds itself to its lane again and again.
  private final class Loop: Sendable {
    private let lane: WorkLane
    private let state = Mutex((rounds: 0, isOver: false))
    var rounds: Int { state.withLock { $0.rounds } }

    init(_ lane: WorkLane) { self.lane = lane }

    func begin() {
      lane.perform { [self] in
        let goesOn = state.withLock { state in
          state.rounds += 1
          return !state.isOver
        }
        if goesOn { begin() }
      }
    }
    func end() { state.withLock { $0.isOver = true } }
  }

  @Test("SCL-2 SCL-1 appends that wait for a lock in every thread of their pool stop no session")
  func waiting() async throws {
    let scratch = try TemporaryFolder()
    let holder = try Journal.open(at: scratch.journal)
    let others = try (0..<2 * WorkPool.width).map { _ in try Journal.open(at: scratch.journal) }
    let release = DispatchSemaphore(value: 0)
    await ended(1) { isHeld in
      Thread.detachNewThread {
        do {
          _ = try holder.transact { (_: [JournalRecord]) throws(Never) -> ([JournalDraft], Bool) in
            isHeld()
            release.wait()
            return ([], true)
          }
        } catch { Issue.record(error) }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for other in others { group.addTask { _ = try await other.submit([draft("waits")]) } }
      while others.count(where: { $0.waitingCount > 0 }) != WorkPool.width { await Task.yield() }
      await ended(1) { end in WorkLane(on: .shared).perform { end() } }
      release.signal()
      try await group.waitForAll()
    }
    #expect(try holder.catchUp().count == others.count)
    for journal in others + [holder] { try journal.close() }
  }

  @Test("SCL-2 a lane that was moved needs no thread of its first pool")
  func moved() async {
    let (first, second) = (WorkPool(width: 1), WorkPool(width: 1))
    let (lane, stuck) = (WorkLane(on: first), WorkLane(on: first))
    let release = DispatchSemaphore(value: 0)
    await ended(1) { end in
      lane.perform {
        lane.move(to: second)
        end()
      }
    }
    await ended(1) { end in
      stuck.perform {
        end()
        release.wait()
      }
    }
    await ended(1) { end in lane.perform { end() } }
    #expect(lane.pool === second)
    release.signal()
  }

  @Test("SCL-2 the jobs of an actor run in its lane")
  func actors() async {
    actor Counter {
      nonisolated let lane: WorkLane
      nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }
      var count = 0
      init(_ lane: WorkLane) { self.lane = lane }
      func add() { count += 1 }
    }
    let counter = Counter(WorkLane(on: WorkPool(width: 2)))
    await withTaskGroup { group in for _ in 0..<2_000 { group.addTask { await counter.add() } } }
    #expect(await counter.count == 2_000)
  }

  @Test("SCL-2 the queue of ready lanes keeps their order, however many it holds")
  func queue() {
    var queue = FirstInFirstOut<Int>()
    var (next, first) = (0, 0)
    for round in 1...300 {
      for _ in 0..<(round * 7 % 40) {
        queue.append(next)
        next += 1
      }
      for _ in 0..<(round * 5 % 37) {
        guard let value = queue.popFirst() else { break }
        #expect(value == first)
        first += 1
      }
      #expect(queue.isEmpty == (first == next))
    }
    while let value = queue.popFirst() {
      #expect(value == first)
      first += 1
    }
    #expect(first == next && queue.isEmpty)
  }
}

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
          let due = model.filter { $0.deadline <= time }.sorted {
            ($0.deadline, $0.number) < ($1.deadline, $1.number)
          }
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
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
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
