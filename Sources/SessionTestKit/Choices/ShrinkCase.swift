/// A failing case as the shrinker uses it: its draws, the limit of each, and its spans.
struct ShrinkCase: Sendable {
  /// All draws of the case, including the zeros at the end: a case with fewer draws is simpler.
  let draws: [UInt64]
  /// The greatest value that each draw could have had.
  let limits: [UInt64]
  /// The spans within the draws without duplicates and empty ones, the longest first.
  let spans: [Range<Int>]

  init(draws: [UInt64], limits: [UInt64], spans: [Range<Int>]) {
    self.draws = draws
    self.limits = limits
    self.spans = Set(spans)
      .filter { !$0.isEmpty }
      .sorted { ($1.count, $0.lowerBound) < ($0.count, $1.lowerBound) }
  }
}

extension [UInt64] {
  /// The draws without the zeros at the end: past the end every draw is 0 anyway.
  var trimmed: [UInt64] {
    Array(prefix((lastIndex { $0 != 0 } ?? -1) + 1))
  }

  /// Returns whether these draws are simpler: fewer, or as many and smaller at the first
  /// difference.
  func isSimpler(than other: [UInt64]) -> Bool {
    count == other.count ? lexicographicallyPrecedes(other) : count < other.count
  }
}
