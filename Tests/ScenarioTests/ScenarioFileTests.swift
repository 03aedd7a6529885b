@_spi(Internals) import SessionCore
import SessionTestKit
import SessionTestSupport
import Testing

@Suite("Scenarios")
struct ScenarioFileTests {
  @Test(
    "TST-2 a scenario passes in a simulated world under many schedules",
    arguments: ScenarioFolder.files)
  func simulated(file: ScenarioFolder.File) throws {
    let scenario = try file.scenario()
    try scenario.runSimulated(Choices(replaying: []))
    let sweep = Sweep("schedules of \(file.name)", takingOneOf: 12)
    for seed in sweep.places(of: 0..<12 as Range<UInt64>) {
      try scenario.runSimulated(Choices(seed: seed))
    }
  }

  @Test("TST-2 every app has a scenario")
  func apps() {
    let apps = ScenarioFolder.files.map { $0.name.prefix { $0 != "-" } }
    #expect(Set(apps).isSuperset(of: ["edu", "b2c", "off", "tik", "api", "oauth"]))
  }
}

/// Separate from the suite above, which CI also runs as a sweep: sockets need real time, and the
/// sweeps use the whole machine.
@Suite("Scenarios over real sockets")
struct LoopbackScenarioTests {
  @Test(
    "TST-2 a scenario passes over real sockets and in real files", .timeLimit(.minutes(2)),
    arguments: ScenarioFolder.files)
  func loopback(file: ScenarioFolder.File) async throws {
    try await file.scenario().runOverLoopback()
  }
}
