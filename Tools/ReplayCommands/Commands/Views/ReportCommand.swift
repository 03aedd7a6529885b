internal import SessionExplain
internal import SessionJSON

/// `report`: writes one HTML page that shows journals, to be read and sent on.
struct ReportCommand: Command {
  static let inputs = CommandInputs.convertedOneByOne

  static let name = "report"
  static let syntax = CommandSyntax(
    name: name, summary: "Write one HTML page that shows journals over time, with every why",
    discussion: """
      The page is one file: lanes of states, tokens, refreshes and failures over time, why each
      session ended, and a table of records with a filter. Of many journals it begins with the
      causes of all ends, by app version and by day. It loads nothing and sends nothing, can be read from
      a disk or a mail, also without its script. Names, users and identifiers are pseudonyms unless
      --reveal is given: a name has the same one on the whole page. With --key-file it has the same
      on each page. Of a damaged file it shows what can be read, and names it; the exit code is 0
      then, with --strict 65.
      """,
    operands: [
      .init(
        name: "FILE", arity: .many, help: "Journals, or folders of them; - reads standard input")
    ],
    options: [
      .init(
        name: "output", letter: "o", value: "OUT", values: .path,
        help: "The page, of mode 0600; - for standard output"),
      .init(name: "force", help: "Replace OUT if it is there"),
      .init(name: "title", value: "TEXT", help: "The page's title; without it, \(defaultTitle)"),
      .init(name: "reveal", help: "Show names and identifiers as they are"),
      RedactionOptions.keyFile, DisplayOptions.strict, DisplayOptions.json,
    ] + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay report a.journal -o report.html", help: "One journal"),
      .init(
        line: "sessionreplay report . -o all.html --title Monday",
        help: "All journals of this folder"),
    ])

  private static let defaultTitle = "Session report"

  let display: DisplayOptions
  private let path: String
  private let isForced: Bool
  private let isStrict: Bool
  private let title: String
  private let isRevealed: Bool

  init(_ arguments: Arguments) throws(ToolError) {
    isRevealed = arguments.has("reveal")
    display = try DisplayOptions(arguments, names: isRevealed ? .none : .all)
    guard let path = arguments.value("output"), !path.isEmpty else {
      throw .usage(
        .noOutput, "'report' writes a page, and --output does not say where.",
        next: "-o report.html")
    }
    self.path = path
    isForced = arguments.has("force")
    isStrict = arguments.has("strict")
    title = arguments.value("title") ?? Self.defaultTitle
  }

  var answersOnOutput: Bool { path == "-" }

  func run(_ files: [JournalFile], _ context: ToolContext) throws(ToolError) -> ExitCode {
    let all = try JournalFolder.expanded(files, isQuiet: display.isJSON, context)
    let isWatched = context.value(of: .terminal) != "dumb"
    let outcome = ReportReading(
      zone: display.zone, interruption: context.interruption
    ).read(all, ProgressBar(isWatched ? context.errors : nil))
    guard !context.interruption.isRaised else { return .ok }
    // If no file could be read, there is nothing to show, so no page is written.
    if outcome.files.read == 0, let error = outcome.files.errors.first { throw error }
    try outcome.files.check(isJSON: display.isJSON, context)
    let page = ReportPage(
      title: title, journals: outcome.journals, totals: outcome.totals, figures: outcome.figures,
      ends: outcome.ends, problems: outcome.problems, isRevealed: isRevealed, zone: display.zone,
      version: ToolContext.version)
    try write(page, all.files, context)
    if !display.isJSON {
      context.output.flush()
      outcome.files.list(isJSON: false, context)
    }
    return outcome.files.code(isStrict: isStrict)
  }

  private func write(_ page: ReportPage, _ files: [JournalFile], _ context: ToolContext)
    throws(ToolError)
  {
    let inputs = files.map(\.givenPath)
    let bytes = try OutputFile.write(
      to: path, overwrite: isForced, inputs: inputs, context
    ) { output throws(ToolError) in
      var bytes = 0
      page.write { part in
        bytes += part.utf8.count
        output.write(part)
      }
      return bytes
    }
    guard path != "-" else { return }
    context.output.write(display.isJSON ? json(page, bytes) : words(page, bytes))
  }

  private func words(_ page: ReportPage, _ bytes: Int) -> String {
    var text =
      "\(path.quotedWhereNeeded.printable): \(count(page.totals.journals, "journal")), "
      + "\(count(bytes, "byte"))"
    let problems = page.problems.sentences.count
    if problems > 0 { text += ", \(count(problems, "file")) with problems" }
    return text + "\n"
  }

  private func json(_ page: ReportPage, _ bytes: Int) -> String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("file", path)
      json.field("bytes", bytes)
      json.field("journals", page.totals.journals)
      json.array("problems", page.problems.sentences) { $0.value($1) }
    }
    return json.text + "\n"
  }
}
