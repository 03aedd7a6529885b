internal import SessionCore

/// `timeline`: one line for each record.
struct TimelineCommand: JournalCommand {
  static let syntax = CommandSyntax(
    name: "timeline", summary: "Show what happened, one line for each record",
    discussion: """
      Each line has the record's sequence, its time, its name and its facts. Names in parentheses
      are notes, which explain and change nothing. @7 in a line is the record with sequence 7,
      tok#2 the session's second token. The transitions are not judged; verify does that.

      \(HelpText.selectors)
      """,
    operands: operands,
    options: [
      .init(
        name: "since", value: "SELECTOR", help: "Begin at this record, or the first at or after it"),
      .init(
        name: "until", value: "SELECTOR", help: "End with this record, or the last at or before it"),
      .init(
        name: "kind", value: "KIND,...",
        help: "Show only these: names of records, or event, note, snapshot, unknown"),
      .init(name: "number", letter: "n", value: "N", help: "Show only the last N of them"),
      .init(name: "reverse", letter: "r", help: "Show the newest first"),
      DisplayOptions.json,
    ] + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay timeline a.journal", help: "Everything"),
      .init(line: "sessionreplay timeline a.journal -n 20 -r", help: "The last 20, newest first"),
      .init(
        line: "sessionreplay timeline a.journal --since -1h --kind event",
        help: "The events of the last hour"),
      .init(
        line: "sessionreplay timeline a.journal --json | jq .name", help: "For programs"),
    ])

  let display: DisplayOptions
  private let since: Selector?
  private let until: Selector?
  private let kinds: KindFilter?
  private let number: UInt64?
  private let isReversed: Bool

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    since = try arguments.selector("since")
    until = try arguments.selector("until")
    isReversed = arguments.has("reverse")
    if let text = arguments.value("kind") { kinds = try KindFilter(text) } else { kinds = nil }
    if let text = arguments.value("number") {
      guard let value = UInt64(text) else {
        throw .usage(
          "badValue",
          "-n cannot be '\(text)': it takes a whole number from 0 to \(UInt64.max).",
          next: "-n 20")
      }
      number = value
    } else {
      number = nil
    }
  }

  func run(on file: JournalFile, _ context: ToolContext) throws(ToolError) {
    var shown = try range(in: file)
    var skipped: UInt64 = 0
    if let number {
      let (matching, last) = try matches(in: file, shown)
      skipped = matching > number ? matching - number : 0
      // A writer may be at work: what it adds after the count is not among what was counted.
      shown.last = min(shown.last, max(last, shown.first))
    }
    let fault =
      if isReversed {
        try printReversed(file, shown, skipped, context)
      } else {
        try lines(of: file, shown, skipped, context) { line in
          context.output.write(line)
          return context.output.isOpen
        }
      }
    guard context.output.isOpen, let fault else { return }
    throw fault.error(file.name, consequence: "Everything before it is good and was read.")
  }

  /// Which sequences are shown.
  private struct Shown {
    var first: UInt64 = 0
    var last: UInt64 = .max
  }

  private func range(in file: JournalFile) throws(ToolError) -> Shown {
    var selectors: [(selector: Selector, side: SelectorResolver.Side)] = []
    if let since { selectors.append((since, .atOrAfter)) }
    if let until { selectors.append((until, .atOrBefore)) }
    guard !selectors.isEmpty else { return Shown() }
    let found = try SelectorResolver(file: file, zone: display.zone).resolve(selectors)
    var shown = Shown()
    if since != nil { shown.first = found.first ?? 0 }
    if until != nil { shown.last = found.last ?? .max }
    return shown
  }

  private func matches(in file: JournalFile, _ shown: Shown) throws(ToolError)
    -> (count: UInt64, last: UInt64)
  {
    var (count, last) = (UInt64(0), UInt64(0))
    _ = try file.visit { entry in
      guard entry.record.sequence <= shown.last else { return false }
      last = entry.record.sequence
      if isMatch(entry.record, shown) { count += 1 }
      return true
    }
    return (count, last)
  }

  private func isMatch(_ record: SessionRecord, _ shown: Shown) -> Bool {
    record.sequence >= shown.first && (kinds?.includes(record.content) ?? true)
  }

  private func lines(
    of file: JournalFile, _ shown: Shown, _ skipped: UInt64, _ context: ToolContext,
    _ take: (String) -> Bool
  ) throws(ToolError) -> JournalFault? {
    let words = RecordWords(zone: display.zone, style: context.style)
    var skipped = skipped
    return try file.visit { entry in
      context.output.pulse()
      guard context.output.isOpen, entry.record.sequence <= shown.last else { return false }
      guard isMatch(entry.record, shown) else { return true }
      guard skipped == 0 else {
        skipped -= 1
        return true
      }
      return take(display.isJSON ? json(entry) : words.line(entry.record) + "\n")
    }.fault
  }

  private func printReversed(
    _ file: JournalFile, _ shown: Shown, _ skipped: UInt64, _ context: ToolContext
  ) throws(ToolError) -> JournalFault? {
    var reversed = try ReversedLines()
    var failure: ToolError?
    let fault = try lines(of: file, shown, skipped, context) { line in
      do throws(ToolError) {
        try reversed.append(line)
      } catch {
        failure = error
      }
      return failure == nil
    }
    if let failure { throw failure }
    try reversed.print(to: context.output)
    return fault
  }

  private func json(_ entry: JournalEntry) -> String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("sequence", entry.record.sequence)
      json.field("offset", entry.offset)
      json.field("remainingInBatch", entry.remainingInBatch)
      json.field("class", className(entry.record.content))
      json.readable(entry.record)
    }
    return json.text + "\n"
  }

  private func className(_ content: SessionRecord.Content) -> String {
    switch content {
    case .event: "event"
    case .note: "note"
    case .snapshot: "snapshot"
    case .unknown: "unknown"
    }
  }
}
