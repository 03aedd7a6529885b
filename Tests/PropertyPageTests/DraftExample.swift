import Foundation
import SessionCore
import SessionTestKit
import Testing

struct Editor {
  var draft = ""

  mutating func receive(_ event: SessionEvent) {
    switch event {
    case .login, .logout: draft = ""  // wrong: a login after an expiry must keep it
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

@Suite("TST-1: the example of the article TestingYourApp")
struct DraftExample {
  @Test("TST-1: the run in the article equals the real run")
  func run() throws {
    let report = Property(
      "a draft survives an expiry", requiredLabels: ["expired login same user"],
      settings: PropertySettings()
    ).check(keepsDraft)
    // The article names a file of the reader's tests.
    let text = report.text.replacing(
      /\(PropertyPageTests\/\w+\.swift:\d+\)/, with: "(NotesTests/DraftTests.swift:28)")
    #expect(try Page().article.contains("```\n\(text)\n```"), "\(text)")
  }
}
