internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// Explains every end in many journals.
struct WhyFiles {
  enum Form {
    /// A heading for each cause, and a line for each end below it.
    case groups
    /// A line for each end, in the order of the files.
    case lines
    /// An object for each end, in the order of the files.
    case json
  }

  let form: Form
  let zone: DisplayZone

  /// One end, as it is shown.
  private struct Line: Sendable {
    let cause: Cause
    /// The first part of the summary: what the user experienced and what happened.
    let opening: String
    let text: String
  }

  func run(
    _ all: JournalFolder.Expansion, isStrict: Bool, _ context: ToolContext
  ) throws(ToolError) -> ExitCode {
    let (form, isJSON) = (form, form == .json)
    let words = WhyText(zone: zone)
    let reading = RowsReading<EndAnswers, [Line]>(interruption: context.interruption) {
      ends, source in
      ends.map { end in
        Line(
          cause: end.cause,
          opening: form == .groups ? end.explanation(in: source).opening(in: .english) : "",
          text: isJSON ? Self.object(end, source) : Self.line(end, source, words))
      }
    }
    var groups: [Cause: [Line]] = [:]
    var ends = 0
    let outcome = reading.read(all) { lines in
      ends += lines.count
      for line in lines {
        if form == .groups {
          groups[line.cause, default: []].append(line)
        } else {
          context.output.write(line.text + "\n")
        }
      }
      return context.output.isOpen
    }
    guard context.output.isOpen else { return .ok }
    try outcome.check(isJSON: isJSON, context)
    if form == .groups { write(groups, context) }
    if !isJSON { context.output.write(Self.summary(ends, outcome.read)) }
    context.output.flush()
    outcome.list(isJSON: isJSON, context)
    let code = outcome.code(isStrict: isStrict)
    return code == .ok && ends == 0 ? .answerIsNo : code
  }

  private func write(_ groups: [Cause: [Line]], _ context: ToolContext) {
    let sorted = groups.sorted { left, right in
      left.value.count == right.value.count
        ? left.key.id < right.key.id : left.value.count > right.value.count
    }
    for (cause, lines) in sorted where context.output.isOpen {
      let heading = "\(lines.count.grouped) × \(cause.id)"
      context.output.write(context.style.bold(heading) + "\n")
      if let first = lines.first { context.output.write("\(first.opening).\n") }
      for line in lines where context.output.isOpen { context.output.write("  \(line.text)\n") }
      context.output.write("\n")
    }
  }

  private static func summary(_ ends: Int, _ journals: Int) -> String {
    ends == 0
      ? "Nothing ended in \(count(journals, "journal")).\n"
      : "\(count(ends, "end")) in \(count(journals, "journal")).\n"
  }

  private static func line(_ end: EndAnswer, _ source: RowSource, _ words: WhyText) -> String {
    let explanation = end.explanation(in: source)
    let place = explanation.sequence.map { " @\($0)" } ?? ""
    return "\(source.file.quotedWhereNeeded.printable)\(place)  \(words.oneLine(explanation))"
  }

  private static func object(_ end: EndAnswer, _ source: RowSource) -> String {
    var json = JSONWriter()
    end.write(to: &json, of: source)
    return json.text
  }
}
