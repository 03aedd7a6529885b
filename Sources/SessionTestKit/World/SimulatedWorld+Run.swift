public import Foundation
@_spi(Internals) import SessionCore
import Synchronization

extension SimulatedWorld {
  /// Why a run ended.
  public enum Ending: Sendable {
    /// No job is ready, no task sleeps, and every task has finished.
    case asleep
    /// No job is ready and no task sleeps, but tasks are left; `waiting` names them.
    case waiting
    /// As `waiting`, and code outside the world has resumed tasks of it; `escapes` names them.
    case escaped
    /// The duration has passed.
    case timePassed
    /// The greatest number of jobs ran; probably a loop never ends.
    case restless
    /// The world was finished before, so nothing runs in it.
    case finished
  }

  /// The error of a task that `run` waited for and that did not finish.
  public struct UnfinishedTask: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the task.
    public let name: String
    /// Why the run ended.
    public let ending: Ending
    /// The names of all tasks that have not finished.
    public let waiting: [String]

    /// A sentence that says what happened, and where to look.
    public var description: String {
      let reason =
        switch ending {
        case .asleep, .waiting:
          "no job is ready and no task sleeps. It waits for something that no task in the world "
            + "does, or for work that has escaped, such as a bare Task"
        case .escaped: "it waits for work that has escaped from the world, such as a bare Task"
        case .timePassed: "its time has passed"
        case .restless: "the world ran the maximum number of jobs, probably in an endless loop"
        case .finished: "the world is finished"
        }
      return "\(name) did not finish: \(reason). Unfinished: \(waiting.joined(separator: ", "))"
    }
  }

  /// Runs all ready jobs; if none is ready, advances the clock to the next sleeper's deadline.
  ///
  /// It returns in these cases, and the result says which:
  ///
  /// - No job is ready and no task sleeps.
  /// - The duration, rounded up to milliseconds, has passed.
  /// - `steps` jobs have run. So a world that never rests is a finding, and not a hang.
  ///
  /// Only a task that never suspends (`while true {}`) cannot be ended.
  @discardableResult
  public func run(for duration: Duration = .seconds(3600), steps: Int = 200_000) -> Ending {
    run(for: duration, steps: steps) { false }
  }

  /// Runs the world until `work` has ended, and returns its result.
  ///
  /// Time passes only as far as the work needs it. Other tasks run meanwhile, or in the next run.
  /// Throws the error of the work, or `UnfinishedTask` if it does not end within the duration in
  /// virtual time.
  @discardableResult
  public func run<Value: Sendable>(
    _ name: String = "run", for duration: Duration = .seconds(3600),
    _ work: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    guard !isFinished else {
      throw UnfinishedTask(name: name, ending: .finished, waiting: [name])
    }
    let outcome = Outcome()
    spawn(name) {
      do { outcome.set(.success(try await work())) } catch { outcome.set(.failure(error)) }
    }
    let ending = run(for: duration, steps: 200_000) { outcome.isSet.load(ordering: .relaxed) }
    guard let result = outcome.result, let value = try result.get() as? Value else {
      throw UnfinishedTask(name: name, ending: ending, waiting: waiting)
    }
    return value
  }

  private func run(for duration: Duration, steps: Int, until isDone: () -> Bool) -> Ending {
    guard !isFinished else { return .finished }
    return scheduler.watching {
      let end = clock.now().uptime.addingSaturating(duration.milliseconds(atLeast: 0))
      var left = steps
      while left > 0 {
        left -= 1
        if isDone() { return rest }
        if scheduler.step(choices) { continue }
        guard let next = clock.nextDeadline else { return rest }
        guard next <= end else {
          clock.advance(by: .milliseconds(end - clock.now().uptime))
          if scheduler.step(choices) { continue }
          return .timePassed
        }
        clock.advance(by: .milliseconds(max(0, next - clock.now().uptime)))
      }
      return .restless
    }
  }

  /// The ending of a run in which no job is ready and no task sleeps.
  private var rest: Ending {
    guard unfinished > 0 else { return .asleep }
    return escapes.isEmpty ? .waiting : .escaped
  }

  /// Ends the world: cancels all tasks, ends all sleeps, and runs the tasks to their end without
  /// draws.
  ///
  /// Tasks that do not end within 20,000 jobs are abandoned. Call it when the case is over
  /// (`defer`); otherwise tasks that still sleep or wait keep the world in memory. Their last
  /// actions appear in no report, and their cancellation errors not in `failures`. After it, `run`
  /// returns `finished` and runs nothing.
  public func finish() {
    counts.withLock { $0.isEnding = true }
    choices.withoutSteps { end() }
    counts.withLock { $0.isFinished = true }
  }

  private func end() {
    scheduler.watching {
      clock.stop()
      var left = 20_000
      while left > 0 {
        for task in counts.withLock({ $0.live.compactMap(\.task) }) { task.cancel() }
        guard scheduler.stepInOrder() else { break }
        left -= 1
        while left > 0, scheduler.stepInOrder() { left -= 1 }
      }
      scheduler.stop()
      counts.withLock { $0.live = [] }
    }
  }
}

/// The result of a task, once it has ended.
///
/// It holds any value: a class for each type of value would be looked up in each of its calls.
private final class Outcome: Sendable {
  private let state = Mutex<Result<any Sendable, any Error>?>(nil)
  /// Whether there is a result: read before each job, and cheaper than a copy of the result.
  let isSet = Atomic(false)

  var result: Result<any Sendable, any Error>? { state.withLock { $0 } }

  func set(_ value: Result<any Sendable, any Error>) {
    state.withLock { $0 = value }
    isSet.store(true, ordering: .relaxed)
  }
}

extension SimulatedWorld.UnfinishedTask: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}
