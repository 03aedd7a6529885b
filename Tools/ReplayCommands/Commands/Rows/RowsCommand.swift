internal import SessionExplain
internal import SessionJSON

/// A command that writes a row for each of something in many journals.
protocol RowsCommand: Command {
  associatedtype Fold: RowsFold

  /// The columns of its rows in their order.
  static var columns: [RowColumn] { get }
  var options: RowsOptions { get }
}

/// The arguments of a command that writes rows.
struct RowsOptions: Sendable {
  static let json = CommandSyntax.Option(
    name: "json", help: "Write errors as JSON, too; rows always are")

  static let all =
    RowWindow.options + [RowSchema.option, DisplayOptions.strict, json] + RedactionOptions.options

  static let operands = [
    CommandSyntax.Operand(
      name: "FILE", arity: .many, help: "Journals, or folders of them; - reads standard input")
  ]

  /// What the help of each command says after what its rows are.
  static let discussion = """
    The user is always a pseudonym. The columns are in Specs/ReplayRows.md.

    An engine that guesses types damages rows: 1.10 becomes 1.1. --schema writes the columns with their
    types, as read_ndjson of DuckDB and polars, file() of ClickHouse and read_json of pandas take them.

    TIME is a day or a time of day, or -3h, which is three hours before now.

    After damage it reads on, as why does. Damaged files are named on standard error, and the exit
    code is 0; with --strict it is 65.
    """

  let display: DisplayOptions
  let window: RowWindow
  let schema: RowSchema?
  let isStrict: Bool

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments, names: .users)
    window = try RowWindow(arguments, display.zone)
    schema = try RowSchema(arguments)
    isStrict = arguments.has("strict")
  }
}

extension RowsCommand {
  static var inputs: CommandInputs { .convertedOneByOne }

  var display: DisplayOptions { options.display }

  func run(_ files: [JournalFile], _ context: ToolContext) throws(ToolError) -> ExitCode {
    if let schema = options.schema {
      context.output.write(schema.line(of: Self.columns) + "\n")
      return .ok
    }
    let all = try JournalFolder.expanded(files, isQuiet: display.isJSON, context)
    let window = options.window
    let reading = RowsReading<Fold, [UInt8]>(interruption: context.interruption) { rows, source in
      var json = JSONWriter()
      for row in rows where window.includes(row.moment) {
        row.write(to: &json, of: source)
        json.endLine()
      }
      return Array(json.bytes)
    }
    let outcome = reading.read(all) { lines in
      context.output.write(lines)
      return context.output.isOpen
    }
    guard context.output.isOpen else { return .ok }
    context.output.flush()
    return try outcome.report(isStrict: options.isStrict, isJSON: display.isJSON, context)
  }
}

/// `ends`: writes a row for each session that ended or is open.
struct EndsCommand: RowsCommand {
  typealias Fold = SessionRows

  static let columns = SessionRow.columns
  static let name = "ends"
  static let syntax = CommandSyntax(
    name: name, summary: "Write a row for each end of a session, for a database",
    discussion: """
      Writes one line of JSON for each session that ended, and for each session that is open at the
      end of its journal: when it began and ended, the cause and how sure it is, the app's version,
      and figures about its refreshes. A journal in which no user logged in has no row. An end counts
      by its time, and an open session by its login.
      \(RowsOptions.discussion)
      """,
    operands: RowsOptions.operands, options: RowsOptions.all,
    examples: [
      .init(line: "sessionreplay ends .", help: "All journals of this folder"),
      .init(
        line: "sessionreplay ends . | jq -r .cause | sort | uniq -c",
        help: "The number of each cause"),
      .init(
        line: "sessionreplay ends . --since yesterday --until yesterday",
        help: "What ended yesterday"),
    ])

  let options: RowsOptions

  init(_ arguments: Arguments) throws(ToolError) { options = try RowsOptions(arguments) }
}

/// `refreshes`: writes a row for each refresh request.
struct RefreshesCommand: RowsCommand {
  typealias Fold = RefreshRows

  static let columns = RefreshRow.columns
  static let name = "refreshes"
  static let syntax = CommandSyntax(
    name: name, summary: "Write a row for each refresh request, for a database",
    discussion: """
      Writes one line of JSON for each request with a refresh token: when it was sent and why, how it
      ended, how long it took, and under which version of the app. It counts by the time of the request.
      \(RowsOptions.discussion)
      """,
    operands: RowsOptions.operands, options: RowsOptions.all,
    examples: [
      .init(line: "sessionreplay refreshes .", help: "All journals of this folder"),
      .init(
        line: "sessionreplay refreshes . | jq -r '[.app, .outcome] | @tsv' | sort | uniq -c",
        help: "The outcomes by version"),
    ])

  let options: RowsOptions

  init(_ arguments: Arguments) throws(ToolError) { options = try RowsOptions(arguments) }
}
