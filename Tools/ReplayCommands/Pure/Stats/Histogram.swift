/// A histogram of durations in milliseconds, with narrower buckets for shorter durations.
///
/// 0…127 ms have a bucket each. Above that, every power of two is divided into 64 buckets. A bucket
/// is then narrower than 1/64 of the durations in it.
///
/// Counts, the minimum and the maximum are exact. Histograms can be merged in any order; the result
/// is the histogram of all durations.
struct Histogram: Equatable, Sendable {
  /// The number of durations.
  private(set) var count: UInt64 = 0
  /// The shortest duration in milliseconds; `nil` if there is none.
  private(set) var minimum: Int64?
  /// The longest duration in milliseconds; `nil` if there is none.
  private(set) var maximum: Int64?
  /// Counts of 64 buckets each; a page without counts is empty.
  private var pages: [[UInt64]] = []

  private static let pageSize = 64

  /// Counts a duration; values below 0 count as 0.
  mutating func add(_ milliseconds: Int64) {
    let span = max(0, milliseconds)
    count += 1
    minimum = min(minimum ?? span, span)
    maximum = max(maximum ?? span, span)
    let (page, bucket) = Self.place(of: UInt64(span))
    reserve(page)
    pages[page][bucket] += 1
  }

  /// Counts all durations of `other`.
  mutating func merge(_ other: Histogram) {
    guard let smallest = other.minimum, let largest = other.maximum else { return }
    count += other.count
    minimum = min(minimum ?? smallest, smallest)
    maximum = max(maximum ?? largest, largest)
    for (page, counts) in other.pages.enumerated() where !counts.isEmpty {
      reserve(page)
      for bucket in counts.indices { pages[page][bucket] += counts[bucket] }
    }
  }

  /// Returns a duration that `percent` of all durations do not exceed, by nearest rank.
  ///
  /// Buckets are added up until at least ⌈percent · count / 100⌉ durations are counted. The result is
  /// the upper bound of the last bucket, limited to the minimum and the maximum. `percent` is clamped
  /// to 0…100. Returns `nil` if nothing was counted.
  func percentile(_ percent: Int) -> Int64? {
    guard let minimum, let maximum else { return nil }
    let (high, low) = count.multipliedFullWidth(by: UInt64(min(100, max(0, percent))))
    let (whole, rest) = UInt64(100).dividingFullWidth((high, low))
    let rank = max(1, whole + (rest == 0 ? 0 : 1))
    var seen: UInt64 = 0
    for (page, counts) in pages.enumerated() {
      for (bucket, number) in counts.enumerated() where number > 0 {
        seen += number
        if seen >= rank { return max(minimum, min(maximum, Self.highest(page, bucket))) }
      }
    }
    return maximum
  }

  private mutating func reserve(_ page: Int) {
    while pages.count <= page { pages.append([]) }
    if pages[page].isEmpty { pages[page] = [UInt64](repeating: 0, count: Self.pageSize) }
  }

  private static func place(of span: UInt64) -> (page: Int, bucket: Int) {
    guard span >= 64 else { return (0, Int(span)) }
    let power = 63 - span.leadingZeroBitCount
    return (power - 5, Int(span >> UInt64(power - 6)) - 64)
  }

  /// Returns the longest duration that counts in a bucket.
  private static func highest(_ page: Int, _ bucket: Int) -> Int64 {
    guard page > 0 else { return Int64(bucket) }
    let shift = UInt64(page - 1)
    let above = (UInt64(bucket) + 65) << shift
    return Int64(clamping: above - 1)
  }
}

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
