@_spi(Internals) internal import SessionCore

/// `diff`: shows the difference between two states of a journal, or where two journals diverge.
struct DiffCommand: Command {
  static let name = "diff"
  static let syntax = CommandSyntax(
    name: name, summary: "Show what changed between two records, or where two journals part",
    discussion: """
      With one FILE: the fields of the state that differ between --from and --to, and the records
      that lie between. Without options, what the last event changed; with --to alone, what that
      record changed; with --from alone, what changed from there to the end. The fields have the
      names of state --json.

      With FILE2: the first record in which the two journals differ, as after a restored backup.
      """,
    operands: [
      .init(name: "FILE", help: "A journal or its folder; - reads standard input"),
      .init(name: "FILE2", arity: .optional, help: "Another journal, or a copy of the first"),
    ],
    options: [
      .init(
        name: "from", value: "SELECTOR", values: .selector,
        help: "The state after this record, or the last at or before it"),
      .init(
        name: "to", value: "SELECTOR", values: .selector, help: "The state to compare it with"),
      .init(name: "all-fields", help: "Show fields that are equal too"),
      .init(name: "exit-code", help: "Exit with 3 if something differs"),
      DisplayOptions.json,
    ] + RedactionOptions.options + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay diff a.journal", help: "What the last event changed"),
      .init(line: "sessionreplay diff a.journal --to @12", help: "What record 12 changed"),
      .init(
        line: "sessionreplay diff a.journal --from -1h", help: "What changed in the last hour"),
      .init(line: "sessionreplay diff a.journal b.journal", help: "Where the two part"),
    ])

  let display: DisplayOptions
  private let from: Selector?
  private let to: Selector?
  private let showsAll: Bool
  private let tells: Bool

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    from = try arguments.selector("from")
    to = try arguments.selector("to")
    showsAll = arguments.has("all-fields")
    tells = arguments.has("exit-code")
    guard arguments.operands.count < 2 || from == nil && to == nil && !showsAll else {
      throw .usage(
        .conflict, "--from, --to and --all-fields are about one journal, and two were named.",
        next: "diff FILE FILE2 without them")
    }
  }

  func run(_ files: [JournalFile], _ context: ToolContext) throws(ToolError) -> ExitCode {
    guard files.count < 2 else { return try compare(files[0], files[1], context) }
    var isDifferent = false
    for file in files { isDifferent = try compare(in: file, context) }
    return tells && isDifferent ? .answerIsNo : .ok
  }

  private func compare(_ left: JournalFile, _ right: JournalFile, _ context: ToolContext)
    throws(ToolError) -> ExitCode
  {
    for file in [left, right] { try file.requireRedactable() }
    let result = try JournalComparison(left: left, right: right).run(context.output)
    guard context.output.isOpen else { return .ok }
    context.output.write(
      display.isJSON ? result.json : result.text(zone: display.zone, style: context.style))
    if let (file, fault) = result.fault {
      throw fault.error(file.name, consequence: "Only what is good was compared.")
    }
    return tells && !result.isSame ? .answerIsNo : .ok
  }

  /// The states to compare.
  private enum Range {
    /// The states before and after the last event.
    case lastEvent
    /// The states before and after one record.
    case record(UInt64)
    /// The states after two records, in either order.
    case states(from: UInt64, to: UInt64)

    /// The last sequence to read.
    var last: UInt64 {
      switch self {
      case .lastEvent: .max
      case .record(let record): record
      case .states(let from, let to): max(from, to)
      }
    }
  }

  private func range(in file: JournalFile) throws(ToolError) -> Range {
    let given = [(from, "--from"), (to, "--to")].compactMap { selector, option in
      selector.map { (selector: $0, option: option) }
    }
    let found = try SelectorResolver(file: file, zone: display.zone)
      .resolve(given.map { ($0.selector, .atOrBefore) })
    for (given, sequence) in zip(given, found) {
      if case .fromEnd(let number) = given.selector, sequence == 0 {
        throw try file.beyondTheStart(number, option: given.option)
      }
    }
    switch (from, to) {
    case (nil, nil): return .lastEvent
    case (nil, _?): return .record(found[0])
    case (_?, nil): return .states(from: found[0], to: .max)
    case (_?, _?): return .states(from: found[0], to: found[1])
    }
  }

  /// Prints the difference; returns whether there is one.
  private func compare(in file: JournalFile, _ context: ToolContext) throws(ToolError) -> Bool {
    try file.requireSession()
    let range = try range(in: file)
    var states = DifferingStates()
    var illegal: JournalFault?
    var isBeyond = true
    let pass = try file.visit { entry in
      context.output.pulse()
      guard context.output.isOpen else { return false }
      guard entry.record.sequence <= range.last else {
        isBeyond = false
        return false
      }
      do throws(SessionFold.Failure) {
        switch range {
        case .lastEvent: try states.take(entry, isStep: entry.record.event != nil)
        case .record: try states.take(entry, isStep: true)
        case .states(let from, let to): try states.take(entry, behind: min(from, to))
        }
        return true
      } catch {
        illegal = JournalFault(error, at: entry.place)
        return false
      }
    }
    guard context.output.isOpen else { return false }
    let fault = illegal ?? pass.fault
    try check(range, file, states, isAtEnd: isBeyond && fault?.code != .damaged)
    var (before, after) = (states.before, states.after)
    if case .states(let from, let to) = range, from > to { (before, after) = (after, before) }
    let difference = StateDifference(from: before, to: after, between: states.between)
    context.output.write(
      display.isJSON
        ? difference.json(showsAll: showsAll)
        : difference.text(showsAll: showsAll, zone: display.zone, style: context.style))
    if let fault {
      throw fault.error(
        file.name, consequence: "The later state is as of seq \(states.now.fold.sequence).")
    }
    return !difference.isNone
  }

  /// Throws if a selected record does not exist.
  private func check(
    _ range: Range, _ file: JournalFile, _ states: DifferingStates, isAtEnd: Bool
  ) throws(ToolError) {
    let last = states.now.fold.sequence
    for (selector, option) in [(from, "--from"), (to, "--to")] {
      guard isAtEnd, case .sequence(let wanted)? = selector, wanted > last else { continue }
      throw file.beyondTheEnd(wanted, last: last, option: option)
    }
    switch range {
    case .lastEvent: break
    case .record(let record):
      guard record < states.compacted else { break }
      throw file.isCompacted(through: states.compacted, option: "--to")
    case .states(let from, let to):
      guard min(from, to) < states.compacted else { break }
      throw file.isCompacted(
        through: states.compacted, option: from < states.compacted ? "--from" : "--to")
    }
  }
}

