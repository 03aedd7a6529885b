@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// `verify`: checks whether a journal is good, and up to which byte.
struct VerifyCommand: Command {
  static let inputs = CommandInputs.convertedOneByOne

  static let name = "verify"
  static let syntax = CommandSyntax(
    name: name, summary: "Check every checksum, payload and transition",
    discussion: """
      Checks that each frame is whole and follows the one before it, that each payload is what its
      kind says, and that each event is legal in the state before it. Counts what is good. What an
      app appends while the command reads is not checked. Of several files it prints
      those that are not good, and a line that counts all; with --json a line for each.

      Exit codes: 0 good; 2 good but for a tail that a writer left unfinished; 65 not good; of
      several files the worst.
      """,
    operands: [
      .init(
        name: "FILE", arity: .many,
        help: "Journals, or folders of them; - reads standard input")
    ],
    options: [
      .init(name: "quiet", help: "Say nothing of what is checked; the exit code tells"),
      DisplayOptions.json,
    ] + RedactionOptions.options + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay verify a.journal", help: "A report"),
      .init(line: "sessionreplay verify a.journal --json | jq .verdict", help: "One word"),
      .init(line: "sessionreplay verify --quiet .", help: "Whether all that are here are good"),
    ])

  let display: DisplayOptions
  private let isQuiet: Bool

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    isQuiet = arguments.has("quiet")
  }

  func run(_ files: [JournalFile], _ context: ToolContext) throws(ToolError) -> ExitCode {
    if let file = JournalFolder.single(files) {
      guard let failure = failure(of: file, showsGood: true, context) else { return .ok }
      guard !isVerdict(failure) else { return failure.code }
      throw failure
    }
    let all = try JournalFolder.expanded(files, isQuiet: display.isJSON, context)
    var tally = VerifyTally()
    for failure in all.refused { complain(failure, &tally, context) }
    for file in all.files where context.output.isOpen {
      let failure = failure(of: file, showsGood: display.isJSON, context)
      guard let failure else {
        tally.good += 1
        continue
      }
      guard failure.name != .interrupted else { continue }
      guard !file.isForeign(failure) else {
        if !display.isJSON { context.errors.write(file.isNoExport) }
        continue
      }
      complain(failure, &tally, context)
      if failure.place != nil, !display.isJSON, !isQuiet { context.output.write("\n") }
    }
    if !display.isJSON, !isQuiet, context.output.isOpen { context.output.write(tally.text) }
    return tally.worst
  }

  private func complain(_ failure: ToolError, _ tally: inout VerifyTally, _ context: ToolContext) {
    tally.add(failure)
    guard !isVerdict(failure) else { return }
    // Flushing keeps the order of the files even if both outputs are the same.
    context.output.flush()
    context.errors.write(display.isJSON ? failure.json : failure.text)
    context.errors.flush()
  }

  /// Whether the exit code alone answers the question.
  private func isVerdict(_ failure: ToolError) -> Bool {
    isQuiet && (failure.code == .damaged || failure.code == .tail)
  }

  /// Prints the report, of a good journal only if `showsGood` is true; returns an error if it is not
  /// good.
  private func failure(
    of file: JournalFile, showsGood: Bool, _ context: ToolContext
  ) -> ToolError? {
    do throws(ToolError) {
      try check(try file.readable(), showsGood: showsGood, context)
      return nil
    } catch {
      return error
    }
  }

  private func check(
    _ file: JournalFile, showsGood: Bool, _ context: ToolContext
  ) throws(ToolError) {
    var report = try VerifyReport(of: file)
    let pass = try file.visitFrames { frame, payload in
      context.output.pulse()
      report.take(frame, payload)
      return context.output.isOpen
    }
    guard context.output.isOpen else { return }
    report.finish(pass)
    if !isQuiet, showsGood || report.fault != nil {
      let text =
        display.isJSON ? report.json : report.text(zone: display.zone, style: context.style)
      context.output.write(text)
    }
    guard let fault = report.fault else { return }
    throw fault.error(file.name, consequence: consequence(fault, report), next: next(fault, file))
  }

  private func consequence(_ fault: JournalFault, _ report: VerifyReport) -> String {
    let good =
      report.records == 0
      ? "No record comes before it"
      : "Good before it: \(count(report.records, "record")), to seq \(report.lastSequence)"
    switch fault {
    case .torn: return "\(good). Nobody was told that more was written."
    case .undetermined, .damaged, .undecodable, .illegal, .outOfPlace, .unknownKind, .badLine,
      .exported:
      return "\(good)."
    }
  }

  private func next(_ fault: JournalFault, _ file: JournalFile) -> String? {
    let repair =
      file.isStandardInput || !fault.hasGoodRecords
      ? "" : "sessionreplay repair \(file.name) -o OUT, for what is good of it; or "
    switch fault {
    case .torn, .undetermined, .unknownKind, .badLine, .exported: return nil
    case .outOfPlace:
      return repair + "keep a copy, and restore the file from one that is good"
    case .damaged, .undecodable, .illegal:
      return repair + "keep a copy, and restore the file from one that is good; "
        + "an app may set it aside and go on with a new journal"
    }
  }
}

/// The number of journals by verdict.
private struct VerifyTally {
  var good = 0
  private var tails = 0
  private var damaged = 0
  private var unread = 0
  private(set) var worst = ExitCode.ok

  mutating func add(_ failure: ToolError) {
    worst = ExitCode.worse(worst, failure.code)
    switch failure.code {
    case .tail: tails += 1
    case .damaged: damaged += 1
    default: unread += 1
    }
  }

  /// One line: `3 journals: 1 good, 1 with an unfinished tail, 1 damaged`.
  var text: String {
    var parts = ["\(good.grouped) good"]
    if tails > 0 { parts.append("\(tails.grouped) with an unfinished tail") }
    if damaged > 0 { parts.append("\(damaged.grouped) damaged") }
    if unread > 0 { parts.append("\(unread.grouped) not read") }
    let all = good + tails + damaged + unread
    return "\(count(all, "journal")): \(parts.joined(separator: ", "))\n"
  }
}
