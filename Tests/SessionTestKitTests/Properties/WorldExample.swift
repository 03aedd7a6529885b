import Foundation
import ReplayCommands
import SessionKit
import SessionTestKit
import SessionTesting
import Synchronization
import Testing

// What the specification shows begins here.
final class Screen: Sendable {
  let materials = Mutex<[UInt8]?>(nil)
}

func emptiesScreen(_ choices: Choices) throws {
  let world = SimulatedWorld(choices)
  let disk = SimulatedDisk()
  let screen = Screen()
  let configuration = try world.configuration(in: disk.process(), secrets: MemorySecretStore())
  world.server.weather.longestWay = 200
  world.spawn("app") {
    let session = try await Session.open(configuration)
    try await session.login(.sample)
    world.spawn("reader") {
      let request = HTTPRequest.materials(try await session.refreshIfNeeded())
      let page = try await world.server.send(request)
      screen.materials.withLock { $0 = page.body }  // wrong: is anybody still signed in?
      choices.step("show materials", state: "\(session.state.kind)")
    }
    world.spawn("logout") {
      try await session.logout()
      screen.materials.withLock { $0 = nil }
      choices.step("empty the screen", state: "\(session.state.kind)")
    }
  }
  world.run()
  world.attach(journal: "session.journal", of: disk)
  try choices.require(screen.materials.withLock { $0 } == nil, "the screen is not empty")
}
// What the specification shows ends here.

extension HTTPRequest {
  fileprivate static func materials(_ token: AccessToken) -> HTTPRequest {
    HTTPRequest(
      method: "GET", url: URL(filePath: "/materials"),
      headers: [HTTPHeader("Authorization", "Bearer \(token.value.value)")])
  }
}

@Suite("TST-2: the specification's example of a simulated world")
struct WorldExample {
  let property = Property("after a logout the screen is empty", settings: PropertySettings())

  @Test("TST-2: the run that the specification shows is the run that happens, schedule and all")
  func run() throws {
    let text = withoutFolder(property.check(emptiesScreen).text)
    #expect(try specification().contains("```\n\(text)\n```"), "\(text)")
    #expect(withoutFolder(property.check(emptiesScreen).text) == text)
  }

  @Test("TST-2: the code that the specification shows is this file's")
  func code() throws {
    let lines = try String(contentsOfFile: #filePath, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0.hasSuffix("shows begins here.") })
    let end = try #require(lines.firstIndex { $0.hasSuffix("shows ends here.") })
    let body = lines[(start + 1)..<end].joined(separator: "\n")
    #expect(end - start - 1 <= 33)
    #expect(try specification().contains("```swift\n\(body)\n```"))
  }

  @Test("TST-2: the journal that the report names is there, and sessionreplay reads it")
  func journal() throws {
    let report = property.check(emptiesScreen)
    let path = try #require(report.journals.first)
    #expect(report.text.hasSuffix("Journal: \(path)\n  sessionreplay timeline \(path)"))
    let output = CollectedOutput()
    let code = ReplayTool.run(
      arguments: ["timeline", path], environment: { _ in nil }, output: output, errors: output)
    #expect(code == 0, "\(output.text)")
    #expect(output.text.contains("login"))
    #expect(output.text.contains("logout"))
  }

  @Test("TST-2: the journal is attached to the test that fails")
  func attachment() {
    let report = property.check(emptiesScreen)
    let texts = Mutex<[String]>([])
    withKnownIssue {
      expect(report)
    } matching: { issue in
      texts.withLock { $0.append(contentsOf: issue.comments.map(\.rawValue)) }
      return true
    }
    // What could not be read would be named behind the report.
    #expect(texts.withLock { $0 } == [report.text])
  }

  @Test("TST-2: a case that no report tells of writes no journal and keeps no schedule")
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

  private func withoutFolder(_ text: String) -> String {
    text.replacing(FileManager.default.temporaryDirectory.path, with: "/tmp")
  }

  private func specification() throws -> String {
    var folder = URL(filePath: #filePath)
    while folder.path.count > 1,
      !FileManager.default.fileExists(atPath: folder.path + "/Package.swift")
    {
      folder.deleteLastPathComponent()
    }
    return try String(
      contentsOf: folder.appending(path: "Specs/PropertyTesting.md"), encoding: .utf8)
  }
}
