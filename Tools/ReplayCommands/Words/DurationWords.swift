/// A span of time as people say it: `250 ms`, `2.0 s`, `30 s`, `1 min 30 s`, `15 min`, `2 h 5 min`, `3 d 4 h`.
enum DurationWords {
  static func text(milliseconds: Int64) -> String {
    guard milliseconds >= 0 else {
      return "-" + text(milliseconds: milliseconds == .min ? .max : -milliseconds)
    }
    switch milliseconds {
    case ..<1000: return "\(milliseconds) ms"
    case ..<60_000:
      let tenths = milliseconds % 1000 / 100
      let isRound = milliseconds >= 10_000 && tenths == 0
      return "\(milliseconds / 1000)" + (isRound ? " s" : ".\(tenths) s")
    case ..<3_600_000: return pair(milliseconds / 1000, 60, "min", "s")
    case ..<86_400_000: return pair(milliseconds / 60_000, 60, "h", "min")
    default: return pair(milliseconds / 3_600_000, 24, "d", "h")
    }
  }

  private static func pair(_ value: Int64, _ base: Int64, _ large: String, _ small: String)
    -> String
  {
    let rest = value % base
    return "\((value / base).grouped) \(large)" + (rest == 0 ? "" : " \(rest) \(small)")
  }
}
