import Foundation
import SessionJournal
public import SessionKit
import Synchronization

/// A session's whole surroundings on one thread: clock, network, service, secrets and the order in
/// which tasks run are decided by one array of draws (TST-2).
///
/// ```swift
/// let world = SimulatedWorld(choices)
/// let disk = SimulatedDisk()
/// world.spawn("app") { /* open a session with world.configuration(in: disk.process(), …), use it */ }
/// world.run()                       // until nobody waits for anything any more
/// #expect(world.unfinished == 0)
/// ```
/// Code that it runs must start its own tasks through `spawn`, and sleep on `clock`: a bare `Task`
/// would run on the real pool, where no draw decides.
///
/// The report of a failing case shows the schedule between the steps of the body, in virtual time:
/// which task ran before its turn (where nothing is said they ran in the order in which they became
/// ready), what became of each request, and the timers of the sessions.
public final class SimulatedWorld: Sendable {
  /// The draws.
  public let choices: Choices
  /// The clock of everything in the world.
  public let clock: ManualClock
  /// The service, and the network to it.
  public let server: SimulatedServer

  private let scheduler: SimulatedScheduler
  private let counts = Mutex(Counts())
  private let start: Int64

  private struct Counts {
    var started = 0
    var finished = 0
    var sessions = 0
    var failures: [String] = []
  }

  /// A world; its service issues tokens by `backend`.
  public init(_ choices: Choices, backend: LoopbackBackend = .edu()) {
    self.choices = choices
    let clock = ManualClock()
    let start = clock.now().uptime
    self.clock = clock
    self.start = start
    scheduler = SimulatedScheduler(isTracing: choices.isTracing)
    server = SimulatedServer(
      backend: backend, clock: clock, choices: choices, scheduler: scheduler)
    choices.date { clock.now().uptime - start }
  }

  /// A configuration whose session lives in this world, in a process of a simulated disk; the secrets
  /// are the caller's.
  ///
  /// In a report it is `session 1`, `session 2` …, in the order in which they were made.
  public func configuration(
    journal: String = "session.journal", in process: SimulatedProcess, secrets: any SecretStore,
    policy: SessionPolicy = .edu(.staging)
  ) throws -> SessionConfiguration {
    guard let url = URL(string: "https://auth.example.test") else { throw URLError(.badURL) }
    let number = counts.withLock { counts in
      counts.sessions += 1
      return counts.sessions
    }
    let (name, disk) = ("session \(number)", "session \(number)'s disk")
    var configuration = SessionConfiguration(
      journal: journal, secrets: secrets, wire: .edu(baseURL: url), policy: policy,
      transport: server, clock: clock(of: name))
    configuration.journalOptions = .on(process)
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
    let number = counts.withLock { counts in
      counts.started += 1
      return counts.started
    }
    let name = name ?? "task \(number)"
    return scheduler.spawn(name) { [self] in
      do {
        try await work()
      } catch {
        choices.tellSchedule("\(name) throws: \(error)")
        counts.withLock { $0.failures.append("\(name): \(error)") }
      }
      counts.withLock { $0.finished += 1 }
    }
  }

  /// What tasks threw, each with the task's name, in the order in which they ended.
  public var failures: [String] { counts.withLock { $0.failures } }

  /// How many tasks were started and have not finished.
  public var unfinished: Int { counts.withLock { $0.started - $0.finished } }

  /// Runs everything that is ready; where nothing is, lets time pass to the next sleeper's.
  ///
  /// Returns when nothing is ready and nobody sleeps, when `milliseconds` have passed, or after
  /// `steps` jobs: a run that never rests is a finding, not a hang. The answer says which.
  @discardableResult
  public func run(for milliseconds: Int64 = 3_600_000, steps: Int = 200_000) -> Ending {
    let end = clock.now().uptime + milliseconds
    var left = steps
    while left > 0 {
      left -= 1
      if scheduler.step(choices) { continue }
      guard let next = clock.nextDeadline else { return .asleep }
      guard next <= end else {
        clock.advance(by: end - clock.now().uptime)
        if scheduler.step(choices) { continue }
        return .timePassed
      }
      clock.advance(by: max(0, next - clock.now().uptime))
    }
    return .restless
  }

  /// Why a run ended.
  public enum Ending: Sendable {
    /// Nothing is ready and nobody sleeps.
    case asleep
    /// The time is over.
    case timePassed
    /// So many jobs ran without an end that something goes in circles.
    case restless
  }
}
