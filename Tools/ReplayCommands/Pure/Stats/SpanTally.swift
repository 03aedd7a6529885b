/// Spans between two records, as far as the device's clock lets them be told.
struct SpanTally: Equatable, Sendable {
  private(set) var histogram = Histogram()
  /// Spans that were left out: below 0, or longer than can be.
  private(set) var clock: UInt64 = 0

  /// Counts the span in milliseconds; one below 0 or above `limit` says that the clock was set.
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
