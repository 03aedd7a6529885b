/// How a record is shown next to the records around it.
struct PlaceInGroup: Equatable {
  /// The record matches nothing, but is near one that does.
  let isContext: Bool
  /// Records between it and the last one shown were skipped.
  let beginsGroup: Bool
}

/// Finds the records to show around matching ones, in groups.
///
/// Memory is bounded: it holds no more records than are shown before a match.
struct ContextGroups<Element> {
  private let number: Int
  /// The last records without a match, as a ring that begins at `oldest`.
  private var before: [Element] = []
  private var oldest = 0
  private var after = 0
  private var hasShown = false
  private var hasGap = false

  init(around number: Int) {
    self.number = number
  }

  /// Whether the next record is shown even if it does not match.
  var isWithin: Bool { after > 0 }

  /// Takes the next element, and passes the elements to show to `show`.
  ///
  /// Returns false as soon as `show` does.
  mutating func take(
    _ element: Element, isMatch: Bool, show: (Element, PlaceInGroup) -> Bool
  ) -> Bool {
    if isMatch {
      for index in before.indices {
        let held = before[(oldest + index) % before.count]
        guard show(held, place(isContext: true)) else { return false }
      }
      removeHeld()
      after = number
      return show(element, place(isContext: false))
    }
    if after > 0 {
      after -= 1
      return show(element, place(isContext: true))
    }
    hold(element)
    return true
  }

  /// Forgets the records so far, so that no context crosses this place.
  mutating func interrupt() {
    removeHeld()
    after = 0
    hasGap = true
  }

  private mutating func hold(_ element: Element) {
    if before.count < number {
      before.append(element)
    } else {
      hasGap = true
      guard number > 0 else { return }
      before[oldest] = element
      oldest = (oldest + 1) % number
    }
  }

  private mutating func removeHeld() {
    before.removeAll(keepingCapacity: true)
    oldest = 0
  }

  private mutating func place(isContext: Bool) -> PlaceInGroup {
    let place = PlaceInGroup(isContext: isContext, beginsGroup: hasGap && hasShown)
    (hasShown, hasGap) = (true, false)
    return place
  }
}
