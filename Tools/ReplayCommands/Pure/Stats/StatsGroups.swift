/// What a group of figures has in common.
enum StatsKey: Hashable, Comparable, Sendable {
  /// A day, counted from 1970-01-01.
  case day(Int64)
  /// A word: a reason, a cause, a method, a file.
  case word(String)
}

extension StatsKey {
  /// Whether it is shown before another of as many ends: words as people count, 2.9 before 2.10.
  func comesBefore(_ other: StatsKey) -> Bool {
    guard case (.word(let left), .word(let right)) = (self, other) else { return self < other }
    let parts = (Self.parts(left), Self.parts(right))
    for (left, right) in zip(parts.0, parts.1) where left != right { return left < right }
    return parts.0.count == parts.1.count ? left < right : parts.0.count < parts.1.count
  }

  /// Runs of digits, by what they count, and what stands between them.
  private enum Part: Comparable {
    /// The digits without zeros in front: a longer number is a greater one.
    case number(length: Int, digits: String)
    case text(String)
  }

  private static func parts(_ word: String) -> [Part] {
    var parts: [Part] = []
    var rest = Substring(word)
    while let first = rest.first {
      let isDigits = first.isASCII && first.isNumber
      let run = rest.prefix { ($0.isASCII && $0.isNumber) == isDigits }
      rest = rest[run.endIndex...]
      let digits = run.drop { $0 == "0" }
      parts.append(
        isDigits ? .number(length: digits.count, digits: String(digits)) : .text(String(run)))
    }
    return parts
  }
}

/// Figures by what they have in common, of at most `limit` groups; the others are counted together.
///
/// The groups that are kept are the last days, or the first words in order: which ones they are does
/// not depend on the order in which figures come, so neither does what two halves merge to.
struct StatsGroups: Equatable, Sendable {
  private(set) var figures: [StatsKey: StatsFigures] = [:]
  /// What belongs to none of the groups that were kept.
  private(set) var others = StatsFigures()
  private let limit: Int

  init(limit: Int = 1_024) {
    self.limit = max(1, limit)
  }

  /// All figures, of every group.
  var total: StatsFigures {
    var total = others
    for group in figures.values { total.merge(group) }
    return total
  }

  mutating func add(_ new: StatsFigures, to key: StatsKey) {
    guard figures[key] == nil else {
      figures[key]?.merge(new)
      return
    }
    figures[key] = new
    guard figures.count > limit,
      let dropped = figures.keys.max(by: Self.isKeptBefore),
      let rest = figures.removeValue(forKey: dropped)
    else { return }
    others.merge(rest)
  }

  mutating func merge(_ other: StatsGroups) {
    others.merge(other.others)
    for (key, group) in other.figures { add(group, to: key) }
  }

  private static func isKeptBefore(_ left: StatsKey, _ right: StatsKey) -> Bool {
    switch (left, right) {
    case (.day(let left), .day(let right)): left > right
    default: left < right
    }
  }
}
