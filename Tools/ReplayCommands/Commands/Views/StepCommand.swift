@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// `step`: a debugger that goes through the records one by one, forward and back.
///
/// It reads lines and not keys, so it works in a pipe and in a log as it does on a terminal.
struct StepCommand: JournalCommand {
  static let name = "step"
  static let syntax = CommandSyntax(
    name: name, summary: "Go through the records one by one, forward and back",
    discussion: """
      Shows a record and what it changed in the state, and then reads a line
      from standard input. Begins at the last end of a session, or else at the
      last record.

      \(StepInput.words)
      All of the journal is in memory, as it was when it was opened. At its end,
      n looks for more.
      """,
    operands: [.init(name: "FILE", help: "A journal or its folder")],
    options: [
      .init(
        name: "at", value: "SELECTOR", values: .selector,
        help: "Begin at this record, or the last at or before it")
    ] + RedactionOptions.options + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay step a.journal", help: "From the last end of a session"),
      .init(line: "sessionreplay step a.journal --at -5m", help: "Five minutes before the end"),
    ])

  let display: DisplayOptions
  private let at: Selector?
  /// Returns the next line of the user; `nil` at the end.
  var nextLine: @Sendable () -> String? = { readLine() }

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    at = try arguments.selector("at")
  }

  func run(on file: JournalFile, _ context: ToolContext) throws(ToolError) {
    guard !file.isStandardInput else {
      throw .usage(
        .conflict, "step reads its commands from standard input, so the journal is a file.",
        next: "sessionreplay step FILE")
    }
    var (stepper, fault) = try read(file)
    if let at, let problem = try jump(to: at, file, &stepper) {
      throw .usage(.beyondTheEnd, "\(file.name) has no such record. \(problem)", next: "--at @-1")
    }
    var problem = stepper.entries.isEmpty ? "There are no records." : nil
    if problem != nil { try refuse(fault, file) }
    show(problem, stepper, context)
    while let line = line(after: stepper, context) {
      guard let input = StepInput(line) else {
        show("'\(line.printable)' is no command and no selector; h lists them.", stepper, context)
        continue
      }
      switch input {
      case .next:
        if stepper.isAtEnd, fault == nil { fault = try readMore(file, &stepper) }
        problem = stepper.goOn() ? nil : fault?.message(file.name) ?? "This is the last record."
      case .back: problem = stepper.goBack() ? nil : "This is the first record."
      case .nextEnd: problem = stepper.goToNextEnd() ? nil : "No end of a session follows."
      case .previousEnd:
        problem = stepper.goToEndBefore() ? nil : "No end of a session before this."
      case .jump(let selector): problem = try jump(to: selector, file, &stepper)
      case .state: problem = answer(of: StateCommand.self, file, stepper, context)
      case .why: problem = answer(of: WhyCommand.self, file, stepper, context)
      case .help: problem = StepInput.words
      case .leave: return try refuse(fault, file)
      }
      if input.moves || problem != nil { show(problem, stepper, context) }
    }
    try refuse(fault, file)
  }

  /// Writes the problem, or else the record.
  private func show(_ problem: String?, _ stepper: Stepper, _ context: ToolContext) {
    context.output.write(
      problem.map { $0 + "\n" } ?? stepper.text(display.zone, context.style))
  }

  /// Returns the next line of the user, who is asked for it on a terminal; `nil` at the end.
  private func line(after stepper: Stepper, _ context: ToolContext) -> String? {
    if context.output.isTerminal { context.output.write(stepper.prompt) }
    context.output.flush()
    return context.output.isOpen ? nextLine() : nil
  }

  /// Reads all records up to the first fault.
  private func read(_ file: JournalFile) throws(ToolError) -> (Stepper, JournalFault?) {
    var (entries, fold, refused): ([JournalEntry], SessionFold, JournalFault?) = ([], .init(), nil)
    let pass = try file.visit(requiresSession: true) { entry in
      do throws(SessionFold.Failure) {
        try fold.apply(entry.record)
      } catch {
        refused = JournalFault(error, at: entry.place)
        return false
      }
      entries.append(entry)
      return true
    }
    return (Stepper(entries), refused ?? pass.fault)
  }

  /// Reads the journal again, since a writer may have appended records.
  private func readMore(_ file: JournalFile, _ stepper: inout Stepper) throws(ToolError)
    -> JournalFault?
  {
    let (longer, fault) = try read(file)
    stepper.take(longer.entries)
    return fault
  }

  /// Goes to the record that a selector means; returns why if there is none.
  private func jump(
    to selector: Selector, _ file: JournalFile, _ stepper: inout Stepper
  ) throws(ToolError) -> String? {
    let found =
      try SelectorResolver(file: file, zone: display.zone)
      .resolve([(selector, .atOrBefore)]).first ?? 0
    guard let first = stepper.entries.first, let last = stepper.entries.last else {
      return "There are no records."
    }
    if case .sequence(let wanted) = selector, wanted > last.record.sequence {
      return "The last record is @\(last.record.sequence)."
    }
    return stepper.go(toSequence: found)
      ? nil : "That is before the first record, @\(first.record.sequence)."
  }

  /// Writes what another command says of the record; returns its error.
  private func answer<Other: Command>(
    of command: Other.Type, _ file: JournalFile, _ stepper: Stepper, _ context: ToolContext
  ) -> String? {
    guard let sequence = stepper.entry?.record.sequence else { return "There are no records." }
    let zone = display.zone == .local ? ["--local"] : []
    do throws(ToolError) {
      let arguments = try Arguments(
        [file.path, "--at", "@\(sequence)"] + zone, syntax: Other.syntax)
      _ = try Other(arguments).run([file], context)
      context.output.flush()
      return nil
    } catch {
      return error.text
    }
  }

  /// Throws if the journal is not good.
  private func refuse(_ fault: JournalFault?, _ file: JournalFile) throws(ToolError) {
    guard let fault else { return }
    throw fault.error(
      file.name,
      consequence: "Everything before it is good and was shown. What can be read after it was not.")
  }
}

