@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// `follow`: shows the last records, and then new ones as any process writes them.
struct FollowCommand: JournalCommand {
  static let inputs = CommandInputs.journals

  static let name = "follow"
  static let syntax = CommandSyntax(
    name: name, summary: "Show records as they are written, by whatever process",
    discussion: """
      Shows the last ten records and then each new one within a moment. No lock is taken; when the
      journal is compacted meanwhile, following goes on. A file that is not there yet is waited for.
      Ends at Ctrl-C, when the output is closed,
      after --timeout, with the first record of --until-kind, and when the file is damaged, replaced
      or gone. --timeout counts from the start and takes 250ms, 90s, 5m, 1h30m, 2d.
      """,
    operands: [.init(name: "FILE", help: "A journal or its folder")],
    options: [
      .init(
        name: "number", letter: "n", value: "N",
        help: "Begin with the last N, at most \(LastEntries.most) (10)"),
      .init(
        name: "since", value: "SELECTOR", values: .selector,
        help: "Begin with this record, or the first at or after it"),
    ] + RecordFilter.options + [
      TimelineCommand.deltaOption,
      .init(
        name: "until-kind", value: "KIND,...", values: .kinds,
        help: "End with the first new record of one of these"),
      .init(
        name: "timeout", value: "TIME",
        help: "End after this time; with --until-kind that is exit code 3"),
      DisplayOptions.json,
    ] + RedactionOptions.options + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay follow a.journal", help: "The last ten, and what comes"),
      .init(
        line: "sessionreplay follow a.journal --until-kind logout --timeout 30s",
        help: "Wait for a logout, 30 s at most"),
      .init(
        line: "sessionreplay follow a.journal --json | jq .name", help: "For programs"),
    ])

  let display: DisplayOptions
  private let number: Int
  private let since: Selector?
  private let filter: RecordFilter
  private let untilKinds: KindFilter?
  private let untilText: String
  private let timeout: Int64?
  private let showsDelta: Bool

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    since = try arguments.selector("since")
    filter = try RecordFilter(arguments)
    showsDelta = arguments.has("delta")
    let number = try arguments.number(
      "number", spelled: "-n", example: "10", upTo: LastEntries.most)
    self.number = number.map { Int($0) } ?? (since == nil ? 10 : Int(LastEntries.most))
    untilText = arguments.value("until-kind") ?? ""
    if let text = arguments.value("until-kind") {
      untilKinds = try KindFilter(text, of: "--until-kind")
    } else {
      untilKinds = nil
    }
    if let text = arguments.value("timeout") {
      guard let span = Span.milliseconds(text[...]) else {
        throw .usage(
          .badDuration, "--timeout cannot be '\(text.shortened)': that is no span of time.",
          next: "--timeout 30s, 5m or 1h30m")
      }
      timeout = span
    } else {
      timeout = nil
    }
    guard !arguments.operands.contains("-") else {
      throw .usage(
        .badValue, "'follow' cannot read standard input: nobody appends to it as to a journal.",
        next: "sessionreplay follow FILE")
    }
  }

  func run(on file: JournalFile, _ context: ToolContext) throws(ToolError) {
    let start = ContinuousClock.now
    var first: UInt64?
    var number = number
    if try waits(for: file, since: start, context) {
      guard context.output.isOpen else { return }
      // All that the new file has is new.
      (first, number) = (0, Int(LastEntries.most))
    }
    try file.requireRedactable()
    if let since {
      first = try SelectorResolver(file: file, zone: display.zone)
        .resolve([(since, .atOrAfter)]).first
    }
    var pass = FollowPass(
      filter: filter, until: untilKinds, decoder: file.decoder(for: try file.header()),
      context: context,
      line: EntryLine(
        display: display, style: context.style, asked: .init(delta: showsDelta)))
    try pass.begin(file, from: first, last: number)
    guard !pass.isDone else { return }
    let tail = FollowedFile(
      path: file.path, sequence: pass.lastSequence, fileSystem: file.files)
    while context.output.isOpen {
      try pass.take(all: tail, of: file)
      guard !pass.isDone, context.output.isOpen else { return }
      var pause = Duration.milliseconds(50)
      if let timeout {
        let left = start + .milliseconds(timeout) - ContinuousClock.now
        guard left > .zero else { return try timeIsOver(pass.lastSequence, timeout) }
        pause = min(pause, left)
      }
      let (seconds, attoseconds) = pause.components
      // The pause is rounded up, so that the time limit has passed after the last one.
      let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1
      context.output.pause(milliseconds: Int32(clamping: milliseconds))
    }
  }

  /// Waits until the file is there; returns whether it was not there at first.
  private func waits(
    for file: JournalFile, since start: ContinuousClock.Instant, _ context: ToolContext
  ) throws(ToolError) -> Bool {
    guard let lack = try lack(of: file) else { return false }
    if !display.isJSON {
      let name = file.name.printable
      context.errors.write(
        lack == .file
          ? "Note: there is no file at \(name) yet; waiting for it.\n"
          : "Note: \(name) is empty; waiting for its first bytes.\n")
      context.errors.flush()
    }
    while context.output.isOpen, try self.lack(of: file) != nil {
      var pause: Int64 = 50
      if let timeout {
        let left = (start + .milliseconds(timeout) - ContinuousClock.now) / .milliseconds(1)
        guard left > 0 else {
          try timeIsOver(0, timeout)
          throw ToolError(
            .missing, .missing,
            "No journal came to \(file.name) within \(DurationFormatter.text(milliseconds: timeout)).",
            next: "check the path, or a longer --timeout")
        }
        pause = min(pause, Int64(left.rounded(.up)))
      }
      context.output.pause(milliseconds: Int32(clamping: pause))
    }
    return true
  }

  /// `ENOENT`, the same on all systems.
  private static let noEntry: Int32 = 2

  /// What a journal lacks before its writer has begun it.
  private enum Lack {
    case file
    case bytes
  }

  /// Returns what there is to wait for; throws if there is no folder for the file.
  private func lack(of file: JournalFile) throws(ToolError) -> Lack? {
    do throws(SystemFault) {
      let status = try file.files.status(of: file.path)
      return status.size == 0 && status.kind == .file ? .bytes : nil
    } catch {
      // Another fault is reported by the command that opens the file.
      guard error.code == Self.noEntry, !file.path.isEmpty, !file.path.hasSuffix("/") else {
        return nil
      }
    }
    let end = file.path.lastIndex(of: "/")
    let folder = end.map { String(file.path[...$0]) } ?? "."
    do throws(SystemFault) {
      _ = try file.files.status(of: folder)
      return .file
    } catch {
      throw ToolError(
        .missing, .missing,
        "There is no file at \(file.name), and \(folder.quotedWhereNeeded) is no folder that can be read.",
        next: "check the path")
    }
  }

  private func timeIsOver(_ last: UInt64, _ timeout: Int64) throws(ToolError) {
    guard untilKinds != nil else { return }
    throw ToolError(
      .answerIsNo, .timedOut,
      "No \(untilText) came within \(DurationFormatter.text(milliseconds: timeout)); "
        + (last == 0 ? "there is no record." : "the last record is @\(last)."),
      next: "a longer --timeout")
  }
}

