@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON
internal import SessionJournal

/// `why`: explains the end of a session from the records that led to it.
struct WhyCommand: Command {
  static let inputs = CommandInputs.convertedOneByOne

  static let name = "why"
  static let syntax = CommandSyntax(
    name: name, summary: "Explain why a session ended, and how surely",
    discussion: """
      Says in plain words what the user experienced, what happened, and what to do. The evidence comes
      after: the records that led to the last end, newest first, what they prove, what follows from
      them (likely, possible), what they rule out, what they do not tell, and other ends of the journal.
      If nothing ended, it says how the session stands, and exits with 3. With --at, the record itself
      is explained if it is a failure, a logout or what an opening found. Otherwise, it is the last end
      at or before it.

      After damage it reads on, names each loss in a line, and proves nothing across it.
      Of several files or a folder it shows a table of the causes of all ends, the most frequent first,
      and some ends of each cause. With --all, --oneline or --json it shows every end.
      Damaged files are named then, and do not change the exit code without --strict.

      Exit codes: 0 an end or a record is explained; 3 nothing ended; 65 the journal is damaged, or an
      event in it is not possible; 2 its last commit is not whole.
      """,
    operands: [
      .init(
        name: "FILE", arity: .many, help: "Journals, or folders of them; - reads standard input")
    ],
    options: [
      .init(
        name: "at", value: "SELECTOR", values: .selector,
        help: "Explain this record, or the last end before it"),
      .init(name: "all", help: "Explain every end, oldest first; list every end of several files"),
      .init(name: "full", help: "Show all of the chain that is kept; 12 records if not said"),
      .init(name: "oneline", help: "Write one line for each answer, for a ticket"),
      DisplayOptions.strict,
      DisplayOptions.json,
    ] + RedactionOptions.options + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay why a.journal", help: "The last end"),
      .init(
        line: "sessionreplay why a.journal --all --json | jq -r .cause", help: "A word for each"),
      .init(line: "sessionreplay why a.journal --all --oneline", help: "A line for each end"),
      .init(line: "sessionreplay why a.journal --at @412", help: "What this record means"),
      .init(line: "sessionreplay why a.journal --at 14:02 --local", help: "Logged out about then"),
      .init(line: "sessionreplay why .", help: "All ends in this folder, by cause"),
    ])

  let display: DisplayOptions
  private let at: Selector?
  private let isAll: Bool
  private let isFull: Bool
  private let isOneLine: Bool
  private let isStrict: Bool
  /// The records between two places at which a search for the last end can begin, at least.
  var spacing = LateStart.usualSpacing

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments, names: .users)
    at = try arguments.selector("at")
    isAll = arguments.has("all")
    isFull = arguments.has("full")
    isOneLine = arguments.has("oneline")
    isStrict = arguments.has("strict")
    guard !(isOneLine && display.isJSON) else {
      throw .usage(.conflict, "--oneline and --json exclude each other.", next: "only one of them")
    }
    guard !(isAll && at != nil) else {
      throw .usage(.conflict, "--all and --at exclude each other.", next: "only one of them")
    }
  }

  func run(_ files: [JournalFile], _ context: ToolContext) throws(ToolError) -> ExitCode {
    if let file = JournalFolder.single(files) {
      return try run(on: try file.readable(), context)
    }
    guard at == nil else {
      throw .usage(
        .conflict, "--at is about one journal, and several are named.", next: "one file")
    }
    return try WhyFiles(
      form: display.isJSON ? .json : isOneLine ? .lines : .groups, zone: display.zone.display,
      listsAll: isAll
    ).run(
      try JournalFolder.expanded(files, isQuiet: display.isJSON, context), isStrict: isStrict,
      context)
  }

  private func run(on file: JournalFile, _ context: ToolContext) throws(ToolError) -> ExitCode {
    try file.requireSession()
    let names = JournalNames(try file.header(), file.redactor)
    var search = WhySearch(target: try target(in: file), isAll: isAll)
    var shown = Shown()
    var reader = try file.open()
    if at == nil, !isAll {
      let late = try file.lateSearch(in: &reader, spacing: spacing) {
        context.output.beat()
        return context.output.isOpen
      }
      search = late ?? search
    }
    let pass = try file.visitPieces(of: &reader, surveysDamageOnly: true) { piece in
      context.output.pulse()
      let take = { (evidence: Evidence) in
        show(file.explanation(of: evidence, in: names), &shown, context)
      }
      if let gap = piece.gap(after: search.last) {
        search.interrupt(gap, take)
        if search.knownAt == nil { shown.note(gap) }
      }
      guard case .record(let entry, _) = piece else { return context.output.isOpen }
      let isFirst = search.impossible == nil
      let goesOn = search.take(entry, take)
      if isFirst, search.impossible != nil {
        shown.note(EvidenceGap(of: entry.record.sequence, at: entry.offset, after: 0))
      }
      return goesOn && context.output.isOpen
    }
    guard context.output.isOpen else { return .ok }
    // What is wrong after the records of the answer does not concern it.
    let read = pass.fault.flatMap { $0.place.offset < search.knownAt ?? .max ? $0 : nil }
    let ended = search.fault.map(JournalFault.init)
    let fault = [ended, search.impossible.map(JournalFault.init), read].compactMap { $0 }
      .min { $0.place.offset < $1.place.offset }
    if fault?.code != .damaged { try check(search, file) }
    let reported = file.original?.explanation
    var ends: [Evidence] = []
    let rest = search.finish(damagedAt: search.damage(after: pass)) { ends.append($0) }
    for evidence in ends + [rest].compactMap({ $0 }) {
      var explanation = file.explanation(of: evidence, in: names)
      if !isAll { search.addOthers(to: &explanation) }
      show(explanation, &shown, context, beside: at == nil && !isAll ? reported : nil)
    }
    writeRest(shown, isAll ? reported : nil, context)
    if let fault {
      // If `search.fault` stopped the search, nothing after it was read.
      let isAll = search.fault == nil && fault.code == .damaged
      throw fault.error(
        file.name,
        consequence: isAll
          ? "The answer is from what can be read; nothing is proven or ruled out across what cannot."
          : "The answer is from the records up to seq \(search.last).")
    }
    return rest == nil ? .ok : .answerIsNo
  }

  /// What was shown so far, and the losses that the next answer names.
  private struct Shown {
    private(set) var answers = 0
    private(set) var last: Explanation?
    private(set) var losses: [String] = []
    private var omitted = 0

    /// The number of losses that an answer names; others are counted.
    private static let named = 20

    mutating func note(_ gap: EvidenceGap) {
      if losses.count < Self.named { losses.append(gap.words) } else { omitted += 1 }
    }

    /// The losses as lines of text.
    func lines(_ style: Style) -> [String] {
      let more = omitted > 0 ? ["\(count(omitted, "more lost part"))"] : []
      return (losses + more).map { style.red("-- \($0) --") }
    }

    mutating func add(_ explanation: Explanation) {
      (answers, last, losses, omitted) = (answers + 1, explanation, [], 0)
    }
  }

  /// Shows an answer; `reported` is the app's own explanation of the same journal.
  private func show(
    _ explanation: Explanation, _ shown: inout Shown, _ context: ToolContext,
    beside reported: ReportedExplanation? = nil
  ) {
    let other = reported.flatMap { $0.differs(from: explanation) ? $0 : nil }
    let remarks = shown.lines(context.style) + [other?.words].compactMap { $0 }
    defer { shown.add(explanation) }
    if display.isJSON {
      var json = JSONWriter()
      json.object { json in
        json.field("v", 1)
        json.explanation(explanation)
        other?.write(to: &json)
      }
      context.output.write(json.text + "\n")
    } else if isOneLine {
      let words = WhyText(zone: display.zone.display)
      let own = other.map { "; the app's own answer: [\($0.cause), \($0.certainty)]".printable }
      context.output.write(words.oneLine(explanation) + (own ?? "") + "\n")
    } else {
      let words = WhyText(zone: display.zone.display, style: context.style, isFull: isFull)
      if shown.answers > 0 { context.output.write("\n") }
      write(words.lines(explanation, remarks: remarks), context)
    }
  }

  /// Writes the losses after the last answer, and the app's own explanation beside all of them.
  private func writeRest(
    _ shown: Shown, _ reported: ReportedExplanation?, _ context: ToolContext
  ) {
    guard !display.isJSON, !isOneLine else { return }
    let other = reported.flatMap { reported in
      shown.last.map(reported.differs(from:)) ?? true ? reported.words : nil
    }
    let lines = shown.lines(context.style) + [other].compactMap { $0 }
    if !lines.isEmpty { write([""] + lines, context) }
  }

  private func write(_ lines: [String], _ context: ToolContext) {
    for line in lines {
      let lines = context.columns.map { StyledLine(line).wrapped(to: $0) } ?? [line]
      for line in lines { context.output.write(line + "\n") }
    }
  }

  // MARK: The selected record

  private func target(in file: JournalFile) throws(ToolError) -> UInt64? {
    guard let at else { return nil }
    let found = try SelectorResolver(
      file: file, zone: display.zone, readsOn: true
    )
    .resolve([(at, .atOrBefore)]).first
    if at.isTime, found == 0 {
      throw try file.beforeTheFirst(display.zone.display, option: "--at")
    }
    if case .fromEnd(let number) = at, found == 0 {
      throw .usage(
        .beyondTheStart, "\(file.name) has no record @-\(number).", next: "--at @-1")
    }
    return found
  }

  private func check(_ search: WhySearch, _ file: JournalFile) throws(ToolError) {
    guard let target = search.target else { return }
    if target < search.compacted {
      throw .usage(
        .compacted,
        "\(file.name) begins with a snapshot of the records up to @\(search.compacted); what they "
          + "were, one by one, is no longer in it.",
        next: "--at @\(search.compacted), or later")
    }
    guard case .sequence(let wanted)? = at, wanted > search.last, search.knownAt == nil else {
      return
    }
    throw .usage(
      .beyondTheEnd,
      "\(file.name) has no record @\(wanted); "
        + (search.last == 0 ? "it has no records." : "the last record is @\(search.last)."),
      next: search.last == 0 ? "--at @0" : "--at @-1")
  }
}

extension JournalNames {
  /// Creates the names of the journal with this header, as a redactor shows them.
  init(_ header: JournalHeader, _ redactor: Redactor) {
    self.init(
      journal: Identifier(redactor.journal(header)), pseudonyms: redactor.pseudonyms(for: header))
  }
}
