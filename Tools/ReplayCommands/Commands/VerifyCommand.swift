internal import SessionCore

/// `verify`: whether a journal is good, and how far.
struct VerifyCommand: JournalCommand {
  static let syntax = CommandSyntax(
    name: "verify", summary: "Check every checksum, payload and transition",
    discussion: """
      Checks that each frame is whole and follows the one before it, that each payload is what its
      kind says, and that each event is legal in the state before it. Counts what is good.
      Exit codes: 0 good; 2 good but for a tail that a writer left unfinished; 65 not good.
      """,
    operands: operands, options: [DisplayOptions.json] + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay verify a.journal", help: "A report"),
      .init(line: "sessionreplay verify a.journal --json | jq .verdict", help: "One word"),
    ])

  let display: DisplayOptions

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
  }

  func run(on file: JournalFile, _ context: ToolContext) throws(ToolError) {
    var report = VerifyReport(name: file.name)
    let pass = try file.visitFrames { frame, payload in report.take(frame, payload) }
    report.finish(pass)
    context.output.write(
      display.isJSON ? report.json : report.text(zone: display.zone, style: context.style))
    guard let fault = report.fault else { return }
    throw fault.error(file.name, consequence: consequence(fault, report), next: next(fault))
  }

  private func consequence(_ fault: JournalFault, _ report: VerifyReport) -> String {
    let good =
      report.records == 0
      ? "No record comes before it"
      : "Good before it: \(count(report.records, "record")), to seq \(report.lastSequence)"
    switch fault {
    case .torn: return "\(good). Nobody was told that more was written."
    case .undetermined, .damaged, .undecodable, .illegal, .unknownKind: return "\(good)."
    }
  }

  private func next(_ fault: JournalFault) -> String? {
    switch fault {
    case .torn, .undetermined, .unknownKind: nil
    case .damaged, .undecodable, .illegal:
      "keep a copy, and restore the file from one that is good; "
        + "an app may set it aside and go on with a new journal"
    }
  }
}
