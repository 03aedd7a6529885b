internal import SessionExplain

/// The display options, which all commands share.
struct DisplayOptions: Sendable {
  let isJSON: Bool
  let zone: TimeZoneChoice
  let color: Style.Choice
  let redaction: RedactionOptions

  static let json = CommandSyntax.Option(
    name: "json", help: "Write JSON for programs; times are always UTC then")
  static let zones = [
    CommandSyntax.Option(name: "utc", help: "Show and read times in UTC, marked Z (the default)"),
    CommandSyntax.Option(name: "local", help: "Show and read times in this computer's zone"),
  ]

  /// `names` says which names are pseudonyms without an option.
  init(_ arguments: Arguments, names: RedactionOptions.Standard = .none) throws(ToolError) {
    redaction = try RedactionOptions(arguments, standard: names)
    isJSON = arguments.has("json")
    guard !(arguments.has("utc") && arguments.has("local")) else {
      throw .usage(
        .conflict, "--utc and --local exclude each other.", next: "only one of them")
    }
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
