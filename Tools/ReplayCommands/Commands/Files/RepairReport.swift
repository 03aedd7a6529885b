@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// What a repair did, or would do.
struct RepairReport {
  /// The result for the good prefix.
  enum Done: Equatable {
    case nothing
    case file(String, dropped: String)
    case inPlace(backup: String)
  }

  let file: JournalFile
  let finding: RepairFinding
  let done: Done

  init(_ file: JournalFile, _ finding: RepairFinding, _ done: Done) {
    self.file = file
    self.finding = finding
    self.done = done
  }

  var text: String {
    guard let fault = finding.fault else {
      return
        "\(file.name) is good: \(count(finding.records, "record")), nothing to repair.\n"
        .printableLines
    }
    var lines = [head, "  fault     \(fault.message(file.name))"]
    lines.append("  behind    \(behind)")
    lines.append("  state     \(state)")
    if finding.needsMark {
      lines.append(
        "  mark      @\(finding.nextSequence) (tailCut) \(done == .nothing ? "would say" : "says") "
          + "that what is dropped may have been acknowledged")
    }
    switch done {
    case .nothing:
      let name = file.isStandardInput ? "-" : file.name
      lines.append("Nothing was written. Next: sessionreplay repair \(name) -o OUT")
    case .file(let path, _): lines.append("Next: sessionreplay verify \(path.quotedWhereNeeded)")
    case .inPlace:
      lines.append(
        "An app that had it open and read what is dropped cannot write to it: start it again.")
      lines.append("Next: sessionreplay verify \(file.name)")
    }
    return lines.joined(separator: "\n").printableLines + "\n"
  }

  private var head: String {
    let kept = "\(count(finding.records, "record")) (\(count(finding.end, "byte")))"
    let dropped = count(finding.dropped, "byte")
    return switch done {
    case .nothing: "\(file.name): \(kept) would be kept, \(dropped) dropped"
    case .file(let path, let rest):
      "\(file.name) → \(path.quotedWhereNeeded): \(kept) kept, \(dropped) dropped into "
        + rest.quotedWhereNeeded
    case .inPlace(let backup):
      "\(file.name): \(kept) kept, \(dropped) dropped; all of it as it was is "
        + backup.quotedWhereNeeded
    }
  }

  private var behind: String {
    let readable =
      finding.readable == 0
      ? "no record of a whole batch can be read"
      : "\(count(finding.readable, "record")) can still be read" + place
    let loose = finding.looseFrames
    return "\(count(finding.dropped, "byte")), in which \(readable)"
      + (loose == 0
        ? ""
        : "; \(count(loose, "whole frame")) more \(loose == 1 ? "is" : "are") of no whole batch")
  }

  /// The readable sequences as text.
  ///
  /// Sequences of watermarks lie between them, too.
  private var place: String {
    guard let sequences = finding.readableSequences else { return "" }
    guard sequences.count > 1 else { return " (seq \(sequences.lowerBound))" }
    let span = "seq \(sequences.lowerBound) to \(sequences.upperBound)"
    return UInt64(sequences.count) == finding.readable ? " (\(span))" : " (within \(span))"
  }

  private var state: String {
    if let other = finding.other {
      return other.log.line + ", as of seq \(other.sequence)"
    }
    var text = finding.fold.state.kind.description
    if let token = finding.fold.state.token { text += ", \(token.generation)" }
    return text
      + (finding.records == 0 ? ", as in a new journal" : ", as of seq \(finding.fold.sequence)")
  }

  /// The error to print if the report cannot be written; `nil` if nothing was done.
  var doneUntold: ToolError? {
    let message = "\(file.name) was repaired, but the report of it could not be written."
    switch done {
    case .nothing: return nil
    case .file(let path, let dropped):
      return ToolError(
        .inputOutput, .output, message,
        consequence: "\(path.quotedWhereNeeded) and \(dropped.quotedWhereNeeded) are there.",
        next: "sessionreplay verify \(path.quotedWhereNeeded)")
    case .inPlace(let backup):
      return ToolError(
        .inputOutput, .output, message,
        consequence: "All of it as it was is \(backup.quotedWhereNeeded).",
        next: "sessionreplay verify \(file.name)")
    }
  }

  var json: String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("input", file.rawName)
      switch done {
      case .nothing: paths(&json, nil, nil, nil)
      case .file(let path, let dropped): paths(&json, path, dropped, nil)
      case .inPlace(let backup): paths(&json, file.path, nil, backup)
      }
      json.field("verdict", finding.fault.verdict.rawValue)
      json.object("kept") { json in
        json.field("bytes", finding.end)
        json.field("records", finding.records)
        json.field("lastSequence", finding.records == 0 ? nil : finding.lastSequence)
      }
      if finding.fault == nil {
        json.null("lost")
      } else {
        json.object("lost") { json in
          json.field("offset", finding.end)
          json.field("bytes", finding.dropped)
          json.field("readableRecords", finding.readable)
          json.field("looseFrames", finding.looseFrames)
        }
      }
      json.field(
        "state",
        finding.other?.log.kind.rawValue ?? finding.fold.state.kind.description)
      json.field("generation", finding.fold.generation.number)
      json.field("mark", finding.needsMark ? finding.nextSequence : nil)
      json.field("isDone", done != .nothing)
    }
    return json.text + "\n"
  }

  private func paths(
    _ json: inout JSONWriter, _ output: String?, _ dropped: String?, _ backup: String?
  ) {
    json.field("output", output)
    json.field("dropped", dropped)
    json.field("backup", backup)
  }
}
