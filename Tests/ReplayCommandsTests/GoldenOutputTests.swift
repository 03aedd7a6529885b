import ChildProcesses
import Foundation
import Testing

/// The exact output of the tool, in `Specs/Golden/replay.txt`: a section for each command line.
///
/// After an intended change, `UPDATE_GOLDEN=1 swift test --filter GoldenOutput` writes it anew; check
/// the difference with git.
@Suite("Specs/Golden/replay.txt")
struct GoldenOutputTests {
  static let commands =
    GoldenCommands.streams + GoldenCommands.why + GoldenCommands.step + GoldenCommands.views
    + GoldenCommands.files

  private static let path = "Specs/Golden/replay.txt"

  /// Returns the recorded output of each command by its name.
  static func recorded() throws -> [String: String] {
    let sections = try Repository.text(path).components(separatedBy: "=== ").dropFirst()
    return Dictionary(
      uniqueKeysWithValues: sections.map { section in
        let name = section.prefix { $0 != "\n" }
        return (String(name), String(section.dropFirst(name.count + 1)))
      })
  }

  @Test("RPL-1 RPL-2 RPL-5 the output of the program equals the recorded one")
  func output() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    var found: [(name: String, text: String)] = []
    for command in Self.commands {
      let run = try ToolRun.shell(
        "cd \"$1\" && shift && exec \"$0\" \"$@\"", [folder.path] + command.arguments)
      var text = "$ sessionreplay \(command.arguments.joined(separator: " "))\n" + run.output
      if !run.errors.isEmpty { text += "--- errors\n" + run.errors }
      found.append((command.name, text + "--- exit \(run.code)\n"))
    }
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      try found.map { "=== \($0.name)\n\($0.text)" }.joined().write(
        to: Repository.root.appending(path: Self.path), atomically: true, encoding: .utf8)
    }
    let recorded = try Self.recorded()
    #expect(Set(recorded.keys) == Set(found.map(\.name)))
    for (name, text) in found { #expect(text == recorded[name], "\(name)") }
  }
}

/// Command lines whose exact output is in `Specs/Golden/replay.txt`; each list is of one family of commands.
enum GoldenCommands {
  typealias Line = (name: String, arguments: [String])