/// Folds records and keeps two of the states between them.
private struct DifferingStates {
  private(set) var now = StateSnapshot()
  private(set) var before = StateSnapshot()
  private(set) var after = StateSnapshot()
  private(set) var between = RecordsBetween()
  /// The last sequence that a compaction replaced by a snapshot.
  private(set) var compacted: UInt64 = 0

  /// Takes a record.
  ///
  /// If `isStep` is true, its difference is the answer unless a later step follows.
  mutating func take(_ entry: JournalEntry, isStep: Bool) throws(SessionFold.Failure) {
    let last = now
    try apply(entry)
    if compacted == entry.record.sequence {
      (before, after) = (now, now)
      return
    }
    guard isStep else { return }
    (before, after) = (last, now)
    between = RecordsBetween()
    between.take(entry)
  }

  /// Takes a record, which counts as between the two states if it comes after `sequence`.
  mutating func take(_ entry: JournalEntry, behind sequence: UInt64) throws(SessionFold.Failure) {
    try apply(entry)
    after = now
    if entry.record.sequence <= sequence {
      before = now
    } else {
      between.take(entry)
    }
  }

  private mutating func apply(_ entry: JournalEntry) throws(SessionFold.Failure) {
    if case .snapshot = entry.record.content { compacted = entry.record.sequence }
    try now.apply(entry.record)
  }
}
