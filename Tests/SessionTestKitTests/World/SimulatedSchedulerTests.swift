import SessionTestKit
import Synchronization
import Testing

@Suite("TST-2: the scheduler of a simulated world")
struct SimulatedSchedulerTests {
  private actor Counter {
    nonisolated let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private var count = 0

    init(_ executor: any SerialExecutor) { self.executor = executor }

    func next() -> Int {
      count += 1
      return count
    }

    func nextButTwo() async -> Int {
      _ = await after(await after(0))
      return next()
    }

    private func after(_ number: Int) async -> Int { next() }
  }

  /// The order in which three tasks of two halves each run.
  private func order(_ draws: [UInt64]) -> [String] {
    let choices = Choices(replaying: draws)
    let scheduler = SimulatedScheduler()
    let counter = Counter(scheduler.actors())
    let order = Mutex<[String]>([])
    let log = Log()
    for name in ["a", "b", "c"] {
      _ = scheduler.spawn(name) {
        log.add("\(name)1")
        _ = await counter.next()
        log.add("\(name)2")
      }
    }
    while scheduler.step(choices) {}
    _ = order
    return log.lines
  }

  private final class Log: Sendable {
    private let state = Mutex<[String]>([])
    var lines: [String] { state.withLock { $0 } }
    func add(_ line: String) { state.withLock { $0.append(line) } }
  }

  @Test("TST-2: nothing runs before its step, and draws of 0 keep the order of readiness")
  func inOrder() {
    #expect(order([]) == ["a1", "b1", "c1", "a2", "b2", "c2"])
  }

  @Test("TST-2: a draw chooses the next task, and equal draws give equal orders")
  func drawn() {
    #expect(order([2]).first == "c1")
    #expect(Set(order([2, 1, 2, 0, 1])) == Set(order([])))
    let orders = Set((0..<40).map { order(Choices(seed: $0).someDraws) })
    #expect(orders.count > 10)
    #expect(order([2, 1, 2, 0, 1]) == order([2, 1, 2, 0, 1]))
  }

  @Test("TST-2: a task enters an actor once, and a call within the actor is no step")
  func callsWithin() {
    let scheduler = SimulatedScheduler()
    let counter = Counter(scheduler.actors())
    let log = Log()
    _ = scheduler.spawn("a") { log.add("\(await counter.nextButTwo())") }
    var steps = 0
    while scheduler.step(Choices(replaying: [])) { steps += 1 }
    #expect(log.lines == ["3"])
    #expect(steps == 3, "its beginning, in the actor, and after it")
  }

  @Test("TST-2: a step without a ready task says so and draws nothing")
  func empty() {
    let choices = Choices(replaying: [1, 1])
    let scheduler = SimulatedScheduler()
    #expect(!scheduler.step(choices))
    #expect(choices.recorded.isEmpty)
    scheduler.add {}
    #expect(scheduler.step(choices))
    #expect(!scheduler.step(choices))
  }
}

extension Choices {
  fileprivate var someDraws: [UInt64] { (0..<12).map { _ in draw(below: 3) } }
}
