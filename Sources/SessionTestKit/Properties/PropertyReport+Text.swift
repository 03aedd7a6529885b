import SessionCore

extension PropertyReport {
  /// The text of the report: what failed, step by step, and how to run and inspect it again.
  ///
  /// It is the same with Swift Testing, with XCTest and without a test library. It does not end
  /// with a line break.
  public var text: String {
    var lines = headline
    if let failure { lines += story(of: failure) }
    if showsLabels, !labels.isEmpty { lines.append(labelText) }
    lines += warnings.map { "Warning: \($0)" }
    return lines.joined(separator: "\n")
  }

  /// The text to print to standard error for a property that passes; `nil` if there is none.
  ///
  /// Test libraries show no report of a test that passes. The text shows label counts if they were
  /// requested, and confirms that a replayed case held.
  package var aside: String? {
    hasPassed && (showsLabels || coverage == .replayed) ? text : nil
  }

  /// Prints the text to standard error.
  package func tell() {
    Aside.tell(text)
  }

  /// The share of cases in which each label occurred, one label per line, the most frequent first.
  public var labelText: String {
    labels.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { label, count in
      let tenths = cases > 0 ? (count * 1_000 + cases / 2) / cases : 0
      let share = "\(tenths / 10).\(tenths % 10)%"
      return String(repeating: " ", count: max(0, 8 - share.count)) + "\(share)  " + label.onOneLine
    }.joined(separator: "\n")
  }

  private var headline: [String] {
    let name = "\"\(property)\""
    switch outcome {
    case .passed:
      return ["Property \(name) held in \(scope)."]
    case .unhealthy(let problems):
      return ["Property \(name) was not tested enough."] + problems.map { "  \($0)" }
        + ["Seed: \(seed)"]
    case .failed(let failure):
      return ["Property \(name) does not hold: \(place(of: failure)).", indented(failure.message)]
    case .flaky(let failure):
      return [
        "Property \(name) is flaky: \(place(of: failure)), and the same draws held when they were "
          + "run again.",
        indented(failure.message),
        "  Something that is not drawn decides the outcome: a clock, a task's schedule, or what an "
          + "earlier case left.",
      ]
    }
  }

  private var scope: String {
    let all = cases == 1 ? "the only case" : "all \(cases) cases"
    let count = cases.counted("case")
    let rest =
      (discarded > 0 ? ", \(discarded) discarded" : "")
      + (overruns > 0 ? ", \(overruns) with too many draws" : "")
      + (savedCases > 0 ? ", \(savedCases.counted("saved case")) before" : "")
    switch coverage {
    case .sampled: return count + rest
    case .everyCase: return all + rest
    case .everyCaseWithin(let depth, let width):
      let bounds =
        [depth.map { $0.counted("draw") }, width.map { "values below \($0)" }].compactMap { $0 }
      return all + " within "
        + (bounds.isEmpty ? "\(ChoiceState.maximumDraws) draws" : bounds.joined(separator: " and "))
        + rest
    case .firstCases: return "the first \(count), there are more" + rest
    case .someCases: return count + " from everywhere in the enumeration, there are more" + rest
    case .replayed: return "the replayed case"
    }
  }

  private func place(of failure: PropertyFailure) -> String {
    if coverage == .replayed { return "the replayed case fails" }
    return failure.caseNumber == 0
      ? "a saved case fails" : "case \(failure.caseNumber) failed"
  }

  private func story(of failure: PropertyFailure) -> [String] {
    var lines: [String] = []
    let runs = failure.shrinkRuns.counted("run")
    let sizes = "from \(failure.firstDraws.counted("draw")) to \(failure.choices.count)"
    if let stop = failure.shrinkStop {
      let left = failure.choices.count { $0 > 0 }
      lines.append(
        "Perhaps not the simplest case, since after \(runs) \(stop), \(sizes), \(left) of them "
          + "above 0:")
    } else if failure.shrinkRuns > 0 {
      lines.append("Simplest case found, in \(runs), \(sizes):")
    } else {
      lines.append("The case:")
    }
    lines += StepTable(failure.steps).lines
    lines.append("Draws: \(Self.shortened(failure.choices))")
    lines.append("Seed: \(seed)")
    lines.append("Run it again: SESSION_REPLAY=\(Self.quoted(failure.replayCommand)) swift test")
    if let path = failure.savedAt { lines.append("Saved: \(path)") }
    for journal in journals {
      lines.append("Journal: \(journal)")
      lines.append("  sessionreplay timeline \(Self.quoted(journal))")
    }
    return lines
  }

