internal import SessionExplain

/// What a command accepts: its help, and the rules by which its arguments are parsed.
struct CommandSyntax: Equatable, Sendable {
  /// An argument that is given as `--name`.
  struct Option: Equatable, Sendable {
    let name: String
    var letter: Character?
    /// The name of its value in the help; `nil` for an option without a value.
    var value: String?
    /// The values that it accepts.
    var values = Values.free
    /// Whether the command answers without a file if it is given.
    var isAlone = false
    let help: String

    /// Whether two values might seem to count together: lists of words, and what figures are
    /// grouped by.
    var isOnce: Bool {
      switch values {
      case .kinds, .reasons: true
      case .words: name == "by"
      case .free, .selector, .path, .journal: false
      }
    }
  }

  /// The values that an option or operand accepts, as far as they are known in advance.
  ///
  /// Suggestions for misspelled values are taken from them.
  enum Values: Equatable, Sendable {
    case free
    case selector
    /// Names of records, and classes of records.
    case kinds
    /// Reasons of an end or a failure.
    case reasons
    /// A file that is not a journal, or a file to be created.
    case path
    case journal
    case words([String])
  }

  /// How often an operand may be given.
  enum Arity: Equatable, Sendable {
    case one
    case optional
    /// One or more.
    case many
  }

  /// An argument that is identified by its position.
  struct Operand: Equatable, Sendable {
    let name: String
    var arity = Arity.one
    var values = Values.journal
    let help: String

    /// Its form in the usage line.
    var spelling: String {
      switch arity {
      case .one: name
      case .optional: "[\(name)]"
      case .many: "\(name)..."
      }
    }
  }

  /// A command line, and what it does.
  struct Example: Equatable, Sendable {
    let line: String
    let help: String
  }

  let name: String
  /// One line in the list of commands.
  let summary: String
  /// Paragraphs of the command's own help.
  let discussion: String
  let operands: [Operand]
  let options: [Option]
  let examples: [Example]

  /// The options of every command.
  static let common = [
    Option(
      name: "color", value: "WHEN", values: .words(["auto", "always", "never"]),
      help: "auto, always or never; auto asks the terminal"),
    Option(name: "help", letter: "h", isAlone: true, help: "Show this help"),
  ]

  var allOptions: [Option] { options + Self.common }
}

/// The display options, which all commands share.
struct DisplayOptions: Sendable {
  let isJSON: Bool
  let zone: TimeZoneChoice
  let color: Style.Choice
  let redaction: RedactionOptions

  static let json = CommandSyntax.Option(
    name: "json", help: "Write JSON for programs; times are always UTC then")
  static let strict = CommandSyntax.Option(
    name: "strict", help: "Exit with 65 if a file is damaged, with 2 if a tail is unfinished")
  static let zones = [
    CommandSyntax.Option(
      name: "local", help: "Show and read times in this computer's zone, not UTC")
  ]

  /// `names` says which names are pseudonyms without an option.
  init(_ arguments: Arguments, names: RedactionOptions.Standard = .none) throws(ToolError) {
    redaction = try RedactionOptions(arguments, standard: names)
    isJSON = arguments.has("json")
    zone = arguments.has("local") ? .local : .utc
    let word = arguments.value("color") ?? "auto"
    guard let choice = Style.Choice(rawValue: word) else {
      let known = Style.Choice.allCases.map(\.rawValue)
      throw .usage(
        .badValue, "--color cannot be '\(word.shortened)'.",
        next: "--color \(Suggestion.nearest(to: word, in: known) ?? "auto")")
    }
    color = choice
  }
}
