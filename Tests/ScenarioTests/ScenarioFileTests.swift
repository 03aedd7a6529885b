import Foundation
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

/// The files of `Specs/Scenarios`, and parts of them for tests to change.
struct ScenarioFolder {
  /// A scenario file with a name that contains the requirements it proves.
  struct File: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String

    /// `edu-day (LOG-4 REF-1)`.
    var testDescription: String {
      let proves = text.split(separator: "\n").first { $0.hasPrefix("proves ") }
      return "\(name) (\(proves?.dropFirst(7) ?? "nothing"))"
    }

    func scenario() throws -> Scenario {
      try Scenario(text, file: "Specs/Scenarios/\(name).scenario")
    }
  }

  static let path =
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path + "/Specs/Scenarios"

  /// All files, in the order of their names; none if the folder cannot be read.
  static let files: [File] = {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: path).sorted().filter {
        $0.hasSuffix(".scenario")
      }.map { name in
        File(
          name: String(name.dropLast(".scenario".count)),
          text: try String(contentsOfFile: path + "/" + name, encoding: .utf8))
      }
    } catch { return [] }
  }()
}
