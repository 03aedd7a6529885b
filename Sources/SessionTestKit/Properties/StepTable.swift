import SessionCore

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
struct StepTable {
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
