import Foundation
import ReplayCommands
import SessionKit
import SessionTestKit
import Testing

@Suite("TST-2: the journal of a simulated world, for people")
struct WorldJournalTests {
  @Test("TST-2: the journal that the report names exists, and sessionreplay reads it")
  func journal() throws {
    let report = Property("in and out", settings: PropertySettings()).check { choices in
      let world = SimulatedWorld(choices)
      defer { world.finish() }
      let disk = SimulatedDisk()
      let configuration = try world.configuration(
        in: disk.process(), secrets: MemorySecretStore(), policy: .edu(.staging))
      try world.run {
        let session = try await Session.open(configuration)
        try await session.login(.sample)
        try await session.logout()
      }
      world.attach(journal: "session.journal", of: disk)
      try choices.require(false, "never")
    }
    let path = try #require(report.journals.first)
    #expect(report.text.hasSuffix("Journal: \(path)\n  sessionreplay timeline \(path)"))
    let output = CollectedOutput()
    let code = ReplayTool.run(
      arguments: ["timeline", path], environment: { _ in nil }, output: output, errors: output)
    #expect(code == 0, "\(output.text)")
    #expect(output.text.contains("login"))
    #expect(output.text.contains("logout"))
  }

  @Test("TST-2: a case that no report mentions writes no journal and keeps no schedule")
  func silent() throws {
    let choices = Choices(seed: 1)
    let world = SimulatedWorld(choices)
    let disk = SimulatedDisk()
    disk.place([1, 2, 3], at: "a.journal")
    world.spawn("first") {}
    world.spawn("second") {}
    world.run()
    world.attach(journal: "a.journal", of: disk)
    #expect(choices.steps.isEmpty)
    #expect(choices.journal == nil)
  }
}
