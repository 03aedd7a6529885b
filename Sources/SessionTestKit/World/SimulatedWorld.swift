import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
public import SessionKit
import Synchronization

/// The environment of sessions on one thread; draws decide clock, network, service, secrets and
/// scheduling.
///
/// ```swift
/// let world = SimulatedWorld(choices)
/// let disk = SimulatedDisk()
/// defer { world.finish() }          // Without this its sleepers stay in memory.
/// let session = try world.run { try await Session.open(configuration) }
/// world.spawn("reader") { /* … */ }
/// world.run()                       // Runs until no task waits for anything.
/// #expect(world.waiting.isEmpty)
/// ```
///
/// Code in the world must start its tasks with `spawn`, and sleep on `clock`. A bare `Task`,
/// `Task.sleep`, `Task.yield`, the main actor and dispatch queues run on the real thread pool, and
/// no draw decides there. Such work has escaped. The world rests until it returns, and `run` ends
/// as `waiting` or `escaped`. Structured children (`async let`, task groups) stay in the world.
///
/// The report of a failing case shows the schedule between the steps of the body, in virtual time:
///
/// - Which task ran before its turn; all others ran in the order in which they became ready.
/// - The fate of each request.
/// - The timers of the sessions.
///
/// - Requirement: TST-2
public final class SimulatedWorld: Sendable {
  /// The draws that decide the run.
  public let choices: Choices
  /// The clock of everything in the world.
  public let clock: ManualClock
  /// The service, and the network to it.
  public let server: SimulatedServer

  package let scheduler: SimulatedScheduler
  private let openings = SimulatedOpenings()
  let counts = Mutex(Counts())
  private let start: Int64

  struct Counts {
    var started = 0
    var sessions = 0
    /// The tasks that have not finished, in the order in which they were started.
    var live: [(number: Int, name: String, task: Task<Void, Never>?)] = []
    var failures: [String] = []
    /// The misuses of the world by the test.
    var misuses: [String] = []
    var isEnding = false
    var isFinished = false

    /// Returns the place of a task that has not finished; most that are asked for began late.
    func place(of number: Int) -> Int? { live.indices.last { live[$0].number == number } }

    mutating func ended(_ number: Int) {
      if let place = place(of: number) { live.remove(at: place) }
    }
  }

  /// Creates a world whose service uses `backend` to issue tokens.
  public init(_ choices: Choices, backend: LoopbackBackend = .edu()) {
    self.choices = choices
    let scheduler = SimulatedScheduler(isTracing: choices.isTracing)
    // A sleep takes a turn even if its deadline has passed, so that a loop of such sleeps does not
    // hang.
    let clock = ManualClock { scheduler.add("a sleeper", $0) }
    let start = clock.now().uptime
    self.clock = clock
    self.start = start
    self.scheduler = scheduler
    server = SimulatedServer(
      backend: backend, clock: clock, choices: choices, scheduler: scheduler)
    choices.date { clock.now().uptime - start }
  }

  deinit { scheduler.forgetTasks() }

  /// Returns the configuration of a session in this world, in a process of a simulated disk.
  ///
  /// In a report the sessions are `session 1`, `session 2` and so on, in the order of these calls.
  ///
  /// `provingDeaths` decides about requests of dead processes. If it is `true`, as on Linux, other
  /// processes do not wait for such a request. If it is `false`, as on Apple's systems with a
  /// suspended process, they wait until its lease ends.
  ///
  /// - Requirement: REF-9
  public func configuration(
    journal: String = "session.journal", in process: SimulatedProcess, secrets: any SecretStore,
    policy: SessionPolicy = .standard, provingDeaths: Bool = true
  ) throws -> SessionConfiguration {
    let member = try begin()
    var configuration = SessionConfiguration(
      journal: journal, secrets: secrets, backend: member.backend, policy: policy,
      clock: clock(of: member.name))
    configuration.journalOptions = .on(process)
    configuration.presence = openings.presence(
      number: UInt32(clamping: process.number + 1), provingDeaths: provingDeaths,
      isAlive: { process.isAlive })
    configuration.runtime = runtime(of: member.name)
    return configuration
  }

