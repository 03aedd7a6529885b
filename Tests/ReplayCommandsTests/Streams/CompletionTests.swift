import ChildProcesses
import Foundation
import Testing

@testable import ReplayCommands

/// The completion scripts, each in its shell.
@Suite("RPL-5 completion")
struct CompletionTests {
  private let folder: TemporaryFolder

  private static func has(_ shell: String) -> Bool {
    ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(shell)")
    }
  }

  init() throws {
    folder = try TemporaryFolder()
    for shell in ["bash", "zsh", "fish"] {
      let script = ToolRun.inProcess(["completion", shell])
      #expect(script.code == 0)
      _ = try folder.write(Array(script.output.utf8), to: shell)
    }
    for name in Self.files + ["other.txt"] { _ = try folder.write([1], to: name) }
    try FileManager.default.createDirectory(
      atPath: folder.file("below"), withIntermediateDirectories: false)
  }

  /// The words that bash offers for the last word of each line.
  private func bash(_ lines: [[String]]) throws -> [[String]] {
    var script = ". \"$1\"\ncd \"$2\"\n"
    for line in lines {
      let words = (["sessionreplay"] + line).map { "'\($0)'" }.joined(separator: " ")
      script += "COMP_WORDS=(\(words)); COMP_CWORD=\(line.count); _sessionreplay\n"
      script += "echo \"${COMPREPLY[*]}\"\n"
    }
    let run = try ToolRun.run(
      "/usr/bin/env", ["bash", "-c", script, "bash", folder.file("bash"), folder.path])
    #expect(run.errors.isEmpty, "\(run.errors)")
    return run.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map { $0.split(separator: " ").map(String.init) }
  }

  private static let files = ["a.journal", "b.journal", "c.jsonl", "d.journal.gz"]
  private static let names = CommandList.all.map { $0.syntax.name }

  @Test("bash offers commands, options, words, lists and files", .enabled(if: has("bash")))
  func bash() throws {
    let cases: [(line: [String], expected: [String])] = [
      (["tim"], ["timeline"]),
      (["a.j"], ["a.journal"]),
      (["--v"], ["--version"]),
      (["help", "sel"], ["selectors"]),
      (["timeline", "--rev"], ["--reverse"]),
      (["timeline", "--kind", "logi"], ["login"]),
      (["timeline", "--kind", "login,logo"], ["login,logout"]),
      (["timeline", "--kind", "=", "unkn"], ["unknown"]),
      (["timeline", "--reason", "refreshR"], ["refreshRejected"]),
      (["timeline", "--color", ""], ["auto", "always", "never"]),
      (["timeline", "--color", "="], ["auto", "always", "never"]),
      (["timeline", "-n", ""], []),
      (["timeline", "--since", ""], []),
      (["timeline", ""], Self.files + ["below"]),
      // A file in the place of the command means why.
      (["a.journal", "--on"], ["--oneline"]),
      (["./a", "--key-file", "a.j"], ["a.journal"]),
      (["c.jsonl", "a"], ["a.journal"]),
      (["verify", "a.journal", "b"], ["b.journal", "below"]),
      (["completion", "z"], ["zsh"]),
      (["nosuchcommand", ""], []),
    ]
    let found = try bash(cases.map(\.line))
    #expect(found.count == cases.count)
    for (found, wanted) in zip(found, cases) {
      #expect(found == wanted.expected, "\(wanted.line)")
    }
    #expect(
      try bash([[""]]) == [
        Self.names + ["help", "--help", "--version"] + Self.files + ["below"]
      ])
  }

  @Test("bash offers every option of every command", .enabled(if: has("bash")))
  func allOptions() throws {
    let options = CommandList.all.flatMap { command in
      command.syntax.allOptions.map { [command.syntax.name, "--\($0.name)"] }
    }
    for (found, wanted) in zip(try bash(options), options) {
      #expect(found.contains(wanted[1]), "\(wanted)")
    }
  }

  @Test("zsh offers commands, options and words", .enabled(if: has("zsh"), "zsh is not installed"))
  func zsh() throws {
    let syntax = try ToolRun.run("/usr/bin/env", ["zsh", "-n", folder.file("zsh")])
    #expect(syntax.code == 0, "\(syntax.errors)")
    // The words that it passes to zsh's own functions, which need a terminal.
    let check = """
      autoload -U compinit; compinit -u -D
      source "$1"; shift
      _arguments() { print -r -- "${(@)argv}"; }
      _describe() { print -r -- "${commands[@]}"; }
      for command in "$@"; do
        print -r -- "== $command"
        words=(sessionreplay $command '')
        CURRENT=3
        _sessionreplay || exit 1
      done
      """
    let firstWords = Self.names + ["a.journal", "c.jsonl", "d.gz", "./x"]
    let run = try ToolRun.run(
      "/usr/bin/env", ["zsh", "-fc", check, "zsh", folder.file("zsh")] + firstWords)
    #expect(run.code == 0, "\(run.errors)")
    let answers = run.output.components(separatedBy: "== ").dropFirst()
    try #require(answers.count == firstWords.count)
    for (first, answer) in zip(firstWords, answers) {
      #expect(answer.hasPrefix(first + "\n"))
      // A file in the place of the command means why.
      let command = Self.names.contains(first) ? first : "why"
      let syntax = try #require(CommandList.all.first { $0.syntax.name == command }).syntax
      for option in syntax.allOptions {
        #expect(answer.contains("--\(option.name)"), "\(command) \(option.name)")
      }
    }
  }

  @Test(
    "fish offers commands, options and words", .enabled(if: has("fish"), "fish is not installed"))
  func fish() throws {
    func offered(_ line: String) throws -> [String] {
      let run = try ToolRun.run(
        "/usr/bin/env",
        [
          "fish", "--no-config", "-c",
          "cd $argv[2]; source $argv[1]; complete -C $argv[3]", folder.file("fish"), folder.path,
          line,
        ], ["HOME": folder.path])
      #expect(run.code == 0, "\(run.errors)")
      return run.output.split(separator: "\n").map {
        String($0.split(separator: "\t", omittingEmptySubsequences: false)[0])
      }
    }
    #expect(try offered("sessionreplay tim") == ["timeline"])
    #expect(try offered("sessionreplay timeline --rev") == ["--reverse"])
    #expect(try offered("sessionreplay timeline --kind logi") == ["login"])
    #expect(try offered("sessionreplay timeline --kind login,logo") == ["login,logout"])
    #expect(
      try Set(offered("sessionreplay timeline --color ")) == ["auto", "always", "never"])
    #expect(try offered("sessionreplay completion z") == ["zsh"])
    #expect(try offered("sessionreplay verify a").contains("a.journal"))
    #expect(
      Set(try offered("sessionreplay "))
        .isSuperset(of: Self.names + ["a.journal", "c.jsonl", "d.journal.gz"]))
    // A file in the place of the command means why.
    #expect(try offered("sessionreplay a.journal --on") == ["--oneline"])
    #expect(try offered("sessionreplay ./a --on") == ["--oneline"])
    #expect(try offered("sessionreplay timeline a.journal --on").isEmpty)
    for command in CommandList.all {
      let found = Set(try offered("sessionreplay \(command.syntax.name) --"))
      for option in command.syntax.allOptions {
        #expect(found.contains("--\(option.name)"), "\(command.syntax.name) \(option.name)")
      }
    }
  }

  @Test("RPL-5 an unknown shell is refused with a suggestion")
  func badShell() throws {
    let run = ToolRun.inProcess(["completion", "fishy"])
    #expect(run.code == 64)
    #expect(run.errors.hasSuffix("Try: sessionreplay completion fish\n"))
  }
}