/// A line that the user entered.
enum StepInput: Equatable {
  case next
  case back
  case nextEnd
  case previousEnd
  case state
  case why
  case help
  case leave
  case jump(Selector)

  static let words = """
      n, or nothing   the next record          b   the one before
      e               the next end             E   the end before
      412, @-1, -5m   this record or time      s   the whole state
      w               why it ended             q   leave
    """

  /// Reads a line; `nil` if it is neither a command nor a selector.
  init?(_ line: String) {
    let word = line.split(separator: " ").joined(separator: " ")
    switch word {
    case "", "n": self = .next
    case "b": self = .back
    case "e": self = .nextEnd
    case "E": self = .previousEnd
    case "s": self = .state
    case "w": self = .why
    case "h", "?": self = .help
    case "q": self = .leave
    default:
      guard let selector = Selector(word) else { return nil }
      self = .jump(selector)
    }
  }

  /// Whether the record is shown after it.
  var moves: Bool {
    switch self {
    case .next, .back, .nextEnd, .previousEnd, .jump: true
    case .state, .why, .help, .leave: false
    }
  }
}

/// The records of a journal, and the place of the one that is looked at.
struct Stepper {
  private(set) var entries: [JournalEntry]
  private var place: Int

  /// Begins at the last end of a session, or else at the last record.
  init(_ entries: [JournalEntry]) {
    self.entries = entries
    place = entries.lastIndex(where: \.isEnd) ?? max(0, entries.count - 1)
  }

  var entry: JournalEntry? { entries.isEmpty ? nil : entries[place] }
  var isAtEnd: Bool { place + 1 >= entries.count }
  var prompt: String { "\(entries.isEmpty ? 0 : place + 1) of \(entries.count)> " }

  /// Takes the records of the same journal after it grew.
  mutating func take(_ longer: [JournalEntry]) {
    // After a compaction the old records are gone, so they stay as they were.
    if longer.first?.offset == entries.first?.offset,
      longer.first?.record.sequence == entries.first?.record.sequence
    {
      entries = longer
    }
  }

  mutating func goOn() -> Bool { go(to: isAtEnd ? nil : place + 1) }
  mutating func goBack() -> Bool { go(to: place == 0 ? nil : place - 1) }
  mutating func goToEndBefore() -> Bool { go(to: entries[..<place].lastIndex(where: \.isEnd)) }

  mutating func goToNextEnd() -> Bool {
    go(to: isAtEnd ? nil : entries[(place + 1)...].firstIndex(where: \.isEnd))
  }

  /// Goes to the last record with this sequence or a lower one.
  mutating func go(toSequence sequence: UInt64) -> Bool {
    go(to: entries.lastIndex { $0.record.sequence <= sequence })
  }

  private mutating func go(to found: Int?) -> Bool {
    guard let found else { return false }
    place = found
    return true
  }

  /// The record as `timeline` shows it, and what it changed in the state.
  func text(_ zone: TimeZoneChoice, _ style: Style) -> String {
    guard let entry else { return "" }
    var (before, after) = (StateSnapshot(), StateSnapshot())
    do throws(SessionFold.Failure) {
      // At most a few milliseconds for a journal of the usual retention.
      for entry in entries[...place] {
        before = after
        try after.apply(entry.record)
      }
    } catch {
      // Each record was folded when the journal was read.
      return "\(error)\n"
    }
    let changes = StateDifference(from: before, to: after, between: RecordsBetween())
    return RecordFormatter(zone: zone, style: style).line(entry.record) + "\n"
      + changes.text(showsAll: false, zone: zone, style: style)
  }
}

extension JournalEntry {
  /// Whether it ends a session.
  fileprivate var isEnd: Bool {
    switch record.event?.kind {
    case .sessionExpired?, .logout?: true
    default: false
    }
  }
}
