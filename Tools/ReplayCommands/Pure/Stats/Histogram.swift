/// Spans of time in milliseconds, counted in buckets that are narrow where spans are short.
///
/// 0…127 ms have a bucket each; above, every power of two is cut into 64, so that a bucket is less
/// than 1/64 of its spans wide. Counts are exact, and so are the number, the smallest and the largest.
/// Two histograms merge by addition, in any order, to the one of all their spans.
struct Histogram: Equatable, Sendable {
  /// How many spans were counted.
  private(set) var count: UInt64 = 0
  /// The smallest span, in milliseconds; `nil` where none was counted.
  private(set) var minimum: Int64?
  /// The largest span, in milliseconds; `nil` where none was counted.
  private(set) var maximum: Int64?
  /// Counts of 64 buckets each; a page that counted nothing is empty.
  private var pages: [[UInt64]] = []

  private static let pageSize = 64

  /// Counts a span; what is below 0 counts as 0.
  mutating func add(_ milliseconds: Int64) {
    let span = max(0, milliseconds)
    count += 1
    minimum = min(minimum ?? span, span)
    maximum = max(maximum ?? span, span)
    let (page, bucket) = Self.place(of: UInt64(span))
    reserve(page)
    pages[page][bucket] += 1
  }

  /// Counts everything that `other` counted.
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

  /// The span that `percent` of all are not above, by nearest rank: the highest span of the first
  /// bucket with which at least ⌈percent · count / 100⌉ are counted, and never more than the largest.
  ///
  /// `percent` is taken from 0 to 100; `nil` where nothing was counted.
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

  /// The highest span that is counted in a bucket.
  private static func highest(_ page: Int, _ bucket: Int) -> Int64 {
    guard page > 0 else { return Int64(bucket) }
    let shift = UInt64(page - 1)
    let above = (UInt64(bucket) + 65) << shift
    return Int64(clamping: above - 1)
  }
}
