/// The lines of a report that tell a case: numbered steps, and between them the schedule.
///
/// ```
///    1     0 ms  sign in              signed in
///                  session 1 sends refresh #1
///        120 ms    the service acts on refresh #1: 200
/// ```
/// The time stands where it changes, and nowhere in a case without a virtual clock.
struct StepTable {
  private let steps: [Step]
  private let textWidth: Int
  private let timeWidth: Int

  init(_ steps: [Step]) {
    self.steps = steps
    textWidth = steps.lazy.filter { !$0.isSchedule }.map(\.text.count).max() ?? 0
    timeWidth = steps.lazy.map { Self.words($0.time).count }.max() ?? 0
  }

  var lines: [String] {
    var lines: [String] = []
    var number = 0
    var shown: Int64?
    for step in steps {
      if !step.isSchedule { number += 1 }
      let count = step.isSchedule ? "" : String(number)
      var line = Self.right(count, 4) + "  "
      if timeWidth > 0 {
        line += Self.right(step.time == shown ? "" : Self.words(step.time), timeWidth) + "  "
        shown = step.time
      }
      line += (step.isSchedule ? "  " : "") + step.text
      if let state = step.state {
        line += String(repeating: " ", count: textWidth - step.text.count) + "  \(state)"
      }
      lines.append(line)
    }
    return lines
  }

  private static func words(_ time: Int64?) -> String {
    time.map { "\($0) ms" } ?? ""
  }

  private static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
