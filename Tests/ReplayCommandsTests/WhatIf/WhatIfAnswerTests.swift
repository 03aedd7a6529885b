import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
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
    ("lifetime-over", "lifetime=50m"), ("refreshing-too-often", "threshold=5s"),
    ("refreshing-too-often", "threshold=55s"), ("item-unreadable", "launch=always"),
    ("clock-forward", "lifetime=1h"), ("secrets-missing", "refused=keep"),
    ("user-logout", "standard"), ("still-signed-in", "inactivity=12h"),
    ("ended-by-server", "standard"), ("suspended-in-refresh", "attempts=9"),
    ("refresh-failed", "firstDelay=2s"),
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

  @Test("RPL-10 RPL-6 a timer that may have been late answers nothing")
  func late() throws {
    // The session ended by its lifetime after 61 minutes; whether the app ran before is not known.
    for (policy, answer) in [("lifetime=50m", "unknown"), ("lifetime=30m", "differs")] {
      let object = try #require(try ask("lifetime-over", policy, ["--json"]).objects().first)
      #expect(object["answer"] as? String == answer, "\(policy)")
      #expect(object["ending"] as? String == "earlierTimer")
      let parts = try #require(object["recordedPolicy"] as? [[String: Any]])
      let lifetime = parts.first { $0["name"] as? String == "lifetime" }
      #expect(lifetime?["value"] as? String == "3600s")
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
    try SampleJournal.write(
      to: path,
      batches: [
        (0, [.login("ada", SampleJournal.token(1, at: 0))]),
        (0, [.event(.logout(SessionEvent.Logout(reason: .user)))]),
      ])
    let run = ToolRun.inProcess(["whatif", path, "--policy", "standard"])
    #expect(run.code == 3)
    #expect(run.output.contains("no opening that may have written it"))
  }
}

@Suite("--policy")
struct PolicyChangeTests {
  private let journal = Repository.root.appending(path: "Specs/Journals/refused.journal").path(
    percentEncoded: false)

  private func change(_ text: String) throws -> PolicyChange {
    try PolicyChange(text)
  }

  @Test("RPL-10 changes apply to the recorded policy, a preset replaces it, and its timeout stays")
  func apply() throws {
    var recorded = SessionPolicy.clearOnRefusal
    (recorded.refresh.attempts, recorded.refresh.timeout) = (7, .seconds(5))
    let text =
      "attempts=2,refused=keep,exhausted=expiry-clear,refusedToken=deliver,inactivity=30m,"
      + "lifetime=12h,threshold=none,firstDelay=500ms,launch=always,recovery=resume,"
      + "longestDelay=5s,grace=1s,required=token+user"
    let policy = try change(text).applied(to: recorded)
    #expect(policy.refresh.attempts == 2)
    #expect(policy.ending.onRejection == .keep)
    #expect(policy.ending.onExhaustion == .endAfterExpiry(.clear))
    #expect(policy.ending.onRefusedToken == .deliver)
    #expect(policy.ending.inactivityLimit == .seconds(1_800))
    #expect(policy.ending.absoluteLifetime == .seconds(43_200))
    #expect(policy.refresh.beforeExpiry == nil)
    #expect(policy.refresh.firstRetryDelay == .milliseconds(500))
    #expect(policy.refresh.atLaunch == .always)
    #expect(policy.refresh.longestRetryDelay == .seconds(5))
    #expect(policy.refresh.peerRequestGrace == .seconds(1))
    #expect(policy.recovery == .resume)
    #expect(policy.limits.requiredItems == [.token, .user])
    #expect(policy.refresh.timeout == .seconds(5))
    #expect(try change("inactivity=1s").applied(to: recorded).refresh.attempts == 7)
    var preset = try change("offlineFirst,attempts=4").applied(to: recorded)
    #expect(preset.refresh.timeout == .seconds(5))
    preset.refresh.timeout = .seconds(30)
    var expected = SessionPolicy.offlineFirst
    expected.refresh.attempts = 4
    #expect(preset.refresh == expected.refresh && preset.ending == expected.ending)
  }

