@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// `verify`: checks whether a journal is good, and up to which byte.
struct VerifyCommand: Command {
  static let syntax = CommandSyntax(
    name: "verify", summary: "Check every checksum, payload and transition",
    discussion: """
      Checks that each frame is whole and follows the one before it, that each payload is what its
      kind says, and that each event is legal in the state before it. Counts what is good. Where an
      app is writing, what it adds after the beginning is not looked at.

      Exit codes: 0 good; 2 good but for a tail that a writer left unfinished; 65 not good; of
      several files the worst.
      """,
    operands: [
      .init(
        name: "FILE", arity: .many,
        help: "A journal, or a folder with *.journal in it; - reads standard input")
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
    let expanded = try JournalFolder.expanded(files)
    if let file = expanded.first, expanded.count == 1 {
      guard let failure = failure(of: file, context, behind: "") else { return .ok }
      guard !isVerdict(failure) else { return failure.code }
      throw failure
    }
    var worst = ExitCode.ok
    var separator = ""
    for file in expanded where context.output.isOpen {
      let failure = failure(of: file, context, behind: separator)
      if failure?.place != nil || failure == nil { separator = display.isJSON ? "" : "\n" }
      guard let failure, failure.name != .interrupted else { continue }
      worst = ExitCode.worse(worst, failure.code)
      guard !isVerdict(failure) else { continue }
      // Flushing keeps the order of the files even if both outputs are the same.
      context.output.flush()
      context.errors.write(display.isJSON ? failure.json : failure.text)
      context.errors.flush()
    }
    return worst
  }

  /// Whether the exit code alone answers the question.
  private func isVerdict(_ failure: ToolError) -> Bool {
    isQuiet && (failure.code == .damaged || failure.code == .tail)
  }

  /// Prints the report; returns an error if the journal is not good.
  private func failure(
    of file: JournalFile, _ context: ToolContext, behind separator: String
  ) -> ToolError? {
    do throws(ToolError) {
      try check(file, context, behind: separator)
      return nil
    } catch {
      return error
    }
  }

  private func check(
    _ file: JournalFile, _ context: ToolContext, behind separator: String
  ) throws(ToolError) {
    var report = try VerifyReport(of: file)
    let pass = try file.visitFrames { frame, payload in
      context.output.pulse()
      report.take(frame, payload)
      return context.output.isOpen
    }
    guard context.output.isOpen else { return }
    report.finish(pass)
    if !isQuiet {
      let text =
        display.isJSON ? report.json : report.text(zone: display.zone, style: context.style)
      context.output.write(separator + text)
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
    case .undetermined, .damaged, .undecodable, .illegal, .outOfPlace, .unknownKind:
      return "\(good)."
    }
  }

  private func next(_ fault: JournalFault, _ file: JournalFile) -> String? {
    let repair =
      file.isStandardInput || !fault.hasGoodRecords
      ? "" : "sessionreplay repair \(file.name) -o OUT, for what is good of it; or "
    switch fault {
    case .torn, .undetermined, .unknownKind: return nil
    case .outOfPlace:
      return repair + "keep a copy, and restore the file from one that is good"
    case .damaged, .undecodable, .illegal:
      return repair + "keep a copy, and restore the file from one that is good; "
        + "an app may set it aside and go on with a new journal"
    }
  }
}