  /// Returns the configuration of a session in this world whose records and secrets are in a log in
  /// memory.
  ///
  /// It is faster than a simulated disk, and nothing of it can tear. Each session counts as a process
  /// that lives until the world ends.
  ///
  /// - Requirement: SCL-1
  public func configuration(log: MemoryLog, policy: SessionPolicy = .standard) throws
    -> SessionConfiguration
  {
    let member = try begin()
    var configuration = SessionConfiguration(
      log: log, backend: member.backend, secrets: log.secrets, policy: policy,
      clock: clock(of: member.name))
    // A notice of a change would come from outside the world.
    configuration.followsOthers = false
    configuration.presence = openings.presence(
      number: member.number, provingDeaths: true, isAlive: { true })
    configuration.runtime = runtime(of: member.name)
    return configuration
  }

  /// Counts one more session, and returns its number, name and backend.
  private func begin() throws -> (number: UInt32, name: String, backend: HTTPBackend) {
    guard let url = URL(string: "https://auth.example.test") else { throw URLError(.badURL) }
    let number = counts.withLock { counts in
      counts.sessions += 1
      return counts.sessions
    }
    var backend = HTTPBackend.snakeCaseJSON(url)
    backend.transport = server
    return (UInt32(clamping: number), "session \(number)", backend)
  }

  private func runtime(of name: String) -> @Sendable () -> SessionRuntime {
    let (scheduler, choices, clock) = (scheduler, choices, clock)
    return {
      SessionRuntime(
        executor: scheduler.actors(),
        perform: { scheduler.add("\(name)'s disk", $0) }, tasks: scheduler.tasks(named: name),
        pause: { await clock.pause($0) },
        jitter: { UInt16(truncatingIfNeeded: choices.draw(below: 1 << 16)) })
    }
  }

  private func clock(of session: String) -> any SessionClock {
    WorldClock(
      clock: clock, start: start, scheduler: scheduler,
      tasks: scheduler.tasks(named: "\(session)'s timer"), choices: choices, session: session)
  }

  /// Starts a task in the world; reports show its name, or `task 1`, `task 2` and so on.
  ///
  /// If it throws, it ends. The error is in the report and in `failures`.
  @discardableResult
  public func spawn(
    _ name: String? = nil, _ work: @escaping @Sendable () async throws -> Void
  ) -> Task<Void, Never> {
    spawn(name, of: nil, work)
  }

  /// Starts a task of a process; it stops at the end of the process.
  @discardableResult
  package func spawn(
    _ name: String? = nil, of life: ProcessLife?,
    _ work: @escaping @Sendable () async throws -> Void
  ) -> Task<Void, Never> {
    guard !isFinished else {
      tellMisuse("\(name ?? "a task") is spawned in a finished world, and never runs")
      return Task {}
    }
    let (number, name) = counts.withLock { counts in
      counts.started += 1
      let name = name ?? "task \(counts.started)"
      counts.live.append((counts.started, name, nil))
      return (counts.started, name)
    }
    let task = scheduler.spawn(name, of: life) { [self] in
      do {
        try await work()
      } catch {
        choices.tellSchedule("\(name) throws: \(error)")
        counts.withLock { counts in
          guard !(counts.isEnding && error is CancellationError) else { return }
          counts.failures.append("\(name): \(error)")
        }
      }
      counts.withLock { $0.ended(number) }
    }
    counts.withLock { counts in
      if let place = counts.place(of: number) { counts.live[place].task = task }
    }
    return task
  }

  /// The errors that tasks threw, with the tasks' names, in order; then the misuses of the world.
  ///
  /// A misuse is, for example, a script for a request that was sent before.
  public var failures: [String] {
    counts.withLock { $0.failures + $0.misuses } + server.misuses
  }

  /// Records a misuse by the test, in the report and in `failures`.
  func tellMisuse(_ text: String) {
    choices.complain(text)
    counts.withLock { $0.misuses.append(text) }
  }

  var isFinished: Bool { counts.withLock { $0.isFinished } }

