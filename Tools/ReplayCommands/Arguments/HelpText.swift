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
      selectors
    case .kinds:
      "Kinds of records, for --kind and --until-kind, with commas between them:\n"
        + list(KindFilter.known)
        + "The first \(KindFilter.classes.count) are classes. Events change the state, notes explain.\n"
    case .reasons:
      "Reasons, for --reason, with commas between them:\n" + list(ReasonFilter.known)
        + "A server's codes are reasons too, in any case: TOKEN_EXPIRED, invalid_grant.\n"
    case .codes:
      "Exit codes:\n" + codes
    }
  }

  private static var codes: String {
    table(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) })
  }

  /// Returns words as indented lines.
  private static func list(_ words: [String]) -> String {
    wrapped(words, to: columns - 2).map { "  \($0)\n" }.joined()
  }

  /// Returns paragraphs in lines of the help's width; indented paragraphs stay as they are.
  private static func discussion(_ text: String) -> String {
    text.split(separator: "\n\n").map { paragraph in
      guard !paragraph.hasPrefix("  ") else { return String(paragraph) }
      let words = paragraph.split { $0 == " " || $0 == "\n" }.map(String.init)
      return wrapped(words, to: columns).joined(separator: "\n")
    }.joined(separator: "\n\n")
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

      FILE is a journal; - reads it from standard input. sessionreplay FILE is short
      for sessionreplay why FILE. Only repair --in-place changes a journal. No lock is
      taken, so a journal may be read while an app writes it.
      More help: sessionreplay help selectors, kinds, reasons or codes

      Exit codes:

      """
    return text + codes
  }

  static func command(_ syntax: CommandSyntax) -> String {
    let operands = syntax.operands.map { " \($0.spelling)" }.joined()
    var text = """
      \(syntax.summary)

      Usage: sessionreplay \(syntax.name) [OPTIONS]\(operands)

      \(discussion(syntax.discussion))

      """
    if !syntax.operands.isEmpty {
      text += "\nOperands:\n" + table(syntax.operands.map { ($0.name, $0.help) })
    }
    text += "\nOptions:\n" + table(syntax.allOptions.map { (spelling($0), $0.help) })
    if let value = syntax.options.first(where: { $0.values == .selector })?.value {
      text += "\nWhat a \(value) is: sessionreplay help selectors\n"
    }
    if !syntax.examples.isEmpty {
      text += "\nExamples:\n" + table(syntax.examples.map { ($0.line, $0.help) })
    }
    return text
  }

  private static let selectors =
    """
    A SELECTOR selects a record of a journal:

    """
    + table([
      ("412, @412", "the record with this sequence"),
      ("@-1", "the last record; @-2 the one before it"),
      ("today, yesterday", "a day of this computer's clock"),
      ("2026-11-21", "a day"),
      ("2026-11-21 14:02", "a time of a day; also 'today 14:02', 14:02:05 and 14:02:05.250"),
      ("14:02", "that time on the last record's day; the day before if it is later"),
      ("2026-11-21T14:02:05Z", "a time with its zone: Z, or an offset such as +01:00"),
      ("-90s, -1h30m", "so long before the last record; units ms, s, m, h, d"),
    ]) + """

      A time selects a record. --since selects the first one at or after it; --at,
      --from, --to and --until the last one at or before it. A day selects its first
      record for --since, and its last record for the others. Days and times without a
      zone are in UTC, or with --local in this computer's zone. @0 is the place before
      the first record.

      """

  private static func spelling(_ option: CommandSyntax.Option) -> String {
    var text = option.letter.map { "-\($0), " } ?? ""
    text += "--\(option.name)"
    if let value = option.value { text += " \(value)" }
    return text
  }

  /// The number of columns that a help is made for.
  static let columns = 80

  /// Returns two columns; a long text goes on in its column, or below a long name.
  private static func table(_ rows: [(String, String)]) -> String {
    let longest = rows.map(\.0.count).max() ?? 0
    // A text needs some room beside the names; the texts of longer names are below them.
    let width = longest <= 30 ? longest : rows.map(\.0.count).filter { $0 <= 24 }.max() ?? 4
    return rows.map { name, text in
      let isBeside = name.count <= width
      let start = isBeside ? "  \(name.padded(to: width))   " : "  \(name)\n"
      let margin = String(repeating: " ", count: width + 5)
      let lines = wrapped(text.split(separator: " ").map(String.init), to: columns - width - 5)
      return start + (isBeside ? "" : margin) + lines.joined(separator: "\n" + margin) + "\n"
    }.joined()
  }

  /// Returns the words in lines of at most this length; a longer word has a line of its own.
  private static func wrapped(_ words: [String], to length: Int) -> [String] {
    var lines: [String] = []
    for word in words {
      if let last = lines.last, last.count + word.count < length {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(word)
      }
    }
    return lines
  }
}
