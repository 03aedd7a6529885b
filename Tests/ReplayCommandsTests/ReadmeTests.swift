import Foundation
import Testing

/// What README.md and the article show of the tool.
@Suite("README and the article about sessionreplay")
struct ReadmeTests {
  @Test("RPL-3 the answer in README is the recorded one")
  func answer() throws {
    let recorded = try Repository.text("Specs/Journals/lost-reply.txt")
      .components(separatedBy: "--- exit 0\n")[0]
      .replacing("why lost-reply", with: "why Specs/Journals/lost-reply")
    #expect(try Repository.text("README.md").contains("```\n\(recorded)```\n"))
  }

  @Test("RPL-1 the article shows every command of the tool, and no other")
  func commands() throws {
    let shown = try Repository.text(
      "Sources/SessionKit/SessionKit.docc/DebuggingWithSessionreplay.md"
    )
    .matches(of: #/(?m)^sessionreplay ([a-z-]+) /#)
    .map { String($0.1) }
    let help = ToolRun.inProcess(["--help"]).output
    let had = try #require(help.components(separatedBy: "Commands:\n").last)
      .components(separatedBy: "\n\n")[0]
      .matches(of: #/(?m)^  ([a-z-]+) /#).map { String($0.1) }
    #expect(had.count > 10)
    #expect(Set(shown) == Set(had))
  }
}
