/// A comparison of contenders: every round runs all of them, one after the other.
struct Contest {
  /// A contender in a comparison.
  struct Contender {
    let name: String

    /// Makes one run; returns the number of units and the seconds.
    let run: () throws -> Run
  }

  /// The result of one run.
  struct Run {
    let units: Int
    let seconds: Double

    /// The number of units per second.
    var rate: Double { Double(units) / seconds }

    /// Does the work once, and measures its time.
    static func timing(_ units: Int, _ work: () throws -> Void) rethrows -> Run {
      let clock = ContinuousClock()
      let duration = try clock.measure(work)
      return Run(units: units, seconds: duration / .seconds(1))
    }
  }

  let contenders: [Contender]

  /// Returns the units per second, by contender and round.
  ///
  /// An additional first round is not counted. The order of the contenders changes from round to
  /// round.
  func rates(rounds: Int) throws -> [String: [Double]] {
    var rates: [String: [Double]] = [:]
    for round in 0...rounds {
      for place in contenders.indices {
        let contender = contenders[(place + round) % contenders.count]
        let rate = try contender.run().rate
        if round > 0 { rates[contender.name, default: []].append(rate) }
      }
    }
    return rates
  }
}
