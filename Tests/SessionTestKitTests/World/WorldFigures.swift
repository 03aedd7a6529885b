import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@Suite("TST-2: how fast a world is")
struct WorldFigures {
  /// A run of ten commands of one app on an unreliable network; how many of them succeeded.
  private static func life(_ choices: Choices, inMemory: Bool) throws -> Int {
    let world = SimulatedWorld(choices)
    defer { world.finish() }
    world.server.weather = .rough
    let configuration =
      inMemory
      ? try world.configuration(log: MemoryLog(), policy: .edu(.staging))
      : try world.configuration(
        in: SimulatedDisk().process(), secrets: MemorySecretStore(), policy: .edu(.staging))
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

  @Test(
    "TST-2 SCL-1 most of ten commands succeed on any network, on a disk and in a log in memory",
    arguments: [false, true])
  func lives(inMemory: Bool) throws {
    let successes = try (0..<20 as Range<UInt64>).map {
      try Self.life(Choices(seed: $0), inMemory: inMemory)
    }
    #expect(successes.reduce(0, +) > 100)
    #expect(Set(successes).count > 1)
  }
}
