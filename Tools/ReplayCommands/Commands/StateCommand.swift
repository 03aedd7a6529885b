internal import SessionCore
internal import SessionJournal

/// `state`: what the records add up to.
struct StateCommand: Command {
  static let syntax = CommandSyntax(
    name: "state", summary: "Show the session's state, at the end or at any record",
    discussion: """
      Folds the events from the first record to the last, or to the one that --at selects (@0 is
      before the first). Of the token only its facts are known; the journal does not hold it.

      \(HelpText.selectors)
      """,
    operands: operands,
    options: [
      .init(name: "at", value: "SELECTOR", help: "As of this record, or the last at or before it"),
      DisplayOptions.json,
    ] + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay state a.journal", help: "At the end"),
      .init(line: "sessionreplay state a.journal --at @412", help: "After record 412"),
      .init(line: "sessionreplay state a.journal --at -5m", help: "Five minutes before the end"),
      .init(line: "sessionreplay state a.journal --at 14:02 --local", help: "By the clock here"),
    ])

  let display: DisplayOptions
  private let at: Selector?

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    at = try arguments.selector("at")
  }

  func run(on file: JournalFile, printer: Printer, style: Style) throws(ToolError) {
    var target: UInt64?
    if let at {
      target = try SelectorResolver(file: file, zone: display.zone)
        .resolve([(at, .atOrBefore)]).first
    }
    var snapshot = StateSnapshot()
    var illegal: JournalFault?
    let pass = try file.visit { entry in
      if let target, entry.record.sequence > target { return false }
      do throws(SessionFold.Failure) {
        try snapshot.apply(entry.record)
        return true
      } catch {
        illegal = JournalFault(error, at: entry.place)
        return false
      }
    }
    let fault = illegal ?? pass.fault
    if fault?.code != .damaged, case .sequence(let wanted)? = at,
      wanted > pass.totals.lastSequence
    {
      throw .usage(
        "beyondTheEnd",
        "\(file.name) has no record @\(wanted); the last sequence is \(pass.totals.lastSequence).",
        next: "--at @-1")
    }
    printer.print(
      display.isJSON
        ? snapshot.json(journal: pass.header.identifier.description)
        : StateWords(snapshot: snapshot, zone: display.zone, style: style).text)
    guard let fault else { return }
    throw fault.error(
      file.name, consequence: "The state shown is as of seq \(snapshot.fold.sequence).")
  }
}
