import Synchronization

/// Runs tasks and actors on one thread, and picks by a draw which ready job comes next (TST-2).
///
/// What it runs never touches the real pool, so a run is decided by its draws alone.
package final class SimulatedScheduler: Sendable {
  private let ready = Mutex<[@Sendable () -> Void]>([])

  /// Nothing to do.
  package init() {}

  /// Makes a piece of work ready.
  package func add(_ work: @escaping @Sendable () -> Void) {
    ready.withLock { $0.append(work) }
  }

  /// Runs one ready job; `false` where there is none.
  ///
  /// The first in line is the simplest choice, so a shrunk run is a run in order.
  package func step(_ choices: Choices) -> Bool {
    let count = ready.withLock { $0.count }
    guard count > 0 else { return false }
    let index = Int(choices.draw(below: UInt64(count)))
    let work = ready.withLock { $0.remove(at: index) }
    work()
    return true
  }

  /// Where actors run.
  package var actors: any SerialExecutor { ActorLane(scheduler: self) }

  /// Starts a task whose every step is one of the scheduler's.
  package func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: TaskLane(scheduler: self)) { await work() }
  }
}

/// Runs an actor's jobs when the scheduler says so.
private final class ActorLane: SerialExecutor {
  let scheduler: SimulatedScheduler

  init(scheduler: SimulatedScheduler) {
    self.scheduler = scheduler
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    scheduler.add { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

/// Runs a task's jobs when the scheduler says so.
private final class TaskLane: TaskExecutor {
  let scheduler: SimulatedScheduler

  init(scheduler: SimulatedScheduler) {
    self.scheduler = scheduler
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    scheduler.add { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
