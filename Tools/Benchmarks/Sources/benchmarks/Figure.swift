/// One ratio, with what it is made of.
struct Figure {
  /// What the ratio should be.
  enum Goal {
    case atLeast(Double)
    case atMost(Double)
    /// Shown for orientation.
    case none
  }

  /// What is divided by what.
  enum Ratio {
    /// Ours through theirs, of values where more is better.
    case speed
    /// The time ours takes through the time theirs takes.
    case time
  }

  let name: String
  let against: String
  let goal: Goal

  /// The middle of the rounds' ratios, and where half of them lie.
  let ratio: Samples

  let value: Double
  let againstValue: Double
  let unit: String

  /// Whether the goal is reached; nil without one.
  var isMet: Bool? {
    switch goal {
    case .atLeast(let bound): ratio.median >= bound
    case .atMost(let bound): ratio.median <= bound
    case .none: nil
    }
  }

  /// Compares two contenders, round by round.
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

/// Why something could not be measured.
struct Problem: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
