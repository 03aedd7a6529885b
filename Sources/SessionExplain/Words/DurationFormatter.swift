/// A formatter of durations: `250 ms`, `2.0 s`, `30 s`, `1 min 30 s`, `15 min`, `2 h 5 min`,
/// `3 d 4 h`.
///
/// A duration is rounded to the last unit that is shown.
package enum DurationFormatter {
  package static func text(milliseconds: Int64) -> String {
    guard milliseconds >= 0 else {
      return "-" + text(milliseconds: milliseconds == .min ? .max : -milliseconds)
    }
    guard milliseconds >= 1000 else { return "\(milliseconds) ms" }
    let tenths = rounded(milliseconds, to: 100)
    guard tenths >= 600 else {
      let isRound = tenths >= 100 && tenths % 10 == 0
      return "\(tenths / 10)" + (isRound ? " s" : ".\(tenths % 10) s")
    }
    let seconds = rounded(milliseconds, to: 1000)
    guard seconds >= 3600 else { return pair(seconds, 60, "min", "s") }
    let minutes = rounded(milliseconds, to: 60_000)
    guard minutes >= 1440 else { return pair(minutes, 60, "h", "min") }
    return pair(rounded(milliseconds, to: 3_600_000), 24, "d", "h")
  }

  /// Returns the duration in a unit, rounded to the nearest whole number.
  private static func rounded(_ milliseconds: Int64, to unit: Int64) -> Int64 {
    milliseconds / unit + (milliseconds % unit >= unit / 2 ? 1 : 0)
  }

  private static func pair(_ value: Int64, _ base: Int64, _ large: String, _ small: String)
    -> String
  {
    let rest = value % base
    return "\((value / base).grouped) \(large)" + (rest == 0 ? "" : " \(rest) \(small)")
  }
}
