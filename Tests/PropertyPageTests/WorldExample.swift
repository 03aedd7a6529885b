import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

// shown: begins
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
      let request = HTTPRequest.materials(try await session.accessToken())
      let page = try await world.server.send(request)
      screen.materials.withLock { $0 = page.body }  // wrong: the user may have left
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
// shown: ends

@Suite("TST-2: the specification's example of a simulated world")
struct WorldExample {
  let property = Property("after a logout the screen is empty", settings: PropertySettings())

  @Test("TST-2: the run on the page equals the real run, with its schedule")
  func run() throws {
    let text = withoutFolder(property.check(emptiesScreen).text)
    #expect(try Page().text.contains("```\n\(text)\n```"), "\(text)")
    #expect(withoutFolder(property.check(emptiesScreen).text) == text)
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
    // A journal that cannot be read is named after the report.
    #expect(texts.withLock { $0 } == [report.text])
  }

  private func withoutFolder(_ text: String) -> String {
    text.replacing(FileManager.default.temporaryDirectory.path, with: "/tmp")
  }
}
