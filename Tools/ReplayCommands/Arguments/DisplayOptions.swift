internal import SessionExplain

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
