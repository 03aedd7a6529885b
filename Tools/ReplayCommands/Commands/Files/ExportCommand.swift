@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// `export`: writes the records in a form for use elsewhere.
struct ExportCommand: JournalCommand {
  static let name = "export"
  static let syntax = CommandSyntax(
    name: name, summary: "Write the records out, without names unless they are asked for",
    discussion: """
      Writes what `verify` finds good, batch by batch. Users, roles, schools, units, permissions,
      token and boot identifiers and the journal's own are replaced by pseudonyms: the same value has
      the same pseudonym in every export of the journal until it is compacted, and no person without
      the file can test a guess. With --key-file they stay the same, in all journals. The file has 16
      bytes or more: a person who guesses them can test what a pseudonym means.
      Times, numbers, statuses and the server's error codes stay. --reveal leaves everything in.
      A change log, which holds what waits to be sent, is refused: copy the file instead.

      FORMAT is jsonl (the default), lines of JSON that import reads back; trace, for the timeline of
      https://ui.perfetto.dev or chrome://tracing; or mermaid, a diagram of the transitions that happened.
      """,
    operands: operands,
    options: [
      .init(
        name: "format", value: "FORMAT", values: .words(Format.allCases.map(\.rawValue)),
        help: "\(Format.allCases.map(\.rawValue).joined(separator: ", ")); jsonl if not said"),
      .init(
        name: "output", letter: "o", value: "OUT", values: .path,
        help: "The file to make, mode 0600; - or nothing is standard output"),
      .init(name: "force", help: "Replace OUT if it is there"),
      .init(name: "reveal", help: "Leave names and identifiers as they are"),
      RedactionOptions.keyFile,
      .init(
        name: "since", value: "SELECTOR", values: .selector,
        help: "Begin with this record's batch; a snapshot stands for what comes before"),
      .init(
        name: "until", value: "SELECTOR", values: .selector, help: "End with this record's batch"),
    ] + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay export a.journal -o a.jsonl", help: "For a bug report"),
      .init(
        line: "sessionreplay export a.journal --reveal -o a.jsonl", help: "To be imported, as it is"
      ),
      .init(
        line: "sessionreplay export a.journal --format trace -o a.trace.json", help: "To look at"),
      .init(
        line: "sessionreplay export a.journal --since -1h | jq .name", help: "The last hour's names"
      ),
    ])

  /// The format of an export.
  enum Format: String, CaseIterable, Sendable {
    case jsonl = "jsonl"
    case trace = "trace"
    case mermaid = "mermaid"
  }

  let display: DisplayOptions
  private let format: Format
  private let target: String
  private let mayReplace: Bool
  private let isRevealing: Bool
  private let since: Selector?
  private let until: Selector?

  init(_ arguments: Arguments) throws(ToolError) {
    isRevealing = arguments.has("reveal")
    display = try DisplayOptions(arguments, names: isRevealing ? .none : .all)
    let word = arguments.value("format") ?? Format.jsonl.rawValue
    guard let format = Format(rawValue: word) else {
      let near = Suggestion.nearest(to: word, in: Format.allCases.map(\.rawValue))
      throw .usage(
        .badFormat, "--format cannot be '\(word.shortened)'.",
        next: "--format \(near ?? Format.jsonl.rawValue)")
    }
    self.format = format
    target = arguments.value("output") ?? "-"
    mayReplace = arguments.has("force")
    guard !mayReplace || target != "-" else {
      throw .usage(
        .conflict, "--force replaces OUT, and the export goes to standard output.",
        next: "-o OUT --force")
    }
    since = try arguments.selector("since")
    until = try arguments.selector("until")
  }

  var answersOnOutput: Bool { target == "-" }

  func run(on file: JournalFile, _ context: ToolContext) throws(ToolError) {
    try file.requireSession()
    let range = try SelectorResolver(file: file, zone: display.zone)
      .range(since: since, until: until)
    let header = try file.header()
    let redaction = file.redactor.redaction(for: header)
    let hasPseudonyms = file.original?.isRedacted ?? false
    if hasPseudonyms {
      context.errors.write(
        "Note: names in \(file.name.printable) are pseudonyms already, and stay as they are.\n")
    } else if isRevealing {
      context.errors.write("Note: names and identifiers are in this export as they are.\n")
    }
    let fault = try OutputFile.write(
      to: target, overwrite: mayReplace, inputs: [file.givenPath], context
    ) { output throws(ToolError) in
      let walk = ExportWalk(file: file, header: header, first: range.first, last: range.last)
      let journal = file.redactor.journal(header)
      switch format {
      case .jsonl:
        let origin = ExportOrigin(header, isRedacted: hasPseudonyms)
        return try walk.run(LineExport(redaction: redaction, origin: origin, output: output))
      case .trace:
        let trace = TraceLines(journal: journal)
        return try walk.run(PictureExport(trace, redaction: redaction, output: output))
      case .mermaid:
        let diagram = StateDiagram(journal: journal)
        return try walk.run(PictureExport(diagram, redaction: redaction, output: output))
      }
    }
    guard context.output.isOpen, let fault else { return }
    throw fault.error(file.name, consequence: "Everything before it is good and was exported.")
  }
}

extension SelectorResolver {
  /// Returns the first and the last sequence between two selectors; each selector may be absent.
  func range(since: Selector?, until: Selector?) throws(ToolError)
    -> (first: UInt64, last: UInt64)
  {
    var selectors: [(selector: Selector, side: Side)] = []
    if let since { selectors.append((since, .atOrAfter)) }
    if let until { selectors.append((until, .atOrBefore)) }
    guard !selectors.isEmpty else { return (0, .max) }
    let found = try resolve(selectors)
    return (
      since == nil ? 0 : found.first ?? 0, until == nil ? .max : found.last ?? .max
    )
  }
}

/// An export as one text, made of the records and of the session's states between them.
private struct PictureExport<Picture: ExportPicture>: RecordExport {
  private var picture: Picture
  private let redaction: Redaction?
  private let output: Output
  private var fold = SessionFold()

  init(_ picture: Picture, redaction: Redaction?, output: Output) {
    self.picture = picture
    self.redaction = redaction
    self.output = output
  }

  var isOpen: Bool { output.isOpen }

  mutating func begin(_ snapshot: ExportItem?, behind before: SessionFold, isPartial: Bool) {
    if isPartial { fold = shown(before) }
    output.write(picture.begin(fold))
    if let snapshot { take([snapshot]) }
  }

  mutating func take(_ batch: [ExportItem]) {
    for item in batch {
      let (before, after) = (fold, shown(item.after))
      fold = after
      output.write(
        picture.take(
          ExportStep(
            record: redaction?.record(item.record) ?? item.record, before: before, after: after)))
    }
  }

  mutating func pulse() { output.pulse() }

  mutating func end(_ ending: ExportEnding, lastSequence: UInt64?) {
    output.write(picture.end())
  }

  private func shown(_ fold: SessionFold) -> SessionFold { redaction?.fold(fold) ?? fold }
}
