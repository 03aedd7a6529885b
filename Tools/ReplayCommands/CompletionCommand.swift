internal import SessionExplain

/// `completion`: prints a script that completes command lines of this tool in a shell.
struct CompletionCommand: Command {
  /// The shells for which there are scripts.
  enum Shell: String, CaseIterable {
    case bash = "bash"
    case zsh = "zsh"
    case fish = "fish"
  }

  static let name = "completion"
  static let syntax = CommandSyntax(
    name: name, summary: "Print a script that completes command lines in a shell",
    discussion: """
      The script knows all commands, options, names of records and reasons, and never runs the tool.
      bash: source it, or save it as ~/.local/share/bash-completion/completions/sessionreplay.
      zsh: save it as _sessionreplay in a folder of $fpath. fish: save it as
      ~/.config/fish/completions/sessionreplay.fish.
      """,
    operands: [
      .init(
        name: "SHELL", values: .words(Shell.allCases.map(\.rawValue)), help: "bash, zsh or fish")
    ],
    options: [],
    examples: [
      .init(line: "source <(sessionreplay completion bash)", help: "In this bash, from now on")
    ])

  let display: DisplayOptions
  private let shell: Shell

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    let word = arguments.operands[0]
    guard let shell = Shell(rawValue: word) else {
      let near = Suggestion.nearest(to: word, in: Shell.allCases.map(\.rawValue))
      throw .usage(
        .badShell, "There is no script for the shell '\(word.shortened)'.",
        next: "sessionreplay completion \(near ?? "bash")")
    }
    self.shell = shell
  }

  func run(_ files: [JournalFile], _ context: ToolContext) -> ExitCode {
    let script = Completion(commands: CommandList.all.map { $0.syntax })
    let text =
      switch shell {
      case .bash: script.bash
      case .zsh: script.zsh
      case .fish: script.fish
      }
    context.output.write(text)
    return .ok
  }
}
