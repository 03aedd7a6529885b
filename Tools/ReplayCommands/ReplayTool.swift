@_spi(Internals) public import SessionCore
internal import SessionExplain
internal import SessionJournal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// `sessionreplay` as a function of this process: the debugger for journals.
///
/// - Requirement: RPL-1, RPL-2, RPL-3, RPL-5
public enum ReplayTool {
  /// The tool's version.
  public static let version = ToolContext.version

  /// Runs the tool as a program.
  ///
  /// It works as `run(_:)`. In addition, the tool cleans up if Ctrl-C or another signal ends it.
  ///
  /// It does not return if a signal ended it. The process then dies of that signal, so that a shell
  /// sees 130 or 143 and stops its own loop.
  public static func main(_ arguments: [String]) -> Int32 {
    // A closed pipe then is an error of `write` and does not end the process.
    signal(SIGPIPE, SIG_IGN)
    // The same for a file that may not become longer.
    signal(SIGXFSZ, SIG_IGN)
    Interruption.watchSignals()
    let code = run(
      arguments, { name in getenv(name).map { String(cString: $0) } },
      DescriptorOutput(
        descriptor: STDOUT_FILENO, isEnding: { Interruption.ofProcess.isRaised }),
      DescriptorOutput(descriptor: STDERR_FILENO), .ofProcess)
    let caught = Interruption.ofProcess.signal
    if caught != 0 {
      signal(caught, SIG_DFL)
      raise(caught)
    }
    return code
  }

