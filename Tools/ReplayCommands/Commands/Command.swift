/// A command of the tool: parses its arguments, then answers about journals.
protocol Command: Sendable {
  /// The word that selects the command.
  ///
  /// It is apart from the syntax: a start compares all names, but makes only one syntax.
  static var name: String { get }
  static var syntax: CommandSyntax { get }

  init(_ arguments: Arguments) throws(ToolError)

  var display: DisplayOptions { get }

  /// The form in which the command needs its files.
  static var inputs: CommandInputs { get }

  /// Whether the answer goes to standard output, so that the command can end if that is closed.
  var answersOnOutput: Bool { get }

  /// Prints the answer about the journals that the operands name, and returns the exit code.
  ///
  /// If the answer cannot be complete, it prints what there is and then throws the reason.
  func run(_ files: [JournalFile], _ context: ToolContext) throws(ToolError) -> ExitCode
}

/// The form in which a command needs its files.
enum CommandInputs {
  /// Journals. Exports and compressed files are converted before the command runs.
  case converted
  /// Journals. The command converts each file when it reads it, since there may be thousands.
  case convertedOneByOne
  /// Nothing but journals, since the command needs their own bytes.
  case journals
  /// Files of another kind.
  case other
}

/// A command about one journal.
protocol JournalCommand: Command {
  /// Prints the answer.
  ///
  /// If the answer cannot be complete, it prints what there is and then throws the reason.
  func run(on file: JournalFile, _ context: ToolContext) throws(ToolError)
}

extension JournalCommand {
  func run(_ files: [JournalFile], _ context: ToolContext) throws(ToolError) -> ExitCode {
    for file in files { try run(on: file, context) }
    return .ok
  }
}

extension Command {
  var answersOnOutput: Bool { true }

  static var inputs: CommandInputs { .converted }

  static var operands: [CommandSyntax.Operand] {
    [CommandSyntax.Operand(name: "FILE", help: "A journal or its folder; - reads standard input")]
  }
}

extension Arguments {
  /// Returns the selector that is an option's value.
  func selector(_ option: String) throws(ToolError) -> Selector? {
    guard let text = value(option) else { return nil }
    guard let selector = Selector(text) else {
      throw .usage(
        .badSelector, "--\(option) cannot be '\(text.shortened)': that is no selector.",
        next: Selector.nearest(to: text).map { "--\(option) \($0)" }
          ?? Selector.forms)
    }
    return selector
  }
}