/// The state of a run of `follow`: what it has shown, and whether it has seen what it waits for.
private struct FollowPass {
  let filter: RecordFilter
  let until: KindFilter?
  let context: ToolContext
  var line: EntryLine
  /// The last sequence that was read, shown or not.
  private(set) var lastSequence: UInt64 = 0
  private(set) var isDone = false

  private var above: Timestamp?
  private var decoder: RecordDecoder

  init(
    filter: RecordFilter, until: KindFilter?, decoder: RecordDecoder, context: ToolContext,
    line: EntryLine
  ) {
    self.decoder = decoder
    self.filter = filter
    self.until = until
    self.context = context
    self.line = line
  }

  /// Shows the last records, or those from `first` on, which count as new.
  mutating func begin(_ file: JournalFile, from first: UInt64?, last number: Int)
    throws(ToolError)
  {
    var held = LastEntries(number)
    let output = context.output
    let fault = try file.visit { entry in
      output.pulse()
      guard output.isOpen else { return false }
      lastSequence = entry.record.sequence
      guard entry.record.sequence >= first ?? 0 else { return true }
      isDone = first != nil && until?.includes(entry.record.content) == true
      if isDone || filter.includes(entry.record.content) { held.take(entry) }
      return !isDone
    }.fault
    for entry in held.inOrder where output.isOpen { show(entry) }
    guard output.isOpen, let fault, fault.code != .tail else { return }
    throw fault.error(file.name, consequence: "Nothing behind it is followed.")
  }

  /// Shows the records that were appended since the last call.
  mutating func take(all tail: FollowedFile, of file: JournalFile) throws(ToolError) {
    while context.output.isOpen, !isDone, let record = try next(tail, file) {
      let entry = JournalEntry(
        record: try decoded(record, file), offset: record.offset,
        remainingInBatch: record.remainingInBatch)
      context.output.pulse()
      lastSequence = record.sequence
      isDone = until?.includes(entry.record.content) == true
      guard isDone || filter.includes(entry.record.content) else { continue }
      show(entry)
      // A process that reads this may act on it now.
      context.output.flush()
    }
  }

  private func next(_ tail: FollowedFile, _ file: JournalFile) throws(ToolError) -> JournalRecord? {
    do throws(JournalError) {
      return try tail.next()
    } catch {
      throw ToolError(error, in: file)
    }
  }

  private mutating func decoded(_ record: JournalRecord, _ file: JournalFile) throws(ToolError)
    -> SessionRecord
  {
    do throws(CodecError) {
      return try decoder.decode(
        sequence: record.sequence, kind: record.kind, payload: record.payload.span.bytes)
    } catch {
      let place = JournalPlace(sequence: record.sequence, offset: record.offset)
      throw JournalFault.undecodable(place, error).error(
        file.name, consequence: "Everything before it was shown.")
    }
  }

  private mutating func show(_ entry: JournalEntry) {
    let time = entry.record.time
    let delta = above.map { time.milliseconds(since: $0) }
    above = time
    let output = context.output
    line.write(entry, .init(delta: delta)) { output.write($0) }
  }
}
