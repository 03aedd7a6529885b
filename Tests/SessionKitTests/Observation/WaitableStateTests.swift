import SessionTestKit
import SessionTestSupport
import Synchronization
import Testing

@testable import SessionKit

@Suite("Tasks that wait for a state")
struct WaitableStateTests {
  private typealias Numbers = WaitableState<Int>

  /// Starts a task that waits until the number is at least `least`.
  private func waiter(_ numbers: Numbers, for least: Int) -> Task<Int?, Never> {
    Task { await numbers.wait { $0 >= least ? $0 : nil } }
  }

  @Test("STA-7 an answer that is there is returned at once, even to a cancelled task")
  func isThere() async {
    let numbers = Numbers(3)
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await numbers.wait { $0 == 3 ? "three" : nil }
    }
    #expect(await cancelled.value == "three")
  }

  @Test("STA-7 a waiting task looks again after each change, and not in between")
  func looksAgain() async {
    let numbers = Numbers(0)
    let looks = Atomic(0)
    let task = Task {
      await numbers.wait { number in
        looks.add(1, ordering: .relaxed)
        return number >= 2 ? number : nil
      }
    }
    await eventually("it waits") { numbers.waiterCount == 1 }
    numbers.withLock { $0 = 5 }
    #expect(numbers.waiterCount == 1)
    numbers.change { $0 = 1 }
    await eventually("it waits again") { numbers.waiterCount == 1 }
    numbers.change { $0 = 2 }
    #expect(await task.value == 2)
    #expect(looks.load(ordering: .relaxed) == 3)
    #expect(numbers.waiterCount == 0)
  }

  @Test("STA-7 a task that is cancelled before it waits receives no answer")
  func cancelledBefore() async {
    let numbers = Numbers(0)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await numbers.wait { $0 > 0 ? $0 : nil }
    }
    #expect(await task.value == nil)
    #expect(numbers.waiterCount == 0)
  }

  @Test(
    "STA-7 a task that is cancelled while it waits receives no answer, and the others still wait")
  func cancelledDuring() async {
    let numbers = Numbers(0)
    let (first, second) = (waiter(numbers, for: 1), waiter(numbers, for: 1))
    await eventually("both wait") { numbers.waiterCount == 2 }
    first.cancel()
    #expect(await first.value == nil)
    #expect(numbers.waiterCount == 1)
    numbers.change { $0 = 1 }
    #expect(await second.value == 1)
  }

  @Test("STA-7 a cancellation and a change after the end of a wait have no effect")
  func cancelledAfter() async {
    let numbers = Numbers(0)
    let task = waiter(numbers, for: 1)
    await eventually("it waits") { numbers.waiterCount == 1 }
    numbers.change { $0 = 1 }
    #expect(await task.value == 1)
    task.cancel()
    numbers.change { $0 = 2 }
    numbers.resumeWaiters()
    #expect(numbers.waiterCount == 0)
  }

  @Test("STA-7 a wait that ignores cancellation lasts until there is an answer")
  func ignoresCancellation() async {
    let numbers = Numbers(0)
    let task = Task { await numbers.answer { $0 > 0 ? $0 : nil } }
    await eventually("it waits") { numbers.waiterCount == 1 }
    task.cancel()
    numbers.resumeWaiters()
    await eventually("it waits again") { numbers.waiterCount == 1 }
    numbers.change { $0 = 7 }
    #expect(await task.value == 7)
  }

  @Test("STA-7 a look may take what it finds, so that only one task receives it")
  func takes() async {
    let numbers = Numbers(0)
    let tasks = (1...20).map { _ in
      Task {
        await numbers.wait { number -> Int? in
          guard number > 0 else { return nil }
          defer { number = 0 }
          return number
        }
      }
    }
    await eventually("all wait") { numbers.waiterCount == 20 }
    numbers.change { $0 = 9 }
    await eventually("all others wait again") { numbers.waiterCount == 19 }
    for task in tasks { task.cancel() }
    var answers: [Int] = []
    for task in tasks { if let answer = await task.value { answers.append(answer) } }
    #expect(answers == [9])
  }

  @Test("STA-7 no wait is lost or resumed twice while many tasks wait, change and are cancelled")
  func storm() async {
    let numbers = Numbers(0)
    let last = 400
    await withTaskGroup(of: Void.self) { group in
      for number in 1...last {
        group.addTask {
          let task = Task { await numbers.wait { $0 >= number ? $0 : nil } }
          if number.isMultiple(of: 3) { task.cancel() }
          let answer = await task.value
          #expect(answer.map { $0 >= number } ?? number.isMultiple(of: 3))
        }
      }
      group.addTask {
        for _ in 1...last {
          numbers.change { $0 += 1 }
          await Task.yield()
        }
      }
    }
    #expect(numbers.waiterCount == 0)
  }

  @Test("STA-7 a state is released after its last wait")
  func isReleased() async {
    weak var released: Numbers?
    do {
      let numbers = Numbers(0)
      released = numbers
      let task = waiter(numbers, for: 1)
      await eventually("it waits") { numbers.waiterCount == 1 }
      task.cancel()
      #expect(await task.value == nil)
    }
    await eventually("it is released") { released == nil }
  }
}
