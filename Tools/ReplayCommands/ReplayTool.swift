#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// `sessionreplay`, callable in process: the debugger for journals (RPL-1, RPL-2, RPL-5).
public enum ReplayTool {
  /// The tool's version.
  public static let version = "0.1.0"

  private static let commands: [any Command.Type] = [
    TimelineCommand.self, StateCommand.self, VerifyCommand.self,
  ]

  /// Runs the tool on the process's own outputs and environment, and returns its exit code.
  ///
  /// `arguments` are those behind the tool's name: `["timeline", path]`. Journals are only read; no
  /// lock is taken. Never ends the process.
  public static func run(_ arguments: [String]) -> Int32 {
    // A caller's own `print` goes through a buffer that this tool's output would overtake.
    fflush(nil)
    return run(
      arguments: arguments,
      environment: { name in getenv(name).map { String(cString: $0) } },
      output: DescriptorOutput(descriptor: STDOUT_FILENO),
      errors: DescriptorOutput(descriptor: STDERR_FILENO))
  }

  /// Runs the tool and returns its exit code; `arguments` are those behind the tool's name.
  ///
  /// Answers go to `output`, errors and notes to `errors`. An output that nobody reads any more
  /// ends the run silently, with 0. `-` as a file reads the process's standard input.
  public static func run(
    arguments: [String], environment: (String) -> String?, output: any TextOutput,
    errors: any TextOutput
  ) -> Int32 {
    let printer = Printer(output)
    var failure: ToolError?
    do throws(ToolError) {
      try run(arguments, environment, printer)
    } catch {
      failure = error
    }
    printer.flush()
    switch printer.failure {
    case .closed?: return ExitCode.ok.rawValue
    case .refused(let code)?: failure = outputError(code)
    case nil: break
    }
    guard let failure else { return ExitCode.ok.rawValue }
    let complaints = Printer(errors)
    complaints.print(arguments.contains("--json") ? failure.json : failure.text)
    complaints.flush()
    return failure.code.rawValue
  }

  private static func run(
    _ arguments: [String], _ environment: (String) -> String?, _ printer: Printer
  ) throws(ToolError) {
    guard let name = arguments.first else {
      throw .usage("missingCommand", "A command is needed.", next: "sessionreplay --help")
    }
    switch name {
    case "--version":
      return printer.print("sessionreplay \(version)\n")
    case "--help", "-h":
      return printer.print(HelpText.tool(commands.map { $0.syntax }))
    case "help":
      guard arguments.count > 1 else {
        return printer.print(HelpText.tool(commands.map { $0.syntax }))
      }
      return printer.print(HelpText.command(try command(named: arguments[1]).syntax))
    default:
      let command = try command(named: name)
      try run(command, Array(arguments.dropFirst()), environment, printer)
    }
  }

  private static func run(
    _ type: any Command.Type, _ words: [String], _ environment: (String) -> String?,
    _ printer: Printer
  ) throws(ToolError) {
    let arguments = try Arguments(words, syntax: type.syntax)
    guard !arguments.has("help") else {
      return printer.print(HelpText.command(type.syntax))
    }
    let command = try type.init(arguments)
    let style = Style(
      command.display.color, isTerminal: printer.isTerminal, environment: environment)
    let path = arguments.operands.first ?? ""
    if path == "-" {
      let input = try StandardInput()
      try input.withFile { file throws(ToolError) in
        try command.run(on: file, printer: printer, style: style)
      }
    } else {
      let file = JournalFile(path: path, name: path.quotedWhereNeeded)
      try command.run(on: file, printer: printer, style: style)
    }
  }

  private static func command(named name: String) throws(ToolError) -> any Command.Type {
    if let command = commands.first(where: { $0.syntax.name == name }) { return command }
    let near = Suggestion.nearest(to: name, in: commands.map { $0.syntax.name })
    throw .usage(
      "unknownCommand",
      name.hasPrefix("-")
        ? "There is no option \(name) without a command." : "There is no command '\(name)'.",
      next: near.map { "sessionreplay \($0)" } ?? "sessionreplay --help")
  }

  private static func outputError(_ code: Int32) -> ToolError {
    ToolError(
      .inputOutput, "output",
      "The system refused to write the output: \(systemMessage(code)) (errno \(code)).",
      consequence: "What was printed is not whole.", next: "another place for the output")
  }
}
