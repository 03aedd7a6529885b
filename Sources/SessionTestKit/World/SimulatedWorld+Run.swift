@_spi(Internals) import SessionCore
import Synchronization

extension SimulatedWorld {
  /// Why a run ended.
  public enum Ending: Sendable {
    /// Nothing is ready, nobody sleeps, and every task has finished.
    case asleep
    /// Nothing is ready and nobody sleeps, and tasks are left: `waiting` names them.
    case waiting
    /// The same, and something outside of the world has woken up tasks of it: `escapes` names them.
    case escaped
    /// The time is over.
    case timePassed
    /// So many jobs ran without an end that something goes in circles.
    case restless
    /// The world was finished before: nothing runs in it any more.
    case finished
  }

  /// A task that `run` waited for did not finish.
  public struct UnfinishedTask: Error, Hashable, Sendable, CustomStringConvertible {
    /// Its name.
    public let name: String
    /// Why the run ended.
    public let ending: Ending
    /// Every task that has not finished.
    public let waiting: [String]

    /// What happened, and where to look.
    public var description: String {
      let reason =
        switch ending {
        case .asleep, .waiting:
          "nothing is ready and nobody sleeps. It waits for something that nobody in the world does, "
            + "or for work that has escaped, such as a bare Task"
        case .escaped: "what it waits for has escaped from the world, such as a bare Task"
        case .timePassed: "its time is over"
        case .restless: "the world goes in circles"
        case .finished: "the world is finished"
        }
      return "\(name) did not finish: \(reason). Unfinished: \(waiting.joined(separator: ", "))"
    }
  }

  /// Runs everything that is ready.
  ///
  /// If nothing is, time passes to that of the next sleeper.
  /// Returns if nothing is ready and no task sleeps, if the duration has passed (rounded up to milliseconds),
  /// or after `steps` jobs: a run that never rests is a finding, not a hang. The result says which. Only a
  /// task that never waits for anything (`while true {}`) cannot be ended.
  @discardableResult
  public func run(for duration: Duration = .seconds(3600), steps: Int = 200_000) -> Ending {
    run(for: duration, steps: steps) { false }
  }

  /// Runs the world until this work has ended, and returns what it returns.
  ///
  /// Time passes only as far as the work needs it. What other tasks have to do, they do meanwhile, or
  /// in the next run. Errors: the work's own, and `UnfinishedTask` where it does not end in so many
  /// virtual milliseconds.
  @discardableResult
  public func run<Value: Sendable>(
    _ name: String = "run", for duration: Duration = .seconds(3600),
    _ work: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    guard !isFinished else {
      throw UnfinishedTask(name: name, ending: .finished, waiting: [name])
    }
    let outcome = Outcome<Value>()
    spawn(name) {
      do { outcome.set(.success(try await work())) } catch { outcome.set(.failure(error)) }
    }
    let ending = run(for: duration, steps: 200_000) { outcome.value != nil }
    guard let value = outcome.value else {
      throw UnfinishedTask(name: name, ending: ending, waiting: waiting)
    }
    return try value.get()
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

  /// How the world is where nothing is ready and nobody sleeps.
  private var rest: Ending {
    guard unfinished > 0 else { return .asleep }
    return escapes.isEmpty ? .waiting : .escaped
  }

  /// Ends the world: cancels every task, ends every sleep, and lets them come to their end, without a
  /// draw; what does not end in 20,000 jobs is left alone.
  ///
  /// Call it where the case is over (`defer`): tasks that still sleep or wait keep the world, and
  /// everything in it, for ever. What they do now stands in no report, since it led to nothing, and that
  /// they were cancelled in no `failures`. A finished world runs nothing any more: `run` answers
  /// `finished`.
  public func finish() {
    counts.withLock { $0.isEnding = true }
    choices.untold { end() }
    counts.withLock { $0.isFinished = true }
  }

  private func end() {
    scheduler.watching {
      clock.stop()
      var left = 20_000
      while left > 0 {
        for task in counts.withLock({ $0.live.values.compactMap(\.task) }) { task.cancel() }
        guard scheduler.stepInOrder() else { break }
        left -= 1
        while left > 0, scheduler.stepInOrder() { left -= 1 }
      }
      scheduler.stop()
      counts.withLock { $0.live = [:] }
    }
  }
}

/// What a task ended with.
private final class Outcome<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)

  var value: Result<Value, any Error>? { result.withLock { $0 } }

  func set(_ value: Result<Value, any Error>) { result.withLock { $0 = value } }
}
