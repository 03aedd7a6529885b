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
      try found.map { "=== \($0.name)\n\($0.text)" }.joined()
        .write(to: Repository.root.appending(path: Self.path), atomically: true, encoding: .utf8)
    }
    let recorded = try Self.recorded()
    #expect(Set(recorded.keys) == Set(found.map(\.name)))
    for (name, text) in found { #expect(text == recorded[name], "\(name)") }
  }
}
