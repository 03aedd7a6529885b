/// The common property of a group of figures.
enum StatsKey: Hashable, Comparable, Sendable {
  /// A day, counted from 1970-01-01.
  case day(Int64)
  /// A word: a reason, a cause, a method, a file.
  case word(String)
}

extension StatsKey {
  /// Returns whether it is shown before another group with as many ends.
  ///
  /// Numbers in words are compared by value: 2.9 comes before 2.10.
  func comesBefore(_ other: StatsKey) -> Bool {
    guard case (.word(let left), .word(let right)) = (self, other) else { return self < other }
    let parts = (Self.parts(left), Self.parts(right))
    for (left, right) in zip(parts.0, parts.1) where left != right { return left < right }
    return parts.0.count == parts.1.count ? left < right : parts.0.count < parts.1.count
  }

  /// A part of a word: digits, which are compared by value, or the text between them.
  private enum Part: Comparable {
    /// The digits without leading zeros, so that a longer number is greater.
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

/// Figures in at most `limit` groups; the figures of other groups are counted together.
///
/// The last days, or the first words in order, are kept. Which groups are kept does not depend on
/// the order of the figures. A merge of two halves therefore has the same groups, too.
struct StatsGroups: Equatable, Sendable {
  private(set) var figures: [StatsKey: StatsFigures] = [:]
  /// The figures of the groups that are not kept.
  private(set) var others = StatsFigures()
  private let limit: Int

  init(limit: Int = 1_024) {
    self.limit = max(1, limit)
  }

  /// The sum of all figures.
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
