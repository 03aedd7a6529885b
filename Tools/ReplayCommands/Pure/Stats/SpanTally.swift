/// The durations between two records, as far as the device's clock allows measuring them.
struct SpanTally: Equatable, Sendable {
  private(set) var histogram = Histogram()
  /// The number of durations that were left out: below 0, or longer than possible.
  private(set) var clock: UInt64 = 0

  /// Counts a duration in milliseconds; one below 0 or above `limit` shows that the clock was set.
  mutating func add(_ milliseconds: Int64, limit: Int64 = .max) {
    if milliseconds < 0 || milliseconds > limit {
      clock += 1
    } else {
      histogram.add(milliseconds)
    }
  }

  mutating func merge(_ other: SpanTally) {
    histogram.merge(other.histogram)
    clock += other.clock
  }
}
