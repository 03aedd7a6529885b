import Foundation
import SessionCore
import SessionTestKit
import Testing

// shown: begins
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
// shown: ends

// It fails, as the page says. So it is compiled but is not a test.
// shown: begins
// @Test
func draft() {
  expect(
    Property(
      "a draft survives an expiry", requiredLabels: ["expired login same user"],
      regressions: RegressionFolder()
    ).check(keepsDraft))
}
// shown: ends

@Suite("TST-1: the specification's example")
struct DraftExample {
  @Test("TST-1: the run on the page equals the real run, with its saved case")
  func run() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "page-\(UUID().uuidString)")
    let report = Property(
      "a draft survives an expiry", requiredLabels: ["expired login same user"],
      regressions: RegressionFolder(path: folder.path), settings: PropertySettings()
    ).check(keepsDraft)
    try FileManager.default.removeItem(at: folder)
    let text = report.text.replacing(folder.path, with: "/app/Tests/Regressions")
    #expect(try Page().text.contains("```\n\(text)\n```"), "\(text)")
  }
}
