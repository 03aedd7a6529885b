import Foundation
import Synchronization

/// A scheduler that runs tasks and actors on one thread, and picks the next ready job by a draw.
///
/// Its jobs never run on the real thread pool, so a run depends on its draws alone. In a traced
/// case it knows the tasks' names, and records when a task runs out of turn.
///
/// - Requirement: TST-2
package final class SimulatedScheduler: Sendable {
  fileprivate struct Job {
    /// What a job runs.
    enum Work {
      case actor(UnownedJob, ActorLane, TaskLane?)
      case task(UnownedJob, TaskLane)
      case closure(@Sendable () -> Void)
    }

    /// The texts that a report shows; `nil` if there are none.
    let label: JobLabel?
    let work: Work

    func run() {
      switch work {
      case .actor(let job, let lane, let tasks): lane.run(job, of: tasks)
      case .task(let job, let lane): lane.run(job)
      case .closure(let work): work()
      }
    }
  }

  /// The texts of a job, which is moved and copied more often than it is shown.
  fileprivate final class JobLabel: Sendable {
    /// The task's own id, which stays the same from job to job; `nil` if nothing is recorded.
    let task: String?
    let name: String?

    init(task: String?, name: String?) {
      (self.task, self.name) = (task, name)
    }
  }

  fileprivate struct State {
    var ready: [Job] = []
    var names: [String: String] = [:]
    /// The task whose job is running.
    var current: String?
    /// The thread on which a run is in progress.
    var thread: UInt?
    /// The executors of the tasks, by the address of the task.
    ///
    /// A task is enqueued on its own executor first, so that one at the address of an ended task has
    /// the right one.
    var lanes: [UInt: TaskLane] = [:]
    /// The task whose job runs or ran last, by its address, and its executor as in `lanes`.
    var last: (task: UInt, lane: TaskLane)?
    /// The names of the tasks that were resumed by code outside the run.
    var escapes: [String] = []
    var isOver = false
  }

  private let state = Mutex(State())
  private let isTracing: Bool

  /// Creates a scheduler without jobs; `isTracing` keeps the names of tasks.
  package init(isTracing: Bool = false) {
    self.isTracing = isTracing
  }

  /// Adds work as a ready job.
  package func add(_ name: String? = nil, _ work: @escaping @Sendable () -> Void) {
    let label = name.map { JobLabel(task: nil, name: $0) }
    state.withLock { $0.add(Job(label: label, work: .closure(work))) }
  }

  fileprivate func add(_ job: UnownedJob, of label: JobLabel?, _ work: Job.Work) {
    guard isTracing else { return state.withLock { $0.add(Job(label: label, work: work)) } }
    let (task, name) = (job.description, label?.name)
    state.withLock { state in
      if let name, state.names[task] == nil { state.names[task] = name }
      state.add(Job(label: JobLabel(task: task, name: name), work: work))
    }
  }

  /// Runs one ready job; returns `false` if there is none.
  ///
  /// The first job in the queue is the simplest choice. A shrunk run is therefore a run in order,
  /// and only a job that runs before its turn is recorded.
  package func step(_ choices: Choices) -> Bool {
    let count = state.withLock { $0.ready.count }
    guard count > 0 else { return false }
    let index = Int(choices.draw(below: UInt64(count)))
    if index > 0 { choices.tellSchedule(overtaking(index)) }
    perform(index)
    return true
  }

  /// Runs the first ready job without a draw; returns `false` if there is none.
  func stepInOrder() -> Bool {
    guard state.withLock({ !$0.ready.isEmpty }) else { return false }
    perform(0)
    return true
  }

  private func perform(_ index: Int) {
    let job = state.withLock { state in
      let job = state.ready.remove(at: index)
      if isTracing { state.current = job.label?.task }
      state.last = job.work.task
      return job
    }
    job.run()
  }

  /// Runs a body during which jobs that other threads make ready are recorded as escapes.
  func watching<Value>(_ body: () -> Value) -> Value {
    let before = state.withLock { state in
      defer { state.thread = Self.thread }
      return state.thread
    }
    defer { state.withLock { $0.thread = before } }
    return body()
  }

  /// The number of the running thread.
  ///
  /// It is asked for at each job, and an object of the thread costs more than the rest of that.
  fileprivate static var thread: UInt {
    withUnsafeBytes(of: pthread_self()) { $0.load(as: UInt.self) }
  }

  /// The names of the tasks that code outside the world resumed during a run.
  var escapes: [String] { state.withLock { $0.escapes } }

  /// Drops all ready jobs, and those that become ready later.
  func stop() {
    let left = state.withLock { state in
      state.isOver = true
      defer { (state.ready, state.lanes, state.last) = ([], [:], nil) }
      return (state.ready, state.lanes)
    }
    // Released outside the lock, since a released object may call the scheduler.
    _ = left
  }

  /// Forgets the executors of the tasks, which keep the scheduler in memory.
  func forgetTasks() {
    let left = state.withLock { state in
      defer { (state.lanes, state.last) = ([:], nil) }
      return state.lanes
    }
    _ = left
  }

  private func overtaking(_ index: Int) -> String {
    state.withLock { state in
      var passed: [String] = []
      for job in state.ready[..<index] {
        let name = state.name(of: job)
        if !passed.contains(name) { passed.append(name) }
      }
      return "\(state.name(of: state.ready[index])) runs before \(passed.joined(separator: ", "))"
    }
  }

  /// The name of the task that is running.
  package var currentName: String {
    state.withLock { state in state.current.flatMap { state.names[$0] } ?? "a task" }
  }

  /// Names the running task after its current action.
  package func renameCurrent(_ name: @autoclosure () -> String) {
    guard isTracing else { return }
    let name = name()
    state.withLock { state in
      if let current = state.current { state.names[current] = name }
    }
  }

  /// Returns the executor for actors; it drops jobs after the end of their process.
  package func actors(of life: ProcessLife? = nil) -> any SerialExecutor {
    ActorLane(scheduler: self, life: life)
  }

  /// Returns the executor for tasks with a name; it drops jobs after the end of their process.
  package func tasks(of life: ProcessLife? = nil, named name: String? = nil) -> any TaskExecutor {
    TaskLane(scheduler: self, name: name, life: life)
  }

  /// Starts a task whose jobs all run on this scheduler.
  package func spawn(
    _ name: String? = nil, _ work: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> {
    spawn(name, of: nil, work)
  }

  /// Starts a task of a process; it stops at the end of the process.
  package func spawn(
    _ name: String? = nil, of life: ProcessLife?, _ work: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> {
    Task(executorPreference: tasks(of: life, named: name), operation: work)
  }
}

extension SimulatedScheduler.State {
  fileprivate mutating func add(_ job: consuming SimulatedScheduler.Job) {
    guard !isOver else { return }
    if let thread, thread != SimulatedScheduler.thread {
      let name = name(of: job)
      if !escapes.contains(name) { escapes.append(name) }
    }
    ready.append(SimulatedScheduler.Job(label: job.label, work: withLane(job.work)))
  }

  /// Notes the executor of a task, or finds it for a task that enters an actor.
  private mutating func withLane(
    _ work: consuming SimulatedScheduler.Job.Work
  ) -> SimulatedScheduler.Job.Work {
    switch work {
    case .actor(let job, let lane, _):
      // Most jobs are of the task that runs.
      let task = job.task
      return .actor(job, lane, last?.task == task ? last?.lane : lanes[task])
    case .task(let job, let lane):
      let task = job.task
      if last?.task != task || last?.lane !== lane { lanes[task] = lane }
      return work
    case .closure: return work
    }
  }

  fileprivate func name(of job: SimulatedScheduler.Job) -> String {
    job.label?.task.flatMap { names[$0] } ?? job.label?.name ?? "a task"
  }
}

extension SimulatedScheduler.Job.Work {
  /// The task of the job, by its address, and the executor of the task.
  fileprivate var task: (UInt, TaskLane)? {
    switch self {
    case .actor(let job, _, let tasks): tasks.map { (job.task, $0) }
    case .task(let job, let lane): (job.task, lane)
    case .closure: nil
    }
  }
}

extension UnownedJob {
  /// The address of the task.
  fileprivate var task: UInt { withUnsafeBytes(of: self) { $0.load(as: UInt.self) } }
}

/// An executor that runs an actor's jobs on the scheduler.
private final class ActorLane: SerialExecutor {
  let scheduler: SimulatedScheduler
  let life: ProcessLife?

  init(scheduler: SimulatedScheduler, life: ProcessLife?) {
    (self.scheduler, self.life) = (scheduler, life)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    guard life?.isOver != true else { return }
    scheduler.add(job, of: nil, .actor(job, self, nil))
  }

  /// Runs a job of a task with this executor.
  ///
  /// The runtime compares both executors at each call. If it did not know that of the task, each call
  /// from one method of the actor to another would be a job.
  func run(_ job: UnownedJob, of tasks: TaskLane?) {
    guard life?.isOver != true else { return }
    guard let tasks else { return job.runSynchronously(on: asUnownedSerialExecutor()) }
    job.runSynchronously(
      isolatedTo: asUnownedSerialExecutor(), taskExecutor: tasks.asUnownedTaskExecutor())
  }
}

/// An executor that runs a task's jobs on the scheduler.
private final class TaskLane: TaskExecutor {
  let scheduler: SimulatedScheduler
  let label: SimulatedScheduler.JobLabel?
  let life: ProcessLife?

  init(scheduler: SimulatedScheduler, name: String?, life: ProcessLife?) {
    label = name.map { SimulatedScheduler.JobLabel(task: nil, name: $0) }
    (self.scheduler, self.life) = (scheduler, life)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    guard life?.isOver != true else { return }
    scheduler.add(job, of: label, .task(job, self))
  }

  func run(_ job: UnownedJob) {
    guard life?.isOver != true else { return }
    job.runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// The lifetime of a process in a simulated world; none of its code runs after its end.
///
/// In a killed process no code runs, not even a `deinit` or a `catch`. So its jobs are dropped, and
/// its work is kept without being run. Tasks that wait for this work wait until they are released
/// without a result.
package final class ProcessLife: Sendable {
  private struct State {
    var isOver = false
    var unrun: [@Sendable () -> Void] = []
  }

  /// The process id.
  package let number: UInt32
  private let state = Mutex(State())

  package init(number: UInt32) {
    self.number = number
  }

  package var isOver: Bool { state.withLock { $0.isOver } }

  package func end() { state.withLock { $0.isOver = true } }

  /// Returns work that does nothing after the end of the process.
  package func guarding(_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    { [self] in
      let isOver = state.withLock { state in
        // Releasing the work could report to its waiters that they never get a result.
        if state.isOver { state.unrun.append(work) }
        return state.isOver
      }
      if !isOver { work() }
    }
  }
}
