import Foundation
import SessionCore
import SessionTestKit
import SessionTesting
import Testing

// What the specification shows begins here.
struct Editor {
  var draft = ""

  mutating func receive(_ event: SessionEvent) {
    switch event {
    case .login, .logout: draft = ""  // wrong: what of a login after an expiry?
    default: break
    }
  }
}

func keepsDraft(_ choices: Choices) throws {
  var (walk, editor, typed) = (SessionWalk(), Editor(), "")
  while choices.chance(15, in: 16) {
    if walk.state.kind == .authenticated, choices.chance(1, in: 2) {
      editor.draft += "x"
      typed += "x"
      choices.step("type", state: "draft \"\(editor.draft)\"")
    } else {
      let event = walk.step(choices)
      if case .logout = event { typed = "" }
      editor.receive(event)
    }
    try choices.require(editor.draft == typed, "typed \"\(typed)\", it is \"\(editor.draft)\"")
  }
}
// What the specification shows ends here.

@Suite("TST-1: the specification's example")
struct DraftExample {
  let property = Property(
    "a draft survives an expiry", requiredLabels: ["expired login same user"],
    settings: PropertySettings())

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

  @Test("TST-1: the run that the specification shows is the run that happens")
  func run() throws {
    let report = property.check(keepsDraft)
    let text = report.text
    #expect(try specification().contains("```\n\(text)\n```"), "\(text)")
  }

  @Test("TST-1: the code that the specification shows is this file's")
  func code() throws {
    let lines = try String(contentsOfFile: #filePath, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0.hasSuffix("shows begins here.") })
    let end = try #require(lines.firstIndex { $0.hasSuffix("shows ends here.") })
    let body = lines[(start + 1)..<end].joined(separator: "\n")
    #expect(try specification().contains("```swift\n\(body)\n```"))
  }
}
