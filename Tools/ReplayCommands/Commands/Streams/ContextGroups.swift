/// How a record is shown among those around it.
struct PlaceInGroup: Equatable {
  /// It matches nothing and stands near one that does.
  let isContext: Bool
  /// What was passed over lies between it and what was shown before.
  let beginsGroup: Bool
}

/// The records that are shown around those that match, in groups.
///
/// Holds as many records as come before a match, and no more.
struct ContextGroups<Element> {
  private let number: Int
  /// What may turn out to stand before a match, from `oldest` on around.
  private var before: [Element] = []
  private var oldest = 0
  private var after = 0
  private var hasShown = false
  private var hasGap = false

  init(around number: Int) {
    self.number = number
  }

  /// Whether what follows now is shown though it matches nothing.
  var isWithin: Bool { after > 0 }

  /// Takes the next element, and hands on what is to be shown until `show` says no.
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

  /// Forgets what came before: nothing stands around it any more.
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
