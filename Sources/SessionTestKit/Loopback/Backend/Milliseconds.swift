extension Duration {
  /// The duration in whole milliseconds, truncated; clamped to the bounds of `Int64`.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    if overflow { return seconds < 0 ? .min : .max }
    return whole.adding(attoseconds / 1_000_000_000_000_000)
  }
}

extension Int64 {
  /// Returns the sum, clamped to the bounds instead of trapping, since settings can have any value.
  func adding(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    if overflow { return other < 0 ? .min : .max }
    return sum
  }
}