  static let streams: [Line] = [
    ("timeline", ["timeline", "a.journal"]),
    ("timeline-json", ["timeline", "a.journal", "--json"]),
    ("timeline-color", ["timeline", "a.journal", "--color", "always"]),
    ("timeline-changes", ["timeline", "changes.log"]),
    ("timeline-changes-json", ["timeline", "changes.log", "--json"]),
    ("timeline-changes-kind", ["timeline", "changes.log", "--kind", "changeSent,scopeChecked"]),
    ("timeline-changes-compacted", ["timeline", "changes-compacted.log"]),
    ("state-changes", ["state", "changes.log"]),
    ("state-changes-json", ["state", "changes.log", "--at", "@7", "--json"]),
    ("state-changes-odd", ["state", "changes-odd.log"]),
    ("state-changes-compacted", ["state", "changes-compacted.log", "--at", "@5"]),
    ("state-changes-beyond", ["state", "changes.log", "--at", "@99"]),
    ("state-changes-damaged", ["state", "changes-damaged.log"]),
    ("diff-changes", ["diff", "changes.log"]),
    ("diff-changes-files", ["diff", "changes.log", "changes-odd.log"]),
    ("verify-changes-newer", ["verify", "changes-newer.log"]),
    ("verify-changes", ["verify", "changes.log"]),
    ("verify-changes-json", ["verify", "changes.log", "--json"]),
    ("verify-changes-odd", ["verify", "changes-odd.log"]),
    ("verify-changes-compacted", ["verify", "changes-compacted.log"]),
    ("timeline-last", ["timeline", "a.journal", "-n", "3", "--kind", "event", "-r"]),
    ("timeline-since", ["timeline", "a.journal", "--since", "@13", "--until", "-86000s"]),
    ("state-end", ["state", "a.journal"]), ("state-end-json", ["state", "a.journal", "--json"]),
    ("state-authenticated", ["state", "a.journal", "--at", "@6"]),
    ("state-authenticated-json", ["state", "a.journal", "--at", "@6", "--json"]),
    ("state-open-request", ["state", "a.journal", "--at", "2026-11-21T16:00:00Z"]),
    ("state-expired", ["state", "a.journal", "--at", "@15"]),
    ("state-expired-json", ["state", "a.journal", "--at", "@15", "--json"]),
    ("state-nothing", ["state", "a.journal", "--at", "@0"]), ("verify", ["verify", "a.journal"]),
    ("verify-json", ["verify", "a.journal", "--json"]),
    ("verify-room", ["verify", "room.journal"]),
    ("verify-room-json", ["verify", "room.journal", "--json"]),
    ("verify-torn", ["verify", "torn.journal"]),
    ("verify-undetermined", ["verify", "undetermined.journal"]),
    ("verify-damaged", ["verify", "damaged.journal"]),
    ("verify-damaged-json", ["verify", "damaged.journal", "--json"]),
    ("verify-illegal", ["verify", "illegal.journal"]),
    ("verify-undecodable", ["verify", "undecodable.journal"]),
    ("verify-unknown-kind", ["verify", "unknown.journal"]),
    ("timeline-compacted", ["timeline", "compacted.journal"]),
    ("timeline-compacted-json", ["timeline", "compacted.journal", "--until", "@12", "--json"]),
    ("state-compacted", ["state", "compacted.journal"]),
    ("state-compacted-away", ["state", "compacted.journal", "--at", "@6"]),
    ("state-before-compacted", ["state", "compacted.journal", "--at", "2026-11-21T14:00:01Z"]),
    ("verify-compacted", ["verify", "compacted.journal"]),
    ("verify-compacted-json", ["verify", "compacted.journal", "--json"]),
    ("timeline-damaged", ["timeline", "damaged.journal", "-n", "2"]),
    ("state-damaged", ["state", "damaged.journal"]),
    ("timeline-reason", ["timeline", "a.journal", "--reason", "rejected,user", "-C", "1"]),
    ("timeline-delta", ["timeline", "a.journal", "--delta", "--since", "@20"]),
    (
      "timeline-context-json",
      ["timeline", "a.journal", "--json", "--delta", "--kind", "logout", "-C", "1"]
    ), ("timeline-damaged-last", ["timeline", "damaged.journal", "-n", "3", "-r"]),
    ("timeline-redacted", ["timeline", "a.journal", "--redact", "--key-file", "key", "-n", "12"]),
    ("why-redacted", ["why", "a.journal", "--redact", "--key-file", "key"]),
    ("no-command", ["a.journal", "--json"]),
    ("timeline-near-miss", ["timeline", "a.journal", "--reason", "rejectd"]),
    ("timeline-missing", ["timeline", "a.jurnal"]),
    ("verify-several", ["verify", "a.journal", "torn.journal", "none", "damaged.journal"]),
    ("verify-several-json", ["verify", "a.journal", "torn.journal", "none", "--json"]),
    ("verify-quiet", ["verify", "--quiet", "a.journal", "damaged.journal"]),
    ("diff", ["diff", "a.journal"]),
    ("diff-color", ["diff", "a.journal", "--to", "@15", "--color", "always"]),
    ("diff-all-fields", ["diff", "a.journal", "--from", "@2", "--to", "@12", "--all-fields"]),
    ("diff-json", ["diff", "a.journal", "--from", "@2", "--to", "@4", "--json", "--exit-code"]),
    ("diff-nothing", ["diff", "a.journal", "--from", "@26"]),
    ("diff-damaged", ["diff", "damaged.journal"]),
    ("diff-files", ["diff", "a.journal", "illegal.journal", "--exit-code"]),
    ("diff-files-json", ["diff", "a.journal", "illegal.journal", "--json"]),
    ("diff-files-same", ["diff", "a.journal", "open.journal"]),
    ("diff-files-compacted", ["diff", "a.journal", "compacted.journal"]),
    ("follow", ["follow", "a.journal", "--timeout", "0ms"]),
    (
      "follow-until-kind",
      ["follow", "a.journal", "--since", "@20", "--until-kind", "logout", "--delta", "--json"]
    ),
    (
      "follow-timed-out",
      ["follow", "a.journal", "-n", "0", "--until-kind", "login", "--timeout", "0ms"]
    ), ("help", ["--help"]), ("help-selectors", ["help", "selectors"]),
    ("help-kinds", ["help", "kinds"]), ("help-reasons", ["help", "reasons"]),
    ("help-codes", ["help", "codes"]), ("help-diff", ["help", "diff"]),
    ("help-follow", ["help", "follow"]), ("help-timeline", ["timeline", "--help"]),
    ("help-state", ["help", "state"]), ("help-verify", ["verify", "-h"]),
  ]

