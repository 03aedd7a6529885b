import Foundation
import Testing

/// The exact output of the tool, in `Specs/Golden/replay`.
///
/// After a wanted change, `UPDATE_GOLDEN=1 swift test --filter GoldenOutput` writes the files anew;
/// read what git then shows.
@Suite("Specs/Golden/replay")
struct GoldenOutputTests {
  static let commands: [(name: String, arguments: [String])] = [
    ("timeline", ["timeline", "a.journal"]),
    ("timeline-json", ["timeline", "a.journal", "--json"]),
    ("timeline-color", ["timeline", "a.journal", "--color", "always"]),
    ("timeline-last", ["timeline", "a.journal", "-n", "3", "--kind", "event", "-r"]),
    ("timeline-since", ["timeline", "a.journal", "--since", "@13", "--until", "-86000s"]),
    ("state-end", ["state", "a.journal"]),
    ("state-end-json", ["state", "a.journal", "--json"]),
    ("state-authenticated", ["state", "a.journal", "--at", "@6"]),
    ("state-authenticated-json", ["state", "a.journal", "--at", "@6", "--json"]),
    ("state-open-request", ["state", "a.journal", "--at", "2026-11-21T16:00:00Z"]),
    ("state-expired", ["state", "a.journal", "--at", "@15"]),
    ("state-expired-json", ["state", "a.journal", "--at", "@15", "--json"]),
    ("state-nothing", ["state", "a.journal", "--at", "@0"]),
    ("verify", ["verify", "a.journal"]),
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
    ("help", ["--help"]),
    ("help-timeline", ["timeline", "--help"]),
    ("help-state", ["help", "state"]),
    ("help-verify", ["verify", "-h"]),
  ]

  @Test("RPL-1 RPL-2 RPL-5 the program prints exactly what its golden file says")
  func output() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let isUpdating = ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil
    for command in Self.commands {
      let run = try ToolRun.shell(
        "cd \"$1\" && shift && exec \"$0\" \"$@\"", [folder.path] + command.arguments)
      var text = "$ sessionreplay \(command.arguments.joined(separator: " "))\n" + run.output
      if !run.errors.isEmpty { text += "--- errors\n" + run.errors }
      text += "--- exit \(run.code)\n"
      let path = "Specs/Golden/replay/\(command.name).txt"
      if isUpdating {
        try text.write(
          to: Repository.root.appending(path: path), atomically: true, encoding: .utf8)
      }
      #expect(text == (try Repository.text(path)), "\(command.name)")
    }
  }

  @Test("every golden file belongs to a command")
  func files() throws {
    let folder = Repository.root.appending(path: "Specs/Golden/replay").path(percentEncoded: false)
    let found = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(Set(found) == Set(Self.commands.map { "\($0.name).txt" }))
  }
}
