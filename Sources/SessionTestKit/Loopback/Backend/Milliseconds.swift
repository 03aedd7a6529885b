extension Duration {
  /// Whole milliseconds, cut off, held at the bounds of `Int64` instead of trapping.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    if overflow { return seconds < 0 ? .min : .max }
    return whole.adding(attoseconds / 1_000_000_000_000_000)
  }
}

extension Int64 {
  /// The sum, held at the bounds instead of trapping: knobs may be set to anything.
  func adding(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    if overflow { return other < 0 ? .min : .max }
    return sum
  }
}
