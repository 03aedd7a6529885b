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
    /// Whether it is an end, and not an open session.
    let isEnd: Bool
  }

  func run(
    _ all: JournalFolder.Expansion, isStrict: Bool, _ context: ToolContext
  ) throws(ToolError) -> ExitCode {
    let (form, isJSON) = (form, form == .json)
    let words = WhyText(zone: zone)
    let reading = RowsReading<EndAnswers, [Line]>(interruption: context.interruption) {
      ends, source in
      ends.map { end in
        guard end.isEnd else { return Line(cause: end.cause, opening: "", text: "", isEnd: false) }
        return Line(
          cause: end.cause,
          opening: form == .groups ? end.explanation(in: source).opening(in: .english) : "",
          text: isJSON ? Self.object(end, source) : Self.line(end, source, words), isEnd: true)
      }
    }
    var groups: [Cause: [Line]] = [:]
    var ends = 0
    var open: [Cause: Int] = [:]
    let outcome = reading.read(all) { lines in
      for line in lines {
        guard line.isEnd else {
          open[line.cause, default: 0] += 1
          continue
        }
        ends += 1
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
    if !isJSON { context.output.write(Self.summary(ends, outcome.read, open)) }
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

  /// Returns the last line; if nothing ended, it says how the sessions stand.
  private static func summary(_ ends: Int, _ journals: Int, _ open: [Cause: Int]) -> String {
    guard ends == 0 else { return "\(count(ends, "end")) in \(count(journals, "journal")).\n" }
    let sorted = open.sorted { ($1.value, $0.key.id) < ($0.value, $1.key.id) }
    var parts = sorted.map { "\($0.value.grouped) × \($0.key.id)" }
    let closed = journals - open.values.reduce(0, +)
    if closed > 0 { parts.append("\(closed.grouped) × signed out") }
    let stand = parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")
    return "Nothing ended in \(count(journals, "journal"))\(stand).\n"
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
