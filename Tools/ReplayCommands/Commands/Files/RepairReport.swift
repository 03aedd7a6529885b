internal import SessionCore

/// What a repair did, or would do.
struct RepairReport {
  /// What became of what is good.
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
    switch done {
    case .nothing:
      let name = file.path.hasPrefix("/dev/fd/") ? "-" : file.name
      lines.append("Nothing was written. Next: sessionreplay repair \(name) -o OUT")
    case .file(let path, _): lines.append("Next: sessionreplay verify \(path.quotedWhereNeeded)")
    case .inPlace: lines.append("Next: sessionreplay verify \(file.name)")
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
    guard let sequences = finding.readableSequences else {
      return "\(count(finding.dropped, "byte")), in which no record can be read"
    }
    let place =
      sequences.count == 1
      ? "seq \(sequences.lowerBound)" : "seq \(sequences.lowerBound) to \(sequences.upperBound)"
    return
      "\(count(finding.dropped, "byte")), in which \(count(finding.readable, "record")) can still "
      + "be read (\(place))"
  }

  private var state: String {
    var text = finding.fold.state.kind.description
    if let token = finding.fold.state.token { text += ", \(token.generation)" }
    return text
      + (finding.records == 0 ? ", as in a new journal" : ", as of seq \(finding.fold.sequence)")
  }

  var json: String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("input", file.name)
      switch done {
      case .nothing: paths(&json, nil, nil, nil)
      case .file(let path, let dropped): paths(&json, path, dropped, nil)
      case .inPlace(let backup): paths(&json, file.path, nil, backup)
      }
      json.field("verdict", finding.fault?.verdict ?? "good")
      json.object("kept") { json in
        json.field("bytes", finding.end)
        json.field("records", finding.records)
        json.field("lastSequence", finding.records == 0 ? nil : finding.fold.sequence)
      }
      if finding.fault == nil {
        json.null("lost")
      } else {
        json.object("lost") { json in
          json.field("offset", finding.end)
          json.field("bytes", finding.dropped)
          json.field("readableRecords", finding.readable)
        }
      }
      json.field("state", finding.fold.state.kind.description)
      json.field("generation", finding.fold.generation.number)
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
