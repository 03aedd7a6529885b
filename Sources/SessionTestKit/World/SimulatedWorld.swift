import Foundation
import SessionHTTP
import SessionJournal
public import SessionKit
import Synchronization

/// A session's whole surroundings on one thread: clock, network, service, secrets and the order in
/// which tasks run are decided by one array of draws.
///
/// ```swift
/// let world = SimulatedWorld(choices)
/// let disk = SimulatedDisk()
/// defer { world.finish() }          // or its sleepers are kept for ever
/// let session = try world.run { try await Session.open(configuration) }
/// world.spawn("reader") { /* … */ }
/// world.run()                       // until nobody waits for anything any more
/// #expect(world.waiting.isEmpty)
/// ```
/// Code that it runs must start its own tasks through `spawn`, and sleep on `clock`: a bare `Task`,
/// `Task.sleep`, `Task.yield`, the main actor or a dispatch queue run on the real pool, where no draw
/// decides. Such work has escaped: the world rests while it is away, and `run` ends as `waiting` with
/// the names of the tasks that are. Structured children (`async let`, task groups) stay in the world.
///
/// The report of a failing case shows the schedule between the steps of the body, in virtual time:
/// which task ran before its turn (where nothing is said they ran in the order in which they became
/// ready), what became of each request, and the timers of the sessions.
///
/// - Requirement: TST-2
public final class SimulatedWorld: Sendable {
  /// The draws.
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
    /// The tasks that have not finished, by their numbers.
    var live: [Int: (name: String, task: Task<Void, Never>?)] = [:]
    var failures: [String] = []
    /// What was asked of the world and means nothing.
    var misuses: [String] = []
    var isEnding = false
    var isFinished = false
  }

  /// A world; its service issues tokens by `backend`.
  public init(_ choices: Choices, backend: LoopbackBackend = .edu()) {
    self.choices = choices
    let scheduler = SimulatedScheduler(isTracing: choices.isTracing)
    // Whoever sleeps takes a turn, even where its time has come: a loop of such sleeps is no hang.
    let clock = ManualClock { scheduler.add("a sleeper", $0) }
    let start = clock.now().uptime
    self.clock = clock
    self.start = start
    self.scheduler = scheduler
    server = SimulatedServer(
      backend: backend, clock: clock, choices: choices, scheduler: scheduler)
    choices.date { clock.now().uptime - start }
  }

  /// A configuration whose session lives in this world, in a process of a simulated disk; the secrets
  /// are the caller's.
  ///
  /// In a report it is `session 1`, `session 2` …, in the order in which they were made.
  ///
  /// With `provingDeaths`, as on Linux, a request whose process is dead is not waited for. Without it, as
  /// on Apple's systems with a suspended process, its lease has to end first.
  ///
  /// - Requirement: REF-9
  public func configuration(
    journal: String = "session.journal", in process: SimulatedProcess, secrets: any SecretStore,
    policy: SessionPolicy = .standard, provingDeaths: Bool = true
  ) throws -> SessionConfiguration {
    guard let url = URL(string: "https://auth.example.test") else { throw URLError(.badURL) }
    let number = counts.withLock { counts in
      counts.sessions += 1
      return counts.sessions
    }
    let (name, disk) = ("session \(number)", "session \(number)'s disk")
    var backend = HTTPBackend.snakeCaseJSON(url)
    backend.transport = server
    var configuration = SessionConfiguration(
      journal: journal, secrets: secrets, backend: backend, policy: policy,
      clock: clock(of: name))
    configuration.journalOptions = .on(process)
    configuration.presence = openings.presence(
      number: UInt32(clamping: process.number + 1), provingDeaths: provingDeaths,
      isAlive: { process.isAlive })
    let (scheduler, choices) = (scheduler, choices)
    configuration.runtime = {
      SessionRuntime(
        executor: scheduler.actors, perform: { scheduler.add(disk, $0) },
        spawn: { scheduler.spawn(name, $0) },
        jitter: { UInt16(truncatingIfNeeded: choices.draw(below: 1 << 16)) })
    }
    return configuration
  }

  private func clock(of session: String) -> any SessionClock {
    guard choices.isTracing else { return clock }
    return TimerTeller(
      clock: clock, start: start, scheduler: scheduler, choices: choices, session: session)
  }

  /// Starts a task in the world; its name, where it has one, stands in reports.
  ///
  /// An error that it throws ends it, is told in the report, and stands in `failures`.
  @discardableResult
  public func spawn(
    _ name: String? = nil, _ work: @escaping @Sendable () async throws -> Void
  ) -> Task<Void, Never> {
    spawn(name, of: nil, work)
  }

  /// Starts a task of a process, which goes no further once that is dead.
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
      counts.live[counts.started] = (name, nil)
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
      counts.withLock { $0.live[number] = nil }
    }
    counts.withLock { if $0.live[number] != nil { $0.live[number]?.task = task } }
    return task
  }

  /// What tasks threw, each with the task's name, in the order in which they ended; behind it what a
  /// test asked of the world and means nothing, such as to script a request that was sent before.
  public var failures: [String] {
    counts.withLock { $0.failures + $0.misuses } + server.misuses
  }

  /// Says in the report and in `failures` that a test asked for something that means nothing.
  func tellMisuse(_ text: String) {
    choices.complain(text)
    counts.withLock { $0.misuses.append(text) }
  }

  var isFinished: Bool { counts.withLock { $0.isFinished } }

  /// How many tasks were started and have not finished.
  public var unfinished: Int { counts.withLock { $0.live.count } }

  /// The names of the tasks that have not finished, in the order in which they were started.
  ///
  /// After a run that ended as `waiting`: who waits for each other, for something that nobody in the
  /// world will do (an event of a session that nobody closes), or for work that has escaped.
  public var waiting: [String] {
    counts.withLock { $0.live.sorted { $0.key < $1.key }.map(\.value.name) }
  }

  /// The names of tasks that something outside of the world has woken up while a run was under way: what
  /// they waited for has escaped, and the run cannot be replayed.
  public var escapes: [String] { scheduler.escapes }
}
