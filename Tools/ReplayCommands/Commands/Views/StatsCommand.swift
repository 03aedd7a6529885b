@_spi(Internals) internal import SessionCore
internal import SessionExplain

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// `stats`: prints figures over one journal or thousands.
struct StatsCommand: Command {
  private static let groupings = StatsGrouping.allCases.map(\.rawValue)

  static let syntax = CommandSyntax(
    name: "stats", summary: "Count sessions, ends, refreshes and times over many journals",
    discussion: """
      How many sessions began, how they ended, how many refreshes succeeded or failed and how long
      they took, how long a failing session took to recover, how long sessions lasted. A file that
      is damaged counts with its good prefix and is named; it never stops the count. In place of a
      folder, every *.journal in it counts (not below). What each figure is: Specs/ReplayStats.md.
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
      .init(
        name: "jobs", value: "N", help: "Read N files at a time; without it, one per processor"),
      .init(name: "no-progress", help: "No progress bar on a terminal"),
      DisplayOptions.json,
    ] + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay stats a.journal", help: "One journal"),
      .init(line: "sessionreplay stats . --by day", help: "All journals of this folder, by day"),
      .init(
        line: "sessionreplay stats . --by reason --json",
        help: "For programs, by how sessions ended"),
    ])

  let display: DisplayOptions
  private let grouping: StatsGrouping?
  private let since: Selector?
  private let until: Selector?
  private let jobs: Int
  private let hasProgress: Bool

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    since = try arguments.selector("since")
    until = try arguments.selector("until")
    hasProgress = !arguments.has("no-progress")
    grouping = try Self.grouping(arguments.value("by"))
    jobs = try Self.jobs(arguments.value("jobs"))
  }

  private static func grouping(_ word: String?) throws(ToolError) -> StatsGrouping? {
    guard let word else { return nil }
    if let known = StatsGrouping(rawValue: word) { return known }
    let near = Suggestion.nearest(to: word, in: groupings)
    throw .usage(
      .badValue, "--by cannot be '\(word.shortened)'.",
      next: near.map { "--by \($0)" } ?? "one of \(groupings.joined(separator: ", "))")
  }

  private static func jobs(_ text: String?) throws(ToolError) -> Int {
    guard let text else { return min(64, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
    if let number = Int(text), (1...64).contains(number) { return number }
    throw .usage(
      .badValue, "--jobs cannot be '\(text.shortened)': a number from 1 to 64 is needed.",
      next: "--jobs 2")
  }

  func run(_ files: [JournalFile], _ context: ToolContext) throws(ToolError) -> ExitCode {
    let all = try JournalFile.sessions(
      among: try JournalFolder.expanded(files), display, context)
    let isWatched = hasProgress && context.value(of: .terminal) != "dumb"
    let reading = StatsReading(
      files: all, grouping: grouping, since: since, until: until, zone: display.zone,
      interruption: context.interruption)
    let outcome = reading.run(jobs: jobs, ProgressBar(isWatched ? context.errors : nil))
    // The user might take an incomplete count for a complete one.
    guard !context.interruption.isRaised else { return .ok }
    // For a single file, its error is reported as other commands do.
    let error = all.count == 1 ? outcome.errors.first : nil
    if let error, outcome.report.read == 0 { throw error }
    context.output.write(text(outcome.report, context.style))
    if let error { throw error }
    return outcome.code
  }

  private func text(_ report: StatsReport, _ style: Style) -> String {
    if display.isJSON { return report.json(grouping: grouping) }
    return StatsFormatter(
      report: report, grouping: grouping, zone: { [display] in display.zone.text($0) },
      heading: { style.bold($0) }, warning: { style.red($0) }
    ).text
  }
}
