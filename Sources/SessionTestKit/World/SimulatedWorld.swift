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
/// world.spawn { /* open a session with world.configuration(in: disk.process(), …), use it */ }
/// world.run()                       // until nobody waits for anything any more
/// #expect(world.unfinished == 0)
/// ```
/// Code that it runs must start its own tasks through `spawn`, and sleep on `clock`: a bare `Task`
/// would run on the real pool, where no draw decides.
public final class SimulatedWorld: Sendable {
  /// The draws.
  public let choices: Choices
  /// The clock of everything in the world.
  public let clock: ManualClock
  /// The service, and the network to it.
  public let server: SimulatedServer

  private let scheduler = SimulatedScheduler()
  private let counts = Mutex((started: 0, finished: 0))

  /// A world; its service issues tokens by `backend`.
  public init(_ choices: Choices, backend: LoopbackBackend = .edu()) {
    self.choices = choices
    clock = ManualClock()
    server = SimulatedServer(backend: backend, clock: clock, choices: choices)
  }

  /// A configuration whose session lives in this world, in a process of a simulated disk; the secrets
  /// are the caller's.
  public func configuration(
    journal: String = "session.journal", in process: SimulatedProcess, secrets: any SecretStore,
    policy: SessionPolicy = .edu(.staging)
  ) throws -> SessionConfiguration {
    guard let url = URL(string: "https://auth.example.test") else { throw URLError(.badURL) }
    var configuration = SessionConfiguration(
      journal: journal, secrets: secrets, wire: .edu(baseURL: url), policy: policy,
      transport: server, clock: clock)
    configuration.journalOptions = .on(process)
    let scheduler = scheduler
    configuration.runtime = {
      SessionRuntime(
        executor: scheduler.actors, perform: { scheduler.add($0) },
        spawn: { scheduler.spawn($0) })
    }
    return configuration
  }

  /// Starts a task in the world.
  @discardableResult
  public func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    counts.withLock { $0.started += 1 }
    return scheduler.spawn { [self] in
      await work()
      counts.withLock { $0.finished += 1 }
    }
  }

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