  /// Runs the tool as a program on the process's own arguments.
  ///
  /// Arguments that are not UTF-8 are rejected. Swift replaces their invalid bytes, so that the
  /// tool could read or write another file.
  public static func main() -> Int32 {
    let given = UnsafeBufferPointer(
      start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)
    ).dropFirst()
    var arguments: [String] = []
    for (place, argument) in given.enumerated() {
      guard let argument, let text = String(validatingCString: argument) else {
        let refusal = ToolError.usage(
          .badArgument,
          "Argument \(place + 1) is not UTF-8, so the tool cannot name what it means.",
          next: "a link to the file under another name")
        let errors = Output(
          DescriptorOutput(descriptor: STDERR_FILENO), interruption: Interruption())
        errors.write(CommandLine.arguments.contains("--json") ? refusal.json : refusal.text)
        errors.flush()
        return refusal.code.rawValue
      }
      arguments.append(text)
    }
    return main(arguments)
  }

  /// Runs the tool on the process's own outputs and environment, and returns its exit code.
  ///
  /// `arguments` are those after the tool's name: `["timeline", path]`. Only `repair --in-place` changes
  /// a journal, under its locks; every other command only reads it and takes no lock. The function
  /// never ends the process.
  public static func run(_ arguments: [String]) -> Int32 {
    // The process's own `print` is buffered. Without this, the tool's output would come before it.
    fflush(nil)
    return run(
      arguments: arguments,
      environment: { name in getenv(name).map { String(cString: $0) } },
      output: DescriptorOutput(descriptor: STDOUT_FILENO),
      errors: DescriptorOutput(descriptor: STDERR_FILENO))
  }

  /// Runs the tool and returns its exit code; `arguments` are those after the tool's name.
  ///
  /// Answers go to `output`, errors and notes to `errors`. If the reader of an output is gone, the
  /// run ends without a message and with code 0. The file `-` is the process's standard input.
  public static func run(
    arguments: [String], environment: @escaping (String) -> String?, output: any TextOutput,
    errors: any TextOutput
  ) -> Int32 {
    run(arguments, environment, output, errors, Interruption())
  }

  private static func run(
    _ arguments: [String], _ environment: @escaping (String) -> String?, _ standard: any TextOutput,
    _ complaints: any TextOutput, _ interruption: Interruption
  ) -> Int32 {
    let output = Output(standard, interruption: interruption)
    // Errors are printed even if the user ended the command.
    let errors = Output(complaints, interruption: Interruption())
    var code = ExitCode.ok
    var failure: ToolError?
    do throws(ToolError) {
      code = try run(arguments, environment, output, errors, interruption)
    } catch {
      failure = error
    }
    // What was written before are whole lines. After a signal, a further write might wait for a
    // reader.
    if interruption.signal == 0 { output.flush() }
    // An error named `output` already reports what was done although the output failed.
    let isReported = failure?.name == .output
    switch output.failure {
    case _ where isReported: break
    case .closed?: return ExitCode.ok.rawValue
    case .refused(let code)?: failure = outputError(code)
    case nil: break
    }
    if let code = interruption.code { return code.rawValue }
    if failure?.name == .interrupted { return ExitCode.ok.rawValue }
    if let failure {
      errors.write(arguments.contains("--json") ? failure.json : failure.text)
      code = failure.code
    }
    errors.flush()
    return code.rawValue
  }

  private static func run(
    _ arguments: [String], _ environment: @escaping (String) -> String?, _ output: Output,
    _ errors: Output, _ interruption: Interruption
  ) throws(ToolError) -> ExitCode {
    guard let name = arguments.first else {
      throw .usage(.missingCommand, "A command is needed.", next: "sessionreplay --help")
    }
    switch name {
    case "--version":
      output.write("sessionreplay \(version)\n")
    case "--help", "-h":
      output.write(HelpText.tool(CommandList.all.map { $0.syntax }))
    case "help":
      if arguments.count > 2 {
        throw .usage(
          .extraOperand, "'help' does not know what to do with '\(arguments[2].shortened)'.",
          next: "sessionreplay help \(arguments[1].shortened)")
      }
      if let word = arguments.dropFirst().first {
        if let topic = HelpText.Topic(rawValue: word) {
          output.write(HelpText.topic(topic))
        } else {
          guard let command = CommandList.command(named: word) else {
            throw unknownCommand(word, isForHelp: true)
          }
          output.write(HelpText.command(command.syntax))
        }
      } else {
        output.write(HelpText.tool(CommandList.all.map { $0.syntax }))
      }
    default:
      let type: any Command.Type
      var rest = arguments
      // The name of a command is always the command: `./state` is a file with such a name.
      if let command = CommandList.command(named: name) {
        type = command
        rest.removeFirst()
      } else if isFile(name) {
        type = WhyCommand.self
      } else {
        throw unknownCommand(name)
      }
      let arguments = try Arguments(rest, syntax: type.syntax)
      guard !arguments.has("help") else {
        output.write(HelpText.command(type.syntax))
        return .ok
      }
      let command = try type.init(arguments)
      let context = ToolContext(
        output: output, errors: errors,
        style: Style(
          command.display.color, isTerminal: output.isTerminal, environment: environment),
        environment: environment, interruption: interruption)
      if command.answersOnOutput, let descriptor = output.descriptor {
        interruption.watch(descriptor)
      }
      let redactor = try command.display.redaction.redactor(
        context, isQuiet: command.display.isJSON)
      return try run(command, arguments.journals, redactor, context)
    }
    return .ok
  }

  private static func run(
    _ command: any Command, _ paths: [String], _ redactor: Redactor, _ context: ToolContext
  ) throws(ToolError) -> ExitCode {
    guard paths.contains("-") else {
      let files = paths.map {
        JournalFile(
          path: $0, name: $0.quotedWhereNeeded, interruption: context.interruption,
          redactor: redactor)
      }
      return try command.run(JournalFile.withOneKey(try forms(of: files, for: command)), context)
    }
    guard paths.count == 1 else {
      throw .usage(
        .tooManyInputs, "Standard input is one journal, and \(paths.count) files were named.",
        next: "- alone, or files alone")
    }
    let input = try StandardInput(context.interruption)
    return try input.withFile { file throws(ToolError) in
      var file = file
      file.redactor = redactor
      return try command.run(try forms(of: [file], for: command), context)
    }
  }

  /// Returns the files in the form that the command needs.
  private static func forms(
    of files: [JournalFile], for command: any Command
  ) throws(ToolError) -> [JournalFile] {
    switch type(of: command).inputs {
    case .converted:
      var converted: [JournalFile] = []
      for file in files { converted.append(try JournalFolder.journal(of: file).readable()) }
      return converted
    case .journals:
      let journals = files.map(JournalFolder.journal)
      for file in journals { try file.requireJournal(for: type(of: command).name) }
      return journals
    case .convertedOneByOne, .other: return files
    }
  }

  /// Whether the first argument, which is no command, is the file of a `why`.
  private static func isFile(_ name: String) -> Bool {
    let suffixes = [".journal", ".jsonl"]
    if name == "-" || name.contains("/") || suffixes.contains(where: name.hasSuffix) { return true }
    guard !name.isEmpty, !name.hasPrefix("-") else { return false }
    do throws(SystemFault) {
      _ = try POSIXFileSystem().status(of: name)
      return true
    } catch {
      return false
    }
  }

  private static func unknownCommand(_ name: String, isForHelp: Bool = false) -> ToolError {
    let topics = isForHelp ? HelpText.Topic.allCases.map(\.rawValue) : []
    let near = Suggestion.nearest(to: name, in: CommandList.order + topics)
    let program = isForHelp ? "sessionreplay help" : "sessionreplay"
    return .usage(
      .unknownCommand,
      name.hasPrefix("-")
        ? "There is no option \(name.shortened) without a command."
        : "There is no command '\(name.shortened)'.",
      next: near.map { "\(program) \($0)" } ?? "sessionreplay --help")
  }

  private static func outputError(_ code: Int32) -> ToolError {
    ToolError(
      .inputOutput, .output,
      "The system refused to write the output: \(systemMessage(code)) (errno \(code)).",
      consequence: "What was printed is not whole.", next: "another place for the output")
  }
}

extension ReplayTool {
  /// Formats an event as one line of a timeline, in UTC and without colour.
  ///
  /// It is for programs that print events as they receive them.
  public static func line(_ recorded: RecordedEvent) -> String {
    let words = RecordFormatter(zone: .utc, style: Style(isColored: false))
    return words.line(
      SessionRecord(
        sequence: recorded.sequence, time: recorded.time, content: .event(recorded.event)))
  }
}
