import Foundation
import SessionTestKit
import SessionTesting
import Testing

// What the specification shows begins here.
struct Editor {
  enum Phase { case signedOut, signedIn, expired }
  enum Act: CaseIterable { case type, signIn, expire, signOut }

  var phase = Phase.signedOut
  var draft = ""

  var possible: [Act] {
    switch phase {
    case .signedOut: [.signIn]
    case .signedIn: [.type, .expire, .signOut]
    case .expired: [.signIn, .signOut]
    }
  }

  mutating func perform(_ act: Act) {
    switch act {
    case .type: draft += "x"
    case .expire: phase = .expired
    case .signIn: (phase, draft) = (.signedIn, "")  // wrong: what of an expired draft?
    case .signOut: (phase, draft) = (.signedOut, "")
    }
  }
}

func keepsDraft(_ choices: Choices) throws {
  var editor = Editor()
  var typed = ""
  while choices.chance(15, in: 16), let act = choices.pick(editor.possible) {
    if editor.phase == .expired, act == .signIn { choices.label("signs in again") }
    if act == .type { typed += "x" }
    if act == .signOut { typed = "" }
    editor.perform(act)
    choices.step("\(act)", state: "\(editor.phase), draft \"\(editor.draft)\"")
    try choices.require(
      editor.draft == typed, "typed \"\(typed)\", the draft is \"\(editor.draft)\"")
  }
}
// What the specification shows ends here.

@Suite("TST-1: the specification's example")
struct DraftExample {
  let property = Property(
    "a draft survives an expiry", requiredLabels: ["signs in again"], settings: PropertySettings())

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

  @Test("TST-1: enumerated, the example's fault is found without luck")
  func enumerated() {
    #expect(property.exhaustive(limit: 100_000, depth: 10, keepsDraft).failure != nil)
  }
}
