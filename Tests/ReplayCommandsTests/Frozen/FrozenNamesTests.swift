import Foundation
import SessionChangeQueue
import SessionTestSupport
import Testing

@testable import ReplayCommands
@testable import SessionCore
@testable import SessionExplain
@testable import SessionJournal
@testable import SessionKit

/// The names in `Specs/Frozen/names`: what journals, JSON output, stored items and scenarios spell.
@Suite("Specs/Frozen/names: names")
struct FrozenNamesTests {
  @Test("JRN-3 the kinds of records and the words of their codes keep their bytes")
  func records() throws {
    var names = SessionEvent.Kind.allCases.map { "event \($0.rawValue) \($0)" }
    names += SessionNote.Kind.allCases.map { "note \($0.rawValue) \($0)" }
    names += ChangeEvent.Kind.allCases.map { "change \($0.rawValue) \($0)" }
    names += Change.Operation.allCases.map { "change operation \($0.rawValue) \($0)" }
    names.append("snapshot \(SessionRecord.snapshotKind)")
    let codes: [(String, any OpenEnum.Type)] = [
      ("login method", LoginMethod.self), ("refresh trigger", RefreshTrigger.self),
      ("switch trigger", SwitchTrigger.self), ("expiry reason", ExpiryReason.self),
      ("logout reason", LogoutReason.self), ("request kind", RequestKind.self),
      ("revocation outcome", RevocationOutcome.self), ("secret item", SecretItem.self),
      ("wipe cause", SessionNote.WipeCause.self), ("failure kind", RequestFailure.Kind.self),
      ("continuation cause", SessionNote.ContinuationCause.self),
      ("storage operation", StorageOperation.self), ("storage cause", StorageCause.self),
      ("error meaning", ErrorMeaning.self), ("give-up cause", DeadLetterCause.self),
      ("discard cause", DiscardCause.self),
    ]
    for (name, type) in codes {
      names += type.words.enumerated().map { "\(name) \($0.offset) \($0.element)" }
    }
    try FrozenNames("records").compare(with: names)
  }

  @Test("RPL-5 the words in output and the exit codes stay")
  func words() throws {
    var names = ExitCode.allCases.map { "exit code \($0.rawValue)" }
    func add<Word: CaseIterable & RawRepresentable<String>>(_ kind: String, _: Word.Type) {
      names += Word.allCases.map { "\(kind) \($0.rawValue)" }
    }
    add("session state", SessionState.Kind.self)
    add("rejection", SessionRejection.Reason.self)
    add("naming source", NamingSource.self)
    add("journal flaw", JournalFlaw.self)
    add("storage trouble", StorageIssue.self)
    add("failure class", SessionWarning.FailureClass.self)
    add("refresh denial", RefreshDenial.self)
    add("language", SessionLanguage.self)
    add("cause", Cause.self)
    add("certainty", Certainty.self)
    add("finding", FindingWord.self)
    add("unknown", UntoldWord.self)
    add("advice", AdviceWord.self)
    add("role in the chain", Explanation.Role.self)
    add("grouping", StatsGrouping.self)
    add("group of a report", ReportJournal.Group.self)
    add("pseudonym", Pseudonyms.Category.self)
    add("ending of an export", ExportEnding.self)
    add("import problem", ImportProblem.Name.self)
    add("export format", ExportCommand.Format.self)
    add("help topic", HelpText.Topic.self)
    add("shell", CompletionCommand.Shell.self)
    add("color", Style.Choice.self)
    try FrozenNames("words").compare(with: names)
  }

  @Test("RPL-5 the members of every command's JSON stay")
  func json() throws {
    var members = MemberPaths()
    func add(_ output: String, of command: String) throws {
      for line in output.split(separator: "\n") where line.hasPrefix("{") {
        try members.add(Data(line.utf8), after: "\(command) ")
      }
    }
    for command in GoldenOutputTests.commands where command.arguments.contains("--json") {
      let text = try Repository.text("Specs/Golden/replay/\(command.name).txt")
      try add(text, of: command.arguments.first ?? "")
    }
    let commands = [
      ["timeline"], ["state"], ["verify"], ["diff"], ["why"], ["stats"],
      ["follow", "--timeout", "0ms"], ["export"],
    ]
    for folder in ["Specs/Golden", "Specs/Golden/changes", "Specs/Frozen/format-1"] {
      let root = Repository.root.appending(path: folder).path(percentEncoded: false)
      let names = try FileManager.default.contentsOfDirectory(atPath: root)
      for name in names.sorted() where name.hasSuffix(".journal") {
        for command in commands {
          let run = ToolRun.inProcess(command + ["\(root)/\(name)", "--json"])
          try add(run.output + run.errors, of: command[0])
        }
      }
    }
    try FrozenNames("json").compare(with: members.paths)
  }

  @Test("TST-1 the words of scenario files stay")
  func scenarios() throws {
    typealias Words = ScenarioVocabulary
    var names: [String] = []
    func add(_ kind: String, _ words: [String]) { names += words.map { "\(kind) \($0)" } }
    func add(_ kind: String, _ words: [String: [String]]) {
      for (word, fields) in words { add("\(kind) \(word)", [""] + fields) }
    }
    add("header", Words.header)
    add("step", Words.steps)
    add("app", Words.apps)
    add("command", Words.commands)
    add("act", Words.acts)
    add("link", Words.links)
    add("item", Words.items)
    add("event", Words.events)
    add("note", Words.notes)
    add("state", Words.states)
    add("shows", Words.shows)
    add("change", Words.changes)
    add("result", Words.results)
    add("error detail", Words.errorDetails)
    add("error", Words.errors)
    add("policy", Words.policy)
    add("owner", Words.owners)
    add("environment", Words.environments)
    add("part of a request", Words.request)
    add("part of a change", Words.change)
    add("part of the log", Words.log)
    add("part of an answer", Words.answer)
    try FrozenNames("scenarios").compare(
      with: names.map { $0.trimmingCharacters(in: .whitespaces) })
  }

  @Test("RPL-5 the environment variables stay")
  func environment() throws {
    let pattern = /(?:environment\[|getenv\(|environment\()"([A-Z_]+)"/
    var names: Set<String> = []
    for folder in ["Sources", "Tools/ReplayCommands", "Tools/sessionreplay"] {
      for file in try sources(in: folder) {
        names.formUnion(try Repository.text(file).matches(of: pattern).map { String($0.output.1) })
      }
    }
    try FrozenNames("environment").compare(with: names)
  }

  private func sources(in folder: String) throws -> [String] {
    let root = Repository.root.appending(path: folder).path(percentEncoded: false)
    return try FileManager.default.subpathsOfDirectory(atPath: root)
      .filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
  }
}
