internal import SessionKit
internal import SessionTestKit

extension Group {
  /// Lives of a session in a simulated world: ten commands on an unreliable network.
  static let sim = Group(name: "sim", summary: "simulated sessions") { stage in
    let count = stage.pick(200, 1_000)
    let contenders = Life.allCases.map { life in
      Contest.Contender(name: life.rawValue) { try lives(count, in: life) }
    }
    let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(1, 5))
    return Outcome(
      figures: try contenders.map(\.name).map { name in
        guard let found = rates[name] else { throw Problem("no life was measured") }
        return Figure(
          name: "sim.\(name)", against: "the goal", goal: .atLeast(1),
          ratio: Samples(found.map { $0 / goal }), value: Samples(found).median,
          againstValue: goal, unit: "lives/s")
      })
  }

  /// The number of lives in a second that is the goal.
  private static let goal = 2_000.0

  /// Where a life keeps its log.
  private enum Life: String, CaseIterable {
    /// On a simulated disk.
    case disk
    case memory
  }

  /// Lives through `count` lives, one after the other.
  private static func lives(_ count: Int, in life: Life) throws -> Contest.Run {
    var successes = 0
    let run = try Contest.Run.timing(count) {
      for seed in 0..<UInt64(count) {
        successes += try session(Choices(seed: seed), inMemory: life == .memory)
      }
    }
    try expect(successes > 5 * count, "only \(successes) commands of \(count) lives succeed")
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
}
