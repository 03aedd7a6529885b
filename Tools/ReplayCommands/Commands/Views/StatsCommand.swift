@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// `stats`: prints figures over one journal or thousands.
struct StatsCommand: Command {
  private static let groupings = StatsGrouping.allCases.map(\.rawValue)

  static let inputs = CommandInputs.convertedOneByOne

  static let name = "stats"
  static let syntax = CommandSyntax(
    name: name, summary: "Count sessions, ends, refreshes and times over many journals",
    discussion: """
      How many sessions began, how they ended, how many refreshes succeeded or failed and how long
      they took, how long a failing session took to recover, how long sessions lasted. A file that
      is damaged counts with all that can be read, and is named; the exit code is 0 then, with
      --strict 65.
      What each figure is: Specs/ReplayStats.md.
      A SELECTOR selects in each journal by that journal's own records.
      """,
    operands: [
      .init(
        name: "FILE", arity: .many, help: "Journals, or folders of them; - reads standard input")
    ],
    options: [
      .init(
        name: "by", value: "WHAT", values: .words(groupings),
        help: "Figures also for each \(groupings.joined(separator: ", "))"),
      .init(
        name: "since", value: "SELECTOR", values: .selector,
        help: "Count only what happened from there"),
      .init(
        name: "until", value: "SELECTOR", values: .selector,
        help: "Count only what happened up to there"),
      DisplayOptions.strict, DisplayOptions.json,
    ] + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay stats a.journal", help: "One journal"),
      .init(line: "sessionreplay stats . --by day", help: "All journals of this folder, by day"),
      .init(
        line: "sessionreplay stats . --by cause --json",
        help: "For programs, by why sessions ended"),
    ])

  let display: DisplayOptions
  private let grouping: StatsGrouping?
  private let since: Selector?
  private let until: Selector?
  private let isStrict: Bool

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    since = try arguments.selector("since")
    until = try arguments.selector("until")
    isStrict = arguments.has("strict")
    grouping = try Self.grouping(arguments.value("by"))
  }

  private static func grouping(_ word: String?) throws(ToolError) -> StatsGrouping? {
    guard let word else { return nil }
    if let known = StatsGrouping(rawValue: word) { return known }
    let near = Suggestion.nearest(to: word, in: groupings)
    throw .usage(
      .badValue, "--by cannot be '\(word.shortened)'.",
      next: near.map { "--by \($0)" } ?? "one of \(groupings.joined(separator: ", "))")
  }

  func run(_ files: [JournalFile], _ context: ToolContext) throws(ToolError) -> ExitCode {
    let isWatched = context.value(of: .terminal) != "dumb"
    let reading = StatsReading(
      files: try JournalFolder.expanded(files, isQuiet: display.isJSON, context),
      grouping: grouping, since: since,
      until: until, zone: display.zone, interruption: context.interruption)
    let outcome = reading.run(ProgressBar(isWatched ? context.errors : nil))
    // The user might take an incomplete count for a complete one.
    guard !context.interruption.isRaised else { return .ok }
    // The answer names the files itself. A failure also names the next step.
    try outcome.files.check(isJSON: display.isJSON, context)
    context.output.write(text(outcome.report, context.style))
    let code = outcome.files.code(isStrict: isStrict)
    if code != .ok, !display.isJSON {
      // The answer has named the files.
      context.output.flush()
      outcome.files.list(isJSON: false, isNamed: true, context)
    }
    return code
  }

  private func text(_ report: StatsReport, _ style: Style) -> String {
    if display.isJSON { return report.json(grouping: grouping) }
    return StatsFormatter(
      report: report, grouping: grouping, zone: { [display] in display.zone.text($0) },
      heading: { style.bold($0) }, warning: { style.red($0) }
    ).text
  }
}
