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
  private func ended(
    _ count: Int, _ start: (_ end: @escaping @Sendable () -> Void) -> Void
  ) async {
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
        } catch {
          Issue.record(error)
        }
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
    await withTaskGroup { group in
      for _ in 0..<2_000 { group.addTask { await counter.add() } }
    }
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