  static let why: [Line] = [
    ("why", ["why", "a.journal"]), ("why-json", ["why", "a.journal", "--json"]),
    ("why-color", ["why", "a.journal", "--color", "always"]),
    ("why-all", ["why", "a.journal", "--all", "--full"]),
    ("why-all-json", ["why", "a.journal", "--all", "--json"]),
    ("why-at", ["why", "a.journal", "--at", "@10"]),
    ("why-at-time", ["why", "a.journal", "--at", "2026-11-21T14:00:00Z"]),
    ("why-compacted", ["why", "compacted.journal", "--key-file", "key"]),
    ("why-torn", ["why", "torn.journal"]), ("why-damaged", ["why", "damaged.journal"]),
    ("why-illegal", ["why", "illegal.journal"]), ("why-unknown", ["why", "unknown.journal"]),
    ("why-changes", ["why", "changes-compacted.log"]),
    ("why-beyond", ["why", "a.journal", "--at", "@999"]),
    ("why-conflict", ["why", "a.journal", "--all", "--at", "@2"]), ("why-help", ["why", "--help"]),
  ]

  static let step: [Line] = [
    ("help-step", ["step", "--help"]), ("step-missing", ["step", "none.journal"]),
    ("step-bad-selector", ["step", "a.journal", "--at", "soon"]),
    ("step-json", ["step", "a.journal", "--json"]),
  ]

  static let views: [Line] = [
    ("stats", ["stats", "a.journal"]), ("stats-json", ["stats", "a.journal", "--json"]),
    ("stats-color", ["stats", ".", "--color", "always"]), ("stats-folder", ["stats", "."]),
    ("stats-by-day", ["stats", "a.journal", "--by", "day"]),
    ("stats-by-method-json", ["stats", "a.journal", "--by", "method", "--json"]),
    ("stats-damaged", ["stats", "damaged.journal"]), ("stats-missing", ["stats", "none.journal"]),
    ("stats-bad-by", ["stats", "a.journal", "--by", "rason"]),
    ("stats-by-cause", ["stats", ".", "--by", "cause"]), ("ends", ["ends", "a.journal"]),
    ("ends-folder", ["ends", "."]), ("ends-strict", ["ends", "damaged.journal", "--strict"]),
    ("ends-missing", ["ends", "none.journal"]), ("refreshes", ["refreshes", "a.journal"]),
    ("refreshes-damaged", ["refreshes", "damaged.journal"]), ("help-ends", ["ends", "--help"]),
    ("help-refreshes", ["refreshes", "--help"]), ("verify-folder", ["verify", "."]),
    ("why-folder", ["why", "."]),
    ("why-lines", ["why", "--oneline", "a.journal", "damaged.journal"]),
    ("why-folder-json", ["why", "--json", "."]), ("help-stats", ["stats", "--help"]),
    ("help-whatif", ["whatif", "--help"]), ("help-replay-corpus", ["replay-corpus", "--help"]),
    ("help-report", ["report", "--help"]), ("report-no-output", ["report", "a.journal"]),
    ("report-conflict", ["report", "a.journal", "-o", "x.html", "--reveal", "--key-file", "k"]),
    ("report-exists", ["report", "a.journal", "-o", "damaged.journal"]),
    ("report-same-file", ["report", "a.journal", "-o", "a.journal", "--force"]),
    ("report-missing", ["report", "none.journal", "-o", "x.html", "--json"]),
  ]

  static let files: [Line] = [
    ("export", ["export", "a.journal"]), ("export-reveal", ["export", "a.journal", "--reveal"]),
    ("export-key", ["export", "a.journal", "--key-file", "key", "--until", "@2"]),
    ("export-since", ["export", "compacted.journal", "--reveal", "--since", "@20"]),
    ("export-damaged", ["export", "damaged.journal", "--reveal"]),
    ("repair", ["repair", "damaged.journal", "-o", "a.fixed"]),
    ("repair-dry", ["repair", "illegal.journal", "--dry-run"]),
    ("repair-json", ["repair", "torn.journal", "--dry-run", "--json"]),
    ("repair-good", ["repair", "a.journal", "--in-place"]),
    ("repair-newer", ["repair", "unknown.journal", "--dry-run"]),
    ("export-changes", ["export", "changes.log", "--reveal"]),
    ("repair-changes", ["repair", "changes-damaged.log", "-o", "changes.fixed"]),
    ("repair-changes-json", ["repair", "changes-torn.log", "--dry-run", "--json"]),
    ("repair-changes-odd", ["repair", "changes-odd.log", "--dry-run"]),
    ("repair-changes-newer", ["repair", "changes-newer.log", "--dry-run"]),
    ("repair-no-output", ["repair", "damaged.journal"]),
    ("import-no-export", ["import", "a.journal", "--dry-run"]),
    ("help-export", ["help", "export"]), ("help-import", ["help", "import"]),
    ("help-repair", ["help", "repair"]),
  ]
}
