internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// Explains every end in many journals.
struct WhyFiles {
  enum Form {
    /// A table of the causes, then each cause with its sentences and its ends.
    case groups
    /// A line for each end, in the order of the files.
    case lines
    /// An object for each end, in the order of the files.
    case json
  }

  /// The number of ends below each cause, unless all are asked for.
  static let shownEnds = 5

  let form: Form
  let zone: DisplayZone
  /// Whether groups list all ends.
  var listsAll = false

  func run(
    _ all: JournalFolder.Expansion, isStrict: Bool, _ context: ToolContext
  ) throws(ToolError) -> ExitCode {
    let (form, isJSON) = (form, form == .json)
    let words = WhyText(zone: zone)
    let reading = RowsReading<EndAnswers, [Line]>(interruption: context.interruption) {
      ends, source in
      ends.map { end in
        guard end.isEnd else { return .open(end.cause) }
        return switch form {
        case .json: .text(Self.object(end, source))
        case .lines: .text(Self.line(end, source) { words.oneLine($0) })
        case .groups:
          .end(Self.line(end, source) { words.caseLine($0) }, end.explanation(in: source))
        }
      }
    }
    var groups = CauseGroups(most: listsAll ? .max : Self.shownEnds)
    var ends = 0
    var open: [Cause: Int] = [:]
    let outcome = reading.read(all) { lines in
      for line in lines {
        switch line {
        case .open(let cause): open[cause, default: 0] += 1
        case .text(let text): context.output.write(text + "\n")
        case .end(let text, let explanation): groups.take(text, explanation)
        }
        if !line.isOpen { ends += 1 }
      }
      return context.output.isOpen
    }
    guard context.output.isOpen else { return .ok }
    try outcome.check(isJSON: isJSON, context)
    if form == .groups {
      for line in groups.lines(context.style) where context.output.isOpen {
        let lines = context.columns.map { StyledLine(line).wrapped(to: $0) } ?? [line]
        for line in lines { context.output.write(line + "\n") }
      }
    }
    if !isJSON { context.output.write(Self.summary(ends, outcome.read, open)) }
    context.output.flush()
    outcome.list(isJSON: isJSON, context)
    let code = outcome.code(isStrict: isStrict)
    return code == .ok && ends == 0 ? .answerIsNo : code
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

  private static func line(
    _ end: EndAnswer, _ source: RowSource, _ words: (Explanation) -> String
  ) -> String {
    let explanation = end.explanation(in: source)
    let place = explanation.sequence.map { " @\($0)" } ?? ""
    return "\(source.file.quotedWhereNeeded.printable)\(place)  \(words(explanation))"
  }

  private static func object(_ end: EndAnswer, _ source: RowSource) -> String {
    var json = JSONWriter()
    end.write(to: &json, of: source)
    return json.text
  }
}

/// What is shown of a session.
private enum Line: Sendable {
  /// An end, in one line.
  case text(String)
  /// An end of a group, in one line.
  case end(String, Explanation)
  /// A session that is open.
  case open(Cause)

  var isOpen: Bool { if case .open = self { true } else { false } }
}

/// The ends of many journals by cause.
private struct CauseGroups {
  private struct Group {
    /// The first end of the highest certainty: the sentences are about it.
    var best: Explanation
    var certainties: [Certainty: Int] = [:]
    var lines: [String] = []

    var count: Int { certainties.values.reduce(0, +) }
  }

  /// The number of ends that a group lists.
  let most: Int
  private var groups: [Cause: Group] = [:]

  init(most: Int) { self.most = most }

  /// Adds an end, which `text` shows in one line.
  mutating func take(_ text: String, _ explanation: Explanation) {
    var group = groups.removeValue(forKey: explanation.cause) ?? Group(best: explanation)
    let hasOneCode = group.best.code == explanation.code
    if explanation.certainty > group.best.certainty { group.best = explanation }
    if !hasOneCode { group.best.code = nil }
    group.certainties[explanation.certainty, default: 0] += 1
    if group.lines.count < most { group.lines.append(text) }
    groups[explanation.cause] = group
  }

  /// Returns the table, then a part for each cause, the most frequent first.
  func lines(_ style: Style) -> [String] {
    let sorted = groups.sorted { left, right in
      left.value.count == right.value.count
        ? left.key.id < right.key.id : left.value.count > right.value.count
    }
    guard !sorted.isEmpty else { return [] }
    let width = sorted.reduce(5) { max($0, $1.key.id.count) }
    var lines = [style.bold("  Ends  \("Cause".padded(to: width))  What happened")]
    for (cause, group) in sorted {
      lines.append(
        "\(group.count.grouped.leftPadded(to: 6))  \(cause.id.padded(to: width))  "
          + "\(group.best.opening(in: .english)).")
    }
    for (cause, group) in sorted {
      let certainties = [Certainty.proven, .likely, .possible].compactMap { certainty in
        group.certainties[certainty].map { "\($0.grouped) \(certainty)" }
      }
      lines += [
        "",
        style.bold("\(cause.id): \(count(group.count, "end"))")
          + ", \(certainties.joined(separator: ", "))",
      ]
      // What is ruled out differs from end to end.
      let sentences = group.best.summaryLines(in: .english)
      lines += [sentences.first, sentences.last].compactMap(\.self)
      lines += group.lines.map { "  \($0)" }
      let rest = group.count - group.lines.count
      if rest > 0 { lines.append("  … \(rest.grouped) more; --all lists them") }
    }
    return lines + [""]
  }
}
