/// What the rounds of one measurement came to.
struct Samples {
  private let sorted: [Double]

  init(_ values: [Double]) {
    sorted = values.sorted()
  }

  /// The middle one; between the two middle ones where there are two.
  var median: Double { quantile(0.5) }

  /// What a quarter of the rounds stays below.
  var low: Double { quantile(0.25) }

  /// What three quarters of the rounds stay below.
  var high: Double { quantile(0.75) }

  private func quantile(_ part: Double) -> Double {
    guard let last = sorted.indices.last else { return .nan }
    let place = part * Double(last)
    let index = Int(place)
    let next = min(index + 1, last)
    return sorted[index] + (sorted[next] - sorted[index]) * (place - Double(index))
  }
}
