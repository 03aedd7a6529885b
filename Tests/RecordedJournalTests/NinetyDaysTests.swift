import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

@Suite("A command-line tool for ninety days")
struct NinetyDaysTests {
  /// A part of 1,000 runs a day: a run that refreshes nothing leaves every byte as it was, so the others would
  /// not change the journal (`ShortProgramTests`).
  private let runs = 48
  private let sweep = Sweep("days of a tool", takingOneOf: 10)

  @Test("LCH-1 its journal has the records of its refreshes, and still explains a logout of day 60")
  func records() throws {
    let world = SimulatedWorld(Choices(replaying: []))
    defer { world.finish() }
    world.server.settings.rotatesRefreshTokens = true
    world.server.settings.accessTokenLifetime = .seconds(3_600)
    let (disk, secrets) = (SimulatedDisk(), SimulatedSecrets())
    let days = sweep.cases(of: 90)
    for day in 1...days {
      for run in 0..<runs {
        let process = disk.process()
        let configuration = try world.configuration(
          in: process, secrets: secrets.view(of: process))
        try world.run {
          let session = try await Session.open(configuration)
          if session.state.kind != .authenticated { try await session.login(.sample) }
          _ = try await session.accessToken()
          if day == days * 2 / 3, run == runs - 1 { try await session.logout() }
          try await session.close()
        }
        world.clock.advance(by: .seconds(86_400 / runs))
      }
    }
    let bytes = try #require(disk.contents(of: "session.journal"))
    let run = try WhyRun(bytes: bytes)
    let events = run.entries.count { if case .event = $0.record.content { true } else { false } }
    // A refresh is four records: opened, the request, the refresh, closed.
    #expect(events * 4 >= run.entries.count)
    #expect(run.explanations().ends.map(\.cause) == [.userLogout])
  }
}
