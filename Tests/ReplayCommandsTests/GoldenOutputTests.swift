import ChildProcesses
import Foundation
import Testing

/// The exact output of the tool, in `Specs/Golden/replay`.
///
/// After an intended change, `UPDATE_GOLDEN=1 swift test --filter GoldenOutput` writes them anew;
/// check the difference with git.
@Suite("Specs/Golden/replay")
struct GoldenOutputTests {
  static let commands =
    GoldenCommands.streams + GoldenCommands.why + GoldenCommands.step + GoldenCommands.views
    + GoldenCommands.files

  @Test("RPL-1 RPL-2 RPL-5 the output of the program equals its golden file")
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
