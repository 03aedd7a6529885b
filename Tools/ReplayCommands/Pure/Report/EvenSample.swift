/// At most `limit` of many elements, taken at equal distances; the more come, the wider apart.
///
/// Which ones are kept depends on their number and order alone.
struct EvenSample<Element: Sendable>: Sendable {
  private(set) var kept: [Element] = []
  /// How many came.
  private(set) var count: UInt64 = 0
  private var distance: UInt64 = 1
  private let limit: Int

  init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// How many came and are not kept.
  var dropped: UInt64 { count - UInt64(kept.count) }

  /// Offers the next element; `make` is asked for it only where it is kept.
  mutating func offer(_ make: () -> Element) {
    defer { count += 1 }
    guard count % distance == 0 else { return }
    if kept.count == limit {
      // Every second one stays, the first among them; the new one is at the doubled distance or is not.
      var isKept = false
      kept.removeAll { _ in
        isKept.toggle()
        return !isKept
      }
      distance *= 2
      guard count % distance == 0 else { return }
    }
    // With a limit of one the first element stays.
    guard kept.count < limit else { return }
    kept.append(make())
  }
}