  /// Indents the lines of a message by two columns.
  private func indented(_ text: String) -> String {
    text.split(omittingEmptySubsequences: false) { $0.isNewline }
      .map { $0.isEmpty ? "" : "  \($0)" }.joined(separator: "\n")
  }

  /// Returns the draws in brackets, at most the first 200 of them.
  static func shortened(_ draws: [UInt64]) -> String {
    let left = draws.count - 200
    return left > 0 ? "\(draws.prefix(200)) and \(left) more" : "\(draws)"
  }

  /// Returns a path quoted for a shell.
  private static func quoted(_ path: String) -> String {
    let isPlain = path.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+@%".contains($0))
    }
    guard !isPlain else { return path }
    let pieces = path.split(separator: "'", omittingEmptySubsequences: false)
    return "'" + pieces.joined(separator: "'\\''") + "'"
  }
}

/// The lines of a report that describe a case: numbered steps, and the schedule between them.
///
/// ```
///    1     0 ms  sign in              signed in
///                  session 1 sends refresh #1
///        120 ms    the service acts on refresh #1: 200
/// ```
/// The time is shown only if it has changed. Without a virtual clock it is not shown. A text of
/// several lines continues below its first line. Of more than 1,000 steps the first 200 and the
/// last 800 are shown.
private struct StepTable {
  private let steps: [Step]
  private let textWidth: Int
  private let timeWidth: Int

  static let shownFirst = 200
  static let shownLast = 800

  init(_ steps: [Step]) {
    self.steps = steps
    textWidth =
      steps.lazy.filter { !$0.isSchedule }.map { Self.first(of: $0.text).count }.max() ?? 0
    timeWidth = steps.lazy.map { Self.words($0.time).count }.max() ?? 0
  }

  var lines: [String] {
    var lines: [String] = []
    var number = 0
    var shown: Duration?
    let left = steps.count - Self.shownFirst - Self.shownLast
    for (index, step) in steps.enumerated() {
      if !step.isSchedule { number += 1 }
      if left > 0, (Self.shownFirst..<Self.shownFirst + left).contains(index) {
        if index == Self.shownFirst { lines.append("      … and \(left.counted("more line"))") }
        continue
      }
      let count = step.isSchedule ? "" : String(number)
      var head = Self.right(count, 4) + "  "
      if timeWidth > 0 {
        head += Self.right(step.time == shown ? "" : Self.words(step.time), timeWidth) + "  "
        shown = step.time
      }
      head += step.isSchedule ? "  " : ""
      lines += Self.block(head, step, textWidth)
    }
    return lines
  }

  private static func block(_ head: String, _ step: Step, _ textWidth: Int) -> [String] {
    let text = step.text.split(omittingEmptySubsequences: false) { $0.isNewline }
    let state = step.state?.split(omittingEmptySubsequences: false) { $0.isNewline } ?? []
    return (0..<max(text.count, state.count)).map { row in
      let said = row < text.count ? text[row] : ""
      let margin = row == 0 ? head : String(repeating: " ", count: head.count)
      guard row < state.count else { return margin + said }
      return margin + said + String(repeating: " ", count: max(0, textWidth - said.count))
        + "  \(state[row])"
    }
  }

  private static func first(of text: String) -> Substring {
    text.prefix { !$0.isNewline }
  }

  private static func words(_ time: Duration?) -> String {
    time.map { "\($0.milliseconds(atLeast: .min)) ms" } ?? ""
  }

  private static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
