/// The sectors of a file that were written since its last sync: disjoint ranges in order.
struct SectorSet: Equatable, Sendable {
  private(set) var ranges: [Range<Int>] = []

  var isEmpty: Bool { ranges.isEmpty }
  var count: Int { ranges.reduce(0) { $0 + $1.count } }

  /// All sectors, in order.
  var sectors: [Int] { ranges.flatMap { Array($0) } }

  mutating func insert(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    guard let last = ranges.last, range.lowerBound <= last.upperBound else {
      ranges.append(range)
      return
    }
    // Appending writes touch only the last range.
    if range.lowerBound >= last.lowerBound {
      ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      return
    }
    merge(range)
  }

  mutating func removeAll() {
    ranges.removeAll(keepingCapacity: true)
  }

  private mutating func merge(_ range: Range<Int>) {
    var merged: [Range<Int>] = []
    for next in (ranges + [range]).sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, next.lowerBound <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, next.upperBound)
      } else {
        merged.append(next)
      }
    }
    ranges = merged
  }
}