  @Test(
    "RPL-10 a wrong policy is an error of usage with the nearest word",
    arguments: [
      ("offlinefirst2", "offlineFirst"), ("standart", "standard"), ("attempts", "attempts=1"),
      ("atempts=5", "attempts=1"), ("attempts=none", "attempts=1"), ("attempts=0", "attempts=1"),
      ("refused=kep", "refused=keep"), ("refused=", "refused=keep"),
      ("exhausted=end-kep", "exhausted=end-keep"), ("inactivity=30", "inactivity=30m"),
      ("lifetime=nome", "lifetime=none"), ("threshold=-5m", "threshold=5m"),
      ("firstDelay=1ms", "firstDelay=500ms"), ("launch=allways", "launch=always"),
      ("required=tokn", "required=token"), ("timeout=0s", "timeout=30s"),
      ("standard,staging", "one of attempts"), ("attempts=1,attempts=2", "attempts=1"),
      ("", "standard"), ("xyzzy=1", "one of attempts"),
    ])
  func wrong(text: String, next: String) {
    let run = ToolRun.inProcess(["whatif", journal, "--policy", text])
    #expect(run.code == 64)
    #expect(run.output.isEmpty)
    let lines = run.errors.split(separator: "\n")
    #expect(lines.first?.hasPrefix("Error: ") == true)
    #expect(lines.last?.hasPrefix("Try: ") == true)
    #expect(lines.last?.contains(next) == true, "\(run.errors)")
  }

  @Test("RPL-10 whatif without a policy says that it needs one, and a wrong recorded one is named")
  func missing() {
    let run = ToolRun.inProcess(["whatif", journal])
    #expect(run.code == 64)
    #expect(run.errors.contains("--policy standard"))
    let wrong = ToolRun.inProcess(["replay-corpus", journal, "--recorded-policy", "standart"])
    #expect(wrong.code == 64)
    #expect(wrong.errors.contains("Try: --recorded-policy standard"))
  }
}

@Suite("Specs/WhatIf.md")
struct WhatIfPageTests {
  /// The cells in a column of the table whose head begins with this cell.
  private func column(_ head: String, _ index: Int = 0) throws -> [String] {
    let lines = try Repository.text("Specs/WhatIf.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex { $0.hasPrefix("| \(head) |") })
    return lines[start...].dropFirst(2).prefix { $0.hasPrefix("| ") }.flatMap { line in
      line.split(separator: "|")[index].split(separator: ",").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
    }
  }

  @Test("RPL-10 the page has a row for each proof that the code knows, and no other")
  func proofs() throws {
    #expect(try column("proof") == InputScript.Proof.allCases.map(\.rawValue))
  }

  @Test("RPL-10 the page has a row for each reason why a batch is not decided, and no other")
  func gaps() throws { #expect(try column("why") == DecisionReplay.Gap.allCases.map(\.rawValue)) }

  @Test("RPL-10 the page has a row for each ending of an answer, and no other")
  func endings() throws {
    let gaps = DecisionReplay.Gap.allCases.map(WhatIfRun.Ending.gap)
    let others: [WhatIfRun.Ending] = [
      .same, .unreadable, .decides([], due: nil), .nothing(due: nil),
      .earlier(.refresh, .init(milliseconds: 0)), .more([]),
      .uses(since: .init(milliseconds: 0), limit: 0), .version,
    ]
    #expect(Set(try column("ending")) == Set((gaps + others).map(\.word)))
  }

  @Test("RPL-10 the page, the help and the code have the same words of --policy")
  func words() throws {
    let keys = PolicyChange.Key.allCases.map(\.rawValue)
    #expect(try column("word") == keys)
    // Journals leave out words with these values, so the table keeps them when `standard` changes.
    let usual = PolicyFigures(.standard)
    #expect(try column("word", 2) == PolicyWord.allCases.map { $0.value(in: usual) })
    let help = ToolRun.inProcess(["whatif", "--help"]).output
    for word in keys + PolicyChange.Preset.allCases.map(\.rawValue) {
      #expect(help.contains(word), "\(word)")
    }
  }

  @Test("RPL-10 each public preset of the page of policies can be named")
  func presets() throws {
    let page = try Repository.text("Specs/Policy.md")
    let names = page.matches(of: /\n\| `([a-zA-Z]+)` \| [0-9]+ s/).map { String($0.1) }
    #expect(names.count == 5)
    #expect(Set(names) == Set(PolicyChange.Preset.allCases.map(\.rawValue)))
  }
}

@Suite("replay-corpus")
struct ReplayCorpusTests {
  private static let folder = Repository.root.appending(path: "Specs/Journals").path(
    percentEncoded: false)

  /// `UPDATE_GOLDEN=1 swift test --filter ReplayCorpus` writes the list anew; each new difference needs
  /// a reason in `Specs/Journals/README.md`.
  @Test("RPL-10 the decisions of the recorded journals that differ today are the listed ones")
  func recorded() throws {
    let run = try ToolRun.shell(
      "cd \"$1\" && exec \"$0\" replay-corpus Specs/Journals --quiet "
        + "--recorded-policy \"$(cat Specs/Journals/older-policy.txt)\"",
      [Repository.root.path(percentEncoded: false)])
    let path = "Specs/Journals/differences.txt"
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      try run.output.write(
        to: Repository.root.appending(path: path), atomically: true, encoding: .utf8)
    }
    #expect(try Repository.text(path) == run.output)
    #expect(run.code == (run.output.contains(" today: ") ? 3 : 0))
  }

  @Test("RPL-10 each journal with a difference has its reason on the page of the journals")
  func reasons() throws {
    let page = try Repository.text("Specs/Journals/README.md")
    let section = try #require(
      page.components(separatedBy: "\n## Decisions that differ today\n").last)
    let listed = section.matches(of: /\n\| ([a-z-]+) \| @([0-9]+) \|/).map { "\($0.1) @\($0.2)" }
    var found: [String] = []
    for line in try Repository.text("Specs/Journals/differences.txt").split(separator: "\n") {
      if let file = line.firstMatch(of: /^Specs\/Journals\/([a-z-]+)\.journal:/) {
        found.append(String(file.1))
      } else if let place = line.firstMatch(of: /^  (@[0-9]+) recorded:/), let name = found.last {
        found[found.count - 1] = name.contains("@") ? name : "\(name) \(place.1)"
      }
    }
    #expect(listed == found)
    #expect(!listed.isEmpty)
  }

