@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// `step`: a debugger in the terminal that moves forward and back.
struct StepCommand: JournalCommand {
  static let name = "step"
  static let syntax = CommandSyntax(
    name: name, summary: "Go through the records in the terminal, forward and back",
    discussion: """
      Shows the records and, beside them, the state after the selected one, with what
      it changed. Begins at the last end of a session.

        → ←   one record on, one back     e E   the next end of a session, one back
        /     search                      :     go to a selector
        n N   next event, one back        w     why the session ended
        H     all keys                    q     leave

      A journal may be written while it is shown: new records come to the end.
      """,
    operands: operands,
    options: [
      .init(
        name: "at", value: "SELECTOR", values: .selector,
        help: "Begin at this record, or the last at or before it"),
      .init(
        name: "kind", value: "KIND,...", values: .kinds,
        help: "n and N stop at these: names of records, or event, note, snapshot, unknown"),
    ] + RedactionOptions.options + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay step a.journal", help: "From the last end of a session"),
      .init(line: "sessionreplay step a.journal --at -5m", help: "Five minutes before the end"),
      .init(
        line: "sessionreplay step a.journal --kind requestSent", help: "n goes to the next request"),
    ])

  let display: DisplayOptions
  private let at: Selector?
  private let kinds: KindFilter?

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    at = try arguments.selector("at")
    if let text = arguments.value("kind") { kinds = try KindFilter(text) } else { kinds = nil }
  }

  func run(on file: JournalFile, _ context: ToolContext) throws(ToolError) {
    guard context.output.isTerminal else { throw RawTerminal.notATerminal("Standard output") }
    guard context.value(of: .terminal) != "dumb" else {
      throw RawTerminal.notATerminal("A dumb terminal (TERM)")
    }
    try file.requireSession()
    let terminal = try RawTerminal()
    var source = try StepFile(file)
    var model = StepModel(
      name: Self.shortName(of: file), zone: display.zone, now: ToolContext.now(), kinds: kinds,
      isColored: context.style.isColored)
    if let at {
      source.pulse = { _ in context.output.isOpen }
      let jump = model.go(to: at, &source)
      if let error = jump.error(file.name) {
        if case .damaged? = source.problem?.code { try refuse(source, file) }
        throw error
      }
    }
    let session = StepSession(source, model, terminal, context)
    try session.run(isOpening: at == nil)
    guard !context.interruption.isRaised else { return }
    // `standard input` is not a file's name (a real one would be in quotes), and it cannot be read
    // again.
    if let entry = source.record(at: session.model.cursor), file.name != "standard input" {
      let redact = file.redactor.isRedacting ? " --redact" : ""
      let line = "sessionreplay step \(file.name) --at @\(entry.record.sequence)\(redact)"
      context.output.write(line.printable + "\n")
    }
    try refuse(source, file)
  }

  /// Returns the file's name without its folder, for which a screen has no room.
  private static func shortName(of file: JournalFile) -> String {
    guard !file.isStandardInput, let last = file.path.split(separator: "/").last else {
      return file.name
    }
    return String(last)
  }

  /// Throws if the journal cannot be read or is not good.
  private func refuse(_ source: StepFile, _ file: JournalFile) throws(ToolError) {
    if let refusal = source.refusal { throw refusal }
    guard let problem = source.problem else { return }
    throw problem.error(
      file.name,
      consequence: "Everything before it is good and was shown. What can be read after it was not.")
  }
}

extension StepJump {
  /// Returns why `--at` selects no record; `nil` if it selects one.
  fileprivate func error(_ name: String) -> ToolError? {
    guard let problem else { return nil }
    switch self {
    case .to, .stopped: return nil
    case .beyondTheEnd(let last):
      return .usage(
        .beyondTheEnd, "\(name) has no such record. \(problem)",
        next: last == 0 ? "without --at" : "--at @-1")
    case .beyondTheStart(let records):
      return .usage(
        .beyondTheStart, "\(name) has no such record. \(problem)", next: "--at @-\(records)")
    case .beforeTheFirst(let first):
      return .usage(
        .beyondTheStart, "\(name) has no such record. \(problem)", next: "--at @\(first)")
    }
  }
}
