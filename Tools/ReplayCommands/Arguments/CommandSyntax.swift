/// What a command takes: its help, and the rules that its arguments are read by.
struct CommandSyntax: Equatable, Sendable {
  /// Something that is named by `--name`.
  struct Option: Equatable, Sendable {
    let name: String
    var letter: Character?
    /// What stands for its value in the help; `nil` for an option without one.
    var value: String?
    /// What its value may be.
    var values = Values.free
    let help: String

    /// Whether two values would look as if both counted: lists of words, and what figures are grouped by.
    var isOnce: Bool {
      switch values {
      case .kinds, .reasons: true
      case .words: name == "by"
      case .free, .selector, .path, .journal: false
      }
    }
  }

  /// What may be written for an option or operand, as far as it can be told beforehand: what completions
  /// offer, and what near misses are taken from.
  enum Values: Equatable, Sendable {
    case free
    case selector
    /// Names of records and classes of them.
    case kinds
    /// Words for why something ended or failed.
    case reasons
    /// A file that is not a journal, or one that is to be made.
    case path
    case journal
    case words([String])
  }

  /// How many there are of an operand.
  enum Arity: Equatable, Sendable {
    case one
    case optional
    /// One or more.
    case many
  }

  /// Something that is told by its place.
  struct Operand: Equatable, Sendable {
    let name: String
    var arity = Arity.one
    var values = Values.journal
    let help: String

    /// As the usage line has it.
    var spelling: String {
      switch arity {
      case .one: name
      case .optional: "[\(name)]"
      case .many: "\(name)..."
      }
    }
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
    Option(
      name: "color", value: "WHEN", values: .words(["auto", "always", "never"]),
      help: "auto, always or never; auto asks the terminal"),
    Option(name: "help", letter: "h", help: "Show this help"),
  ]

  var allOptions: [Option] { options + Self.common }
}
