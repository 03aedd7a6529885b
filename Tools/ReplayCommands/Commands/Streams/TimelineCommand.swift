@_spi(Internals) internal import SessionCore

/// `timeline`: prints one line for each record.
struct TimelineCommand: JournalCommand {
  static let name = "timeline"
  static let syntax = CommandSyntax(
    name: name, summary: "Show what happened, one line for each record",
    discussion: """
      Each line has the record's sequence, its time, its name and its facts. Names in parentheses
      are notes, which explain and change nothing. @7 in a line is the record with sequence 7,
      tok#2 the session's second token. The transitions are not judged; verify does that.
      After damage it goes on with what can be read, and names each loss in a line of its own.
      """,
    operands: operands,
    options: [
      .init(
        name: "since", value: "SELECTOR", values: .selector,
        help: "Begin at this record, or the first at or after it"),
      .init(
        name: "until", value: "SELECTOR", values: .selector,
        help: "End with this record, or the last at or before it"),
    ] + RecordFilter.options + [
      .init(name: "number", letter: "n", value: "N", help: "Show only the last N of them"),
      .init(name: "reverse", letter: "r", help: "Show the newest first"),
      .init(
        name: "context", letter: "C", value: "N",
        help: "Show N records around each of them too, at most 1000"),
      deltaOption,
      .init(name: "fit", help: "On a terminal, cut each line at its width"),
      DisplayOptions.json,
    ] + RedactionOptions.options + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay timeline a.journal", help: "Everything"),
      .init(line: "sessionreplay timeline a.journal -n 20 -r", help: "The last 20, newest first"),
      .init(
        line: "sessionreplay timeline a.journal --since -1h --kind event",
        help: "The events of the last hour"),
      .init(
        line: "sessionreplay timeline a.journal --reason rejected -C 2 --delta",
        help: "Refusals, and what stands around them"),
      .init(
        line: "sessionreplay timeline a.journal --json | jq .name", help: "For programs"),
    ])

  static let deltaOption = CommandSyntax.Option(
    name: "delta", help: "Show the time since the record above")

  let display: DisplayOptions
  private let since: Selector?
  private let until: Selector?
  private let filter: RecordFilter
  private let number: UInt64?
  private let isReversed: Bool
  private let context: Int?
  private let showsDelta: Bool
  private let fits: Bool

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    since = try arguments.selector("since")
    until = try arguments.selector("until")
    filter = try RecordFilter(arguments)
    isReversed = arguments.has("reverse")
    showsDelta = arguments.has("delta")
    fits = arguments.has("fit")
    number = try arguments.number("number", spelled: "-n", example: "20")
    context = try arguments.number("context", spelled: "-C", example: "3", upTo: 1000)
      .map { Int($0) }
  }

  func run(on file: JournalFile, _ context: ToolContext) throws(ToolError) {
    try file.requireRedactable()
    var pass = TimelinePass(
      file: file, context: context, filter: filter, around: self.context ?? 0,
      line: EntryLine(
        display: display, style: context.style,
        asked: .init(delta: showsDelta, context: self.context != nil),
        columns: fits ? context.columns : nil),
      showsSeparators: !display.isJSON && self.context != nil, namesLosses: !display.isJSON)
    (pass.first, pass.last) = try range(in: file)
    let fault = try pass.print(last: number, isReversed: isReversed)
    guard context.output.isOpen, let fault else { return }
    throw fault.error(
      file.name,
      consequence: "Everything before it is good and was read."
        + (fault.code == .damaged ? " What can be read after it was read too." : ""),
      next: fault.next(file.name, hasReadOn: true))
  }

  /// Returns the first and the last sequence to show.
  private func range(in file: JournalFile) throws(ToolError) -> (UInt64, UInt64) {
    var selectors: [(selector: Selector, side: SelectorResolver.Side)] = []
    if let since { selectors.append((since, .atOrAfter)) }
    if let until { selectors.append((until, .atOrBefore)) }
    guard !selectors.isEmpty else { return (0, .max) }
    let found = try SelectorResolver(file: file, zone: display.zone, readsOn: true)
      .resolve(selectors)
    return (
      since == nil ? 0 : found.first ?? 0, until == nil ? .max : found.last ?? .max
    )
  }
}

/// Selects records by kind and by reason, regardless of their place.
struct RecordFilter: Equatable, Sendable {
  private let kinds: KindFilter?
  private let reasons: ReasonFilter?

  static let options = [
    CommandSyntax.Option(
      name: "kind", value: "KIND,...", values: .kinds,
      help: "Show only these: names of records, or event, note, change, snapshot, unknown"),
    CommandSyntax.Option(
      name: "reason", value: "REASON,...", values: .reasons,
      help: "Show only what ended or failed for one of these, or with a server's code"),
  ]

  init(_ arguments: Arguments) throws(ToolError) {
    if let text = arguments.value("kind") { kinds = try KindFilter(text) } else { kinds = nil }
    if let text = arguments.value("reason") {
      reasons = try ReasonFilter(text)
    } else {
      reasons = nil
    }
  }

  /// Whether it accepts all records.
  var isOpen: Bool { kinds == nil && reasons == nil }

  /// Whether it may include a record with this kind byte.
  func mayInclude(kind: UInt8) -> Bool { kinds?.mayInclude(kind: kind) ?? true }

  func includes(_ content: SessionRecord.Content) -> Bool {
    (kinds?.includes(content) ?? true) && (reasons?.includes(content) ?? true)
  }
}

extension Arguments {
  /// Returns the whole number that is an option's value.
  func number(_ option: String, spelled: String, example: String, upTo most: UInt64 = .max)
    throws(ToolError) -> UInt64?
  {
    guard let text = value(option) else { return nil }
    guard let value = UInt64(text), value <= most else {
      throw .usage(
        .badValue,
        "\(spelled) cannot be '\(text.shortened)': it takes a whole number from 0 to \(most).",
        next: "\(spelled) \(example)")
    }
    return value
  }
}
