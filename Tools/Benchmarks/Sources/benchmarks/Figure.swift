/// A ratio with its two values.
struct Figure {
  /// The goal for the ratio.
  enum Goal {
    case atLeast(Double)
    case atMost(Double)
    /// There is no goal; the ratio is only for information.
    case none
  }

  /// The kind of the ratio.
  enum Ratio {
    /// Our rate divided by the other rate; more is better.
    case speed
    /// Our time divided by the other time.
    case time
  }

  let name: String
  let against: String
  let goal: Goal

  /// The median and the quartiles of the rounds' ratios.
  let ratio: Samples

  let value: Double
  let againstValue: Double
  let unit: String

  /// Whether the goal is met; `nil` if there is none.
  var isMet: Bool? {
    switch goal {
    case .atLeast(let bound): ratio.median >= bound
    case .atMost(let bound): ratio.median <= bound
    case .none: nil
    }
  }

  /// Compares two contenders round by round.
  static func comparing(
    _ name: String, _ ours: String, to theirs: String, in rates: [String: [Double]],
    as kind: Ratio = .speed, goal: Goal, unit: String
  ) throws -> Figure {
    guard let mine = rates[ours], let its = rates[theirs], mine.count == its.count else {
      throw Problem("\(name): \(ours) and \(theirs) were not both measured")
    }
    let ratios = zip(mine, its).map { kind == .speed ? $0 / $1 : $1 / $0 }
    return Figure(
      name: name, against: theirs, goal: goal, ratio: Samples(ratios),
      value: Samples(mine).median, againstValue: Samples(its).median, unit: unit)
  }
}

/// The reason why a figure could not be measured.
struct Problem: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
