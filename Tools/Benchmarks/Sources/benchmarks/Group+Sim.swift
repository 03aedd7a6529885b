internal import Dispatch
internal import Foundation
internal import SessionHTTP
internal import SessionKit
internal import SessionTestKit
internal import Synchronization

extension Group {
  /// Lives of a session in a simulated world: ten commands on an unreliable network.
  static let sim = Group(name: "sim", summary: "simulated sessions") { stage in
    let count = stage.pick(200, 1_000)
    let processors = ProcessInfo.processInfo.activeProcessorCount
    var contenders: [Contest.Contender] = []
    for world in Life.allCases {
      contenders.append(
        Contest.Contender(name: world.rawValue) { try lives(count, of: world, threads: 1) })
      contenders.append(
        Contest.Contender(name: "\(world.rawValue).all") {
          try lives(count, of: world, threads: processors)
        })
    }
    let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(1, 5))
    return Outcome(
      figures: try contenders.map(\.name).map { name in
        guard let found = rates[name] else { throw Problem("no life was measured") }
        let hasGoal = name == "disk" || name == "memory"
        return Figure(
          name: "sim.\(name)", against: "the goal", goal: hasGoal ? .atLeast(1) : .none,
          ratio: Samples(found.map { $0 / goal }), value: Samples(found).median,
          againstValue: goal, unit: "lives/s")
      })
  }

  /// The number of lives in a second that is the goal.
  private static let goal = 2_000.0

  /// What a life is.
  private enum Life: String, CaseIterable {
    /// A session whose journal is on a simulated disk.
    case disk
    /// A session whose log is in memory.
    case memory
    /// No session: only as many requests as such a life makes, in the same world.
    case requests
  }

  /// Lives through `count` lives on each thread; each world runs on one thread.
  private static func lives(_ count: Int, of life: Life, threads: Int) throws -> Contest.Run {
    let total = Total()
    let run = Contest.Run.timing(threads * count) {
      DispatchQueue.concurrentPerform(iterations: threads) { thread in
        for seed in UInt64(thread * count)..<UInt64((thread + 1) * count) {
          let choices = Choices(seed: seed)
          do {
            total.add(
              successes: life == .requests
                ? try requests(choices) : try session(choices, inMemory: life == .memory))
          } catch {
            total.add(problem: "\(error)")
          }
        }
      }
    }
    if let problem = total.problem { throw Problem(problem) }
    let successes = total.successes
    try expect(
      successes > 5 * run.units, "only \(successes) commands of \(run.units) lives succeed")
    return run
  }

  /// A life of ten commands; returns how many of them succeeded.
  private static func session(_ choices: Choices, inMemory: Bool) throws -> Int {
    let world = SimulatedWorld(choices)
    defer { world.finish() }
    world.server.weather = .rough
    let configuration =
      inMemory
      ? try world.configuration(log: MemoryLog())
      : try world.configuration(in: SimulatedDisk().process(), secrets: MemorySecretStore())
    let session = try world.run { try await Session.open(configuration) }
    var successes = 0
    for command in 0..<10 as Range<Int> {
      let draw = choices.draw(below: 4)
      do {
        try world.run {
          switch (session.isAuthenticated, command, draw) {
          case (false, _, _): try await session.login(.sample)
          case (true, 9, _), (true, _, 3): try await session.logout()
          case (true, _, 0): try await session.accessToken()
          case (true, _, _): try await session.refresh()
          }
        }
        successes += 1
      } catch is SessionError {
        continue
      }
    }
    return successes
  }

  /// Nine requests, as many as a life of ten commands makes; returns how many received a token.
  private static func requests(_ choices: Choices) throws -> Int {
    let world = SimulatedWorld(choices)
    defer { world.finish() }
    world.server.weather = .rough
    guard let url = URL(string: "https://auth.example.test") else { throw URLError(.badURL) }
    var backend = HTTPBackend.snakeCaseJSON(url)
    backend.transport = world.server
    let service = backend
    return try world.run {
      var token: Secret?
      var successes = 0
      for _ in 0..<9 as Range<Int> {
        do throws(BackendError) {
          let answer =
            if let token {
              try await service.refresh(RefreshToken(token), in: RequestContext())
            } else {
              try await service.login(.sample, in: RequestContext())
            }
          token = answer.refresh ?? token
          successes += 1
        } catch {
          continue
        }
      }
      return successes
    }
  }
}

/// What the lives of several threads resulted in.
private final class Total: Sendable {
  private let state = Mutex<(successes: Int, problem: String?)>((0, nil))

  var successes: Int { state.withLock { $0.successes } }
  var problem: String? { state.withLock { $0.problem } }

  func add(successes: Int) { state.withLock { $0.successes += successes } }
  func add(problem: String) { state.withLock { $0.problem = problem } }
}