  /// The number of tasks that were started and have not finished.
  public var unfinished: Int { counts.withLock { $0.live.count } }

  /// The names of the tasks that have not finished, in the order in which they were started.
  ///
  /// After a run that ended as `waiting`, a task waits for one of these:
  ///
  /// - Another task in the list.
  /// - Something that never happens in the world, such as an event of a session that is never
  ///   closed.
  /// - Work that has escaped.
  public var waiting: [String] {
    counts.withLock { $0.live.map(\.name) }
  }

  /// The names of tasks that code outside the world resumed during a run.
  ///
  /// The work that they waited for has escaped, so the run cannot be replayed.
  public var escapes: [String] { scheduler.escapes }
}

extension ManualClock {
  /// Sleeps for some milliseconds of the world, before a busy log is tried again.
  package func pause(_ milliseconds: Int64) async {
    do { try await sleep(untilUptime: now().uptime.addingSaturating(milliseconds)) } catch {
      // The task was cancelled, and its next try is its last.
    }
  }
}

/// The world's clock for one session; it records when a timer is set and when it fires.
private struct WorldClock: AlarmClock {
  let clock: ManualClock
  let start: Int64
  let scheduler: SimulatedScheduler
  let tasks: any TaskExecutor
  let choices: Choices
  let session: String

  var boot: Identifier? { clock.boot }

  func now() -> ClockReading { clock.now() }

  func sleep(until deadline: Duration) async throws(CancellationError) {
    scheduler.renameCurrent("\(session)'s timer")
    tellSet(to: deadline.milliseconds(atLeast: .min))
    try await clock.sleep(until: deadline)
    tellFired()
  }

  func set(at uptime: Int64, _ work: @escaping @Sendable () async -> Void) -> UInt64 {
    tellSet(to: uptime)
    return clock.set(at: uptime) {
      tellFired()
      _ = Task(executorPreference: tasks, operation: work)
    }
  }

  func cancel(_ number: UInt64) { clock.cancel(number) }

  private func tellSet(to uptime: Int64) {
    choices.tellSchedule("\(session)'s timer is set to \(uptime - start) ms")
  }

  private func tellFired() { choices.tellSchedule("\(session)'s timer fires") }
}

/// The openings of journals and change logs in a simulated world, and whether their processes are
/// alive.
///
/// An opening's id is made from a counter, so that the same run writes the same bytes.
///
/// - Requirement: REF-9
package final class SimulatedOpenings: Sendable {
  private let lives = Mutex<[Identifier: @Sendable () -> Bool]>([:])

  package init() {}

  /// Begins an opening by a process, and returns its id.
  func begin(isAlive: @escaping @Sendable () -> Bool) -> Identifier {
    lives.withLock { lives in
      let opening = Identifier("opening-\(lives.count + 1)")
      lives[opening] = isAlive
      return opening
    }
  }

  /// Returns whether the process of an opening is proven to be gone.
  func isGone(_ opening: Identifier) -> Bool {
    let isAlive = lives.withLock { $0[opening] }
    return isAlive.map { !$0() } ?? false
  }

  /// Returns a maker of the presence that identifies the session of a process.
  ///
  /// If deaths are not proven, other processes wait for a request until its lease ends.
  package func presence(
    number: UInt32, provingDeaths: Bool, isAlive: @escaping @Sendable () -> Bool
  ) -> OpeningPresence.Maker {
    { [self] _, _, boot in
      let identity = ProcessIdentity(opening: begin(isAlive: isAlive), boot: boot)
      return OpeningPresence(identity, process: number) { [self] other, _ in
        provingDeaths && isGone(other.opening)
      }
    }
  }
}

extension SimulatedWorld {
  /// Copies the journal at `path` of a simulated disk to a real file, as
  /// `Choices.attach(journal:of:)` does.
  ///
  /// If there is no such file, `failures` says so too.
  public func attach(journal path: String, of disk: SimulatedDisk) {
    if choices.isTracing, disk.contents(of: path) == nil { tellMisuse(disk.misses(path)) }
    choices.attach(journal: path, of: disk)
  }
}
