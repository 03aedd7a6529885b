import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands

/// The exact answers about recorded journals, in `Specs/Golden/whatif.txt`.
///
/// `UPDATE_GOLDEN=1 swift test --filter WhatIfAnswer` writes them anew; check the difference with git.
@Suite("whatif")
struct WhatIfAnswerTests {
  private static let questions = [
    ("attempts-exhausted", "attempts=5"), ("attempts-exhausted", "offlineFirst"),
    ("server-failing", "attempts=2"), ("still-server-failing", "exhausted=end-clear"),
    ("refused", "refused=keep"), ("user-logout-after-expiry", "refused=clear"),
    ("lost-reply", "attempts=9"), ("inactive", "inactivity=30m"), ("inactive", "inactivity=5m"),
    ("lifetime-over", "lifetime=2h"), ("lifetime-over", "lifetime=30m"),
    ("lifetime-over", "lifetime=50m"),
    ("refreshing-too-often", "threshold=5s"), ("refreshing-too-often", "threshold=55s"),
    ("item-unreadable", "launch=always"), ("clock-forward", "lifetime=1h"),
    ("secrets-missing", "refused=keep"), ("user-logout", "standard"),
    ("still-signed-in", "inactivity=12h"), ("ended-by-server", "standard"),
    ("suspended-in-refresh", "attempts=9"), ("refresh-failed", "firstDelay=2s"),
  ]

  private func ask(_ name: String, _ policy: String, _ more: [String] = []) -> ToolRun {
    let file = Repository.root.appending(path: "Specs/Journals/\(name).journal")
    return ToolRun.inProcess(
      ["whatif", file.path(percentEncoded: false), "--policy", policy] + more)
  }

  @Test("RPL-10 RPL-6 the answers about recorded journals are the golden ones")
  func golden() throws {
    var text = ""
    for (name, policy) in Self.questions {
      let run = ask(name, policy)
      text += "$ sessionreplay whatif \(name).journal --policy \(policy)\n" + run.output
      text += run.errors + "--- exit \(run.code)\n\n"
    }
    let path = "Specs/Golden/whatif.txt"
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      try text.write(to: Repository.root.appending(path: path), atomically: true, encoding: .utf8)
    }
    #expect(try Repository.text(path) == text)
  }

  @Test("RPL-10 JSON has the same sentences, and the answer in words for programs")
  func json() throws {
    for (name, policy) in Self.questions {
      let object = try #require(try ask(name, policy, ["--json"]).objects().first)
      let text = try #require(object["text"] as? String)
      let plain = ask(name, policy).output.split(separator: "\n\n")[0]
      #expect(text == plain.split(separator: "\n").joined(separator: " "), "\(name) \(policy)")
      let answer = try #require(object["answer"] as? String)
      #expect(WhatIfAnswer.Kind(rawValue: answer) != nil)
      #expect((object["sequence"] is NSNull) == (answer == "same"), "\(name) \(policy)")
    }
  }

  @Test("RPL-10 RPL-6 a timer that may have been late answers nothing, and a bound is named as one")
  func late() throws {
    // The session ended by its lifetime after 61 minutes; whether the app ran before is not known.
    for (policy, answer) in [("lifetime=50m", "unknown"), ("lifetime=30m", "differs")] {
      let object = try #require(try ask("lifetime-over", policy, ["--json"]).objects().first)
      #expect(object["answer"] as? String == answer, "\(policy)")
      #expect(object["ending"] as? String == "earlierTimer")
      let parts = try #require(object["recordedPolicy"] as? [[String: Any]])
      let lifetime = parts.first { $0["name"] as? String == "lifetime" }
      #expect(lifetime?["value"] as? String == "1 h 1 min or less")
    }
  }

  @Test("RPL-5 on a terminal the sentences break between words, and in a pipe they do not")
  func width() {
    let file = Repository.root.appending(path: "Specs/Journals/lifetime-over.journal")
    let arguments = ["whatif", file.path(percentEncoded: false), "--policy", "lifetime=30m"]
    let narrow = ToolRun.inProcess(arguments, environment: ["COLUMNS": "60"], isTerminal: true)
    let lines = narrow.output.components(separatedBy: "\n")
    #expect(lines.allSatisfy { $0.count <= 60 } && lines.count > 8)
    let words = { (text: String) in text.split { $0 == " " || $0 == "\n" } }
    #expect(words(narrow.output) == words(ask("lifetime-over", "lifetime=30m").output))
  }

  @Test("RPL-10 a journal whose first decision cannot be made again exits with 3")
  func nothing() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.journal")
    try JournalOfBatches.write(
      [
        [.event(.login(JournalOfBatches.login))],
        [.event(.logout(SessionEvent.Logout(reason: .user)))],
      ], to: path)
    let run = ToolRun.inProcess(["whatif", path, "--policy", "standard"])
    #expect(run.code == 3)
    #expect(run.output.contains("no opening that may have written it"))
  }
}
