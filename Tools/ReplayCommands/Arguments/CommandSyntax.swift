/// What a command takes: its help, and the rules that its arguments are read by.
struct CommandSyntax: Equatable, Sendable {
  /// Something that is named by `--name`.
  struct Option: Equatable, Sendable {
    let name: String
    var letter: Character?
    /// What stands for its value in the help; `nil` for an option without one.
    var value: String?
    let help: String
  }

  /// Something that is told by its place.
  struct Operand: Equatable, Sendable {
    let name: String
    let help: String
  }

  /// A command line and what it does.
  struct Example: Equatable, Sendable {
    let line: String
    let help: String
  }

  let name: String
  /// One line for the list of commands.
  let summary: String
  /// Paragraphs for the command's own help.
  let discussion: String
  let operands: [Operand]
  let options: [Option]
  let examples: [Example]

  /// Options that every command has.
  static let common = [
    Option(name: "color", value: "WHEN", help: "auto, always or never; auto asks the terminal"),
    Option(name: "help", letter: "h", help: "Show this help"),
  ]

  var allOptions: [Option] { options + Self.common }
}
