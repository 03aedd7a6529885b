@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// `replay-corpus`: decides recorded journals again, and reports decisions that differ.
struct ReplayCorpusCommand: Command {
  static let inputs = CommandInputs.convertedOneByOne

  static let name = "replay-corpus"
  static let syntax = CommandSyntax(
    name: name, summary: "Decide recorded journals again, and report what differs",
    discussion: """
      The code of this version makes every recorded decision again, from the inputs that the records
      prove, with the recorded policy. A decision that differs is a change of behavior.
      A batch whose inputs are not in the journal is named as not decided. What is proven, and what
      is not: Specs/WhatIf.md.

      Exit codes: 0 no decision differs; 3 some differ; 65 a journal is damaged, and its good part was
      decided.
      """,
    operands: [
      .init(name: "FOLDER", arity: .many, help: "Folders of journals, or journals")
    ],
    options: [
      .init(name: "quiet", help: "Name only journals in which a decision differs"),
      PolicyChange.recordedOption,
      DisplayOptions.json,
    ],
    examples: [
      .init(line: "sessionreplay replay-corpus Specs/Journals", help: "Every journal of a folder"),
      .init(
        line: "sessionreplay replay-corpus a.journal --json | jq .differences",
        help: "For programs"),
    ])

  let display: DisplayOptions
  private let isQuiet: Bool
  private let recorded: PolicyChange?

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    isQuiet = arguments.has("quiet")
    recorded = try arguments.policy("recorded-policy")
  }

  func run(_ files: [JournalFile], _ context: ToolContext) throws(ToolError) -> ExitCode {
    let found = try JournalFolder.expanded(files, isQuiet: display.isJSON, context)
    if let error = found.refused.first { throw error }
    let all = try JournalFile.sessions(among: found.files, display, context)
    var (journals, differing, decisions, undecided) = (0, 0, 0, 0)
    var failure: ToolError?
    for file in all {
      do throws(ToolError) {
        let (result, fault) = try replayed(try file.readable(), context)
        guard context.output.isOpen else { return .ok }
        journals += 1
        decisions += result.batches
        undecided += result.undecided
        differing += result.differences.count
        if !isQuiet || !result.differences.isEmpty {
          context.output.write(display.isJSON ? result.json : result.text)
        }
        failure =
          failure
          ?? fault?.error(
            file.name, consequence: "Only the records before it were decided again.")
      } catch {
        guard !file.isForeign(error) else {
          if !display.isJSON { context.errors.write(file.isNoExport) }
          continue
        }
        if all.count == 1 { throw error }
        failure = failure ?? error
      }
    }
    if !display.isJSON {
      context.output.write(
        "\(count(decisions, "decision")) in \(count(journals, "journal")): "
          + "\(differing) differ, \(undecided) cannot be decided again\n")
    }
    if let failure { throw failure }
    return differing == 0 ? .ok : .answerIsNo
  }

  private func replayed(_ file: JournalFile, _ context: ToolContext) throws(ToolError) -> (
    CorpusResult, JournalFault?
  ) {
    let proofs = try file.proofs(context)
    var replay = DecisionReplay(proofs, OpeningPolicies(named: recorded))
    var result = CorpusResult(name: file.rawName, proofs)
    let fault = try file.visitBatches(context) { batch in
      result.take(batch, replay.take(batch))
      return true
    }
    return (result, fault)
  }
}

extension JournalFile {
  /// Passes on each batch of a session's journal, up to the first fault; returns that fault.
  ///
  /// A batch that is cut off is left out.
  func visitBatches(_ context: ToolContext, _ body: (RecordedBatch) -> Bool) throws(ToolError)
    -> JournalFault?
  {
    var records: [SessionRecord] = []
    var fold = SessionFold()
    var illegal: JournalFault?
    let pass = try visit { entry in
      context.output.pulse()
      do throws(SessionFold.Failure) {
        try fold.apply(entry.record)
      } catch {
        illegal = JournalFault(error, at: entry.place)
        return false
      }
      records.append(entry.record)
      guard entry.remainingInBatch == 0, let batch = RecordedBatch(records) else {
        return context.output.isOpen
      }
      records = []
      return body(batch) && context.output.isOpen
    }
    return illegal ?? pass.fault
  }

  /// Returns what the whole journal proves about its openings.
  func proofs(_ context: ToolContext) throws(ToolError) -> JournalProofs {
    var proofs = JournalProofs()
    _ = try visitBatches(context) { batch in
      proofs.take(batch)
      return true
    }
    return proofs
  }
}
