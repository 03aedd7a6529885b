/// A sample of at most `limit` elements at equal distances; the distance grows with their number.
///
/// Which elements are kept depends only on their number and order.
struct EvenSample<Element: Sendable>: Sendable {
  private(set) var kept: [Element] = []
  /// The number of elements that were offered.
  private(set) var count: UInt64 = 0
  private var distance: UInt64 = 1
  private let limit: Int

  init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// The number of elements that were offered and are not kept.
  var dropped: UInt64 { count - UInt64(kept.count) }

  /// Offers the next element; calls `make` only if the element is kept.
  mutating func offer(_ make: () -> Element) {
    defer { count += 1 }
    guard count % distance == 0 else { return }
    if kept.count == limit {
      // Every second element stays, beginning with the first. The new one stays only if it is at
      // the doubled distance.
      var isKept = false
      kept.removeAll { _ in
        isKept.toggle()
        return !isKept
      }
      distance *= 2
      guard count % distance == 0 else { return }
    }
    // With a limit of 1, the first element stays.
    guard kept.count < limit else { return }
    kept.append(make())
  }
}
