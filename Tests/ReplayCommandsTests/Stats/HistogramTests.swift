import SessionTestKit
import Testing

@testable import ReplayCommands

@Suite("Histogram")
struct HistogramTests {
  private func histogram(_ spans: [Int64]) -> Histogram {
    var histogram = Histogram()
    for span in spans { histogram.add(span) }
    return histogram
  }

  private func spans(_ seed: UInt64, _ count: Int) -> [Int64] {
    var chance = SplitMix(seed: seed)
    return (0..<count).map { _ in chance.span(bits: 62) }
  }

  @Test("RPL-4 percentiles equal those of a sorted list, within a bucket, and exactly below 128 ms")
  func oracle() {
    for seed in 0..<60 as Range<UInt64> {
      let spans = spans(seed, Int(1 + seed * seed % 400))
      let histogram = histogram(spans)
      #expect(histogram.count == UInt64(spans.count))
      #expect(histogram.minimum == spans.min())
      #expect(histogram.maximum == spans.max())
      for percent in [0, 1, 50, 90, 95, 99, 100] {
        let exact = StatsOracle.percentile(percent, of: spans) ?? -1
        let found = histogram.percentile(percent) ?? -1
        #expect(found >= exact, "p\(percent) of seed \(seed)")
        #expect(found - exact <= (exact < 128 ? 0 : exact / 64), "p\(percent) of seed \(seed)")
      }
      #expect(histogram.percentile(100) == spans.max())
    }
  }

  @Test("merged histograms equal the histogram of all spans, in any order")
  func merging() {
    for seed in 0..<30 as Range<UInt64> {
      let (left, right, third) = (spans(seed, 90), spans(seed + 100, 7), spans(seed + 200, 40))
      var one = histogram(left)
      one.merge(histogram(right))
      one.merge(histogram(third))
      var other = histogram(third)
      other.merge(histogram(right))
      other.merge(histogram(left))
      #expect(one == other)
      var nothing = Histogram()
      nothing.merge(one)
      one.merge(Histogram())
      #expect(nothing == one)
      let all = histogram(left + right + third)
      for percent in Sweep("percentiles", takingOneOf: 9).places(of: 0...100) {
        #expect(one.percentile(percent) == all.percentile(percent))
      }
    }
  }

  @Test("a percentile is nil without spans and exact for a single span")
  func ends() {
    #expect(Histogram().percentile(50) == nil)
    #expect(histogram([.max]).percentile(50) == .max)
    #expect(histogram([-5]).percentile(50) == 0)
    #expect(histogram([.max, 0, 127, 128, 129]).percentile(40) == 127)
    #expect(histogram([128, 129]).percentile(50) == 129)
    #expect(histogram([64, 65]).percentile(50) == 64)
    for power in 6..<63 as Range<Int64> {
      for span in [(1 << power) - 1, 1 << power, (1 << power) + 1] as [Int64] {
        #expect(histogram([span]).percentile(1) == span)
      }
    }
  }
}