  @Test(
    "RPL-10 a decision that this version would not make is a difference, if the policy is known")
  func tampered() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.journal")
    let failure = RequestFailure(kind: .noConnection)
    // The network never ends a session.
    try SampleJournal.write(
      to: path,
      batches: [
        (0, [.opened(by: 1, boot: nil, uptime: 5_000)]),
        (0, [.login("ada", SampleJournal.token(1, at: 0, lives: 3_600_000))]),
        (0, [.sent(1, by: 1, until: SampleJournal.start.advanced(by: 31_000), .manual)]),
        (
          0,
          [
            .failed(failure, 1, 3, .manual),
            .event(.sessionExpired(SessionEvent.SessionExpired(reason: .refreshRejected))),
          ]
        ),
      ])
    let older = ToolRun.inProcess(["whatif", path, "--policy", "attempts=2"])
    #expect(older.code == 3)
    #expect(older.output.contains("Name it: --recorded-policy"))
    let undecided = ToolRun.inProcess(["replay-corpus", path])
    #expect(undecided.code == 0)
    #expect(undecided.output.contains("@1 to @4 not decided: no record says the policy"))
    let named = ["--recorded-policy", "standard"]
    let run = ToolRun.inProcess(["replay-corpus", path] + named)
    #expect(run.code == 3)
    #expect(run.output.contains("3 decisions of 4 the same, 1 differ"))
    #expect(run.output.contains("@4 recorded: refreshFailed"))
    #expect(run.output.contains("no further try"))
    #expect(run.output.contains("@4 today:    refreshFailed"))
    #expect(run.output.contains("next try in 2.0 s"))
    let object = try #require(
      try ToolRun.inProcess(["replay-corpus", path, "--json"] + named).objects().first)
    #expect((object["differences"] as? [[String: Any]])?.count == 1)
    // whatif does not judge a decision that this version makes in another way.
    let other = ToolRun.inProcess(["whatif", path, "--policy", "attempts=2"] + named)
    #expect(other.code == 0)
    #expect(other.output.contains("This version decides that record otherwise"))
  }
}
