/// A failing case as the shrinker sees it: its draws, what each could have been, and its spans.
package struct ShrinkCase: Sendable {
  /// The draws, without the zeros at the end: past the end every draw is 0 anyway.
  package let draws: [UInt64]
  /// The greatest value that each draw could have had.
  package let limits: [UInt64]
  /// The spans within the draws, no two alike, the longest first.
  package let spans: [Range<Int>]

  package init(draws: [UInt64], limits: [UInt64], spans: [Range<Int>]) {
    let draws = draws.trimmed
    self.draws = draws
    self.limits = Array(limits.prefix(draws.count))
    self.spans = Set(spans.map { $0.clamped(to: 0..<draws.count) })
      .filter { !$0.isEmpty }
      .sorted { ($1.count, $0.lowerBound) < ($0.count, $1.lowerBound) }
  }
}

extension [UInt64] {
  /// The same draws without the zeros at the end.
  var trimmed: [UInt64] {
    Array(prefix((lastIndex { $0 != 0 } ?? -1) + 1))
  }

  /// Whether these draws are simpler: fewer, or as many and smaller at the first difference.
  func isSimpler(than other: [UInt64]) -> Bool {
    count == other.count ? lexicographicallyPrecedes(other) : count < other.count
  }
}
