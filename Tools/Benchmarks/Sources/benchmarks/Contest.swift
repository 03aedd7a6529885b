/// Who is measured beside whom: every round runs all of them, one after the other.
struct Contest {
  /// One of those who are measured.
  struct Contender {
    let name: String

    /// One run; how many units it did, and in how many seconds.
    let run: () throws -> Run
  }

  /// What one run did.
  struct Run {
    let units: Int
    let seconds: Double

    /// Units in a second.
    var rate: Double { Double(units) / seconds }

    /// Does the work once, and takes the time.
    static func timing(_ units: Int, _ work: () throws -> Void) rethrows -> Run {
      let clock = ContinuousClock()
      let duration = try clock.measure(work)
      return Run(units: units, seconds: duration / .seconds(1))
    }
  }

  let contenders: [Contender]

  /// Units in a second, per contender and round.
  ///
  /// One more round comes first and does not count. Who begins changes from round to round.
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
