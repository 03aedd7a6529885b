internal import SessionExplain

/// The help of the tool, of each command, and of topics that commands have in common.
enum HelpText {
  /// The topics of `help` in addition to the commands.
  enum Topic: String, CaseIterable {
    case selectors = "selectors"
    case kinds = "kinds"
    case reasons = "reasons"
    case codes = "codes"
  }

  static func topic(_ topic: Topic) -> String {
    switch topic {
    case .selectors:
      selectors + "\n\n" + """
        A time means a record: --since the first one at or after it, --at, --from, --to and --until
        the last one at or before it. 14:02 is a time in UTC, with --local in this computer's zone; a
        time with its date names its zone: Z, or an offset such as +01:00. Where @0 is allowed, it is
        before the first record.

        """
    case .kinds:
      "Kinds of records, for --kind and --until-kind, with commas between them:\n"
        + wrapped(KindFilter.known)
        + "The first \(KindFilter.classes.count) are classes. Events change the state, notes explain.\n"
    case .reasons:
      "Reasons, for --reason, with commas between them:\n" + wrapped(ReasonFilter.known)
        + "A server's own codes are reasons too, in any case: TOKEN_EXPIRED, invalid_grant.\n"
    case .codes:
      "Exit codes:\n" + codes
    }
  }

  private static var codes: String {
    table(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) })
  }

  private static func wrapped(_ words: [String]) -> String {
    var (text, line) = ("", " ")
    for word in words {
      if line.count + word.count > 90 {
        text += line + "\n"
        line = " "
      }
      line += " " + word
    }
    return text + line + "\n"
  }

  static func tool(_ commands: [CommandSyntax]) -> String {
    var text = """
      sessionreplay tells what happened in a session, from its journal.

      Usage: sessionreplay COMMAND [OPTIONS] FILE

      Commands:

      """
    text += table(commands.map { ($0.name, $0.summary) })
    text += """

      Options:
        -h, --help   Show this help; after a command, the command's
        --version    Show the version

      FILE is a journal; - reads it from standard input. Journals are only read, but by repair
      --in-place, and no lock is taken, so a journal may be read while an app writes it.
      sessionreplay help selectors, kinds, reasons or codes tells of those.

      Exit codes:

      """
    return text + codes
  }

  static func command(_ syntax: CommandSyntax) -> String {
    let operands = syntax.operands.map { " \($0.spelling)" }.joined()
    var text = """
      \(syntax.summary)

      Usage: sessionreplay \(syntax.name) [OPTIONS]\(operands)

      \(syntax.discussion)

      """
    if !syntax.operands.isEmpty {
      text += "\nOperands:\n" + table(syntax.operands.map { ($0.name, $0.help) })
    }
    text += "\nOptions:\n" + table(syntax.allOptions.map { (spelling($0), $0.help) })
    if !syntax.examples.isEmpty {
      text += "\nExamples:\n" + table(syntax.examples.map { ($0.line, $0.help) })
    }
    return text
  }

  static let selectors = """
    A SELECTOR is @412 (a sequence), @-1 (the last record, @-2 the one before it), a time
    (2026-11-21T14:02:05Z, or 14:02 or 14:02:05 on the last record's day, or the day before where
    that is still to come), or a time before the last record: -90s, -5m, -3h, -2d, -1h30m.
    """

  private static func spelling(_ option: CommandSyntax.Option) -> String {
    var text = option.letter.map { "-\($0), " } ?? ""
    text += "--\(option.name)"
    if let value = option.value { text += " \(value)" }
    return text
  }

  private static func table(_ rows: [(String, String)]) -> String {
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { "  \($0.0.padded(to: width))   \($0.1)\n" }.joined()
  }
}
