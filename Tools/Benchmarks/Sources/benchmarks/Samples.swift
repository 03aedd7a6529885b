/// The values of all rounds of one measurement.
struct Samples {
  private let sorted: [Double]

  init(_ values: [Double]) {
    sorted = values.sorted()
  }

  /// The median; the mean of the two middle values if their number is even.
  var median: Double { quantile(0.5) }

  /// The lower quartile.
  var low: Double { quantile(0.25) }

  /// The upper quartile.
  var high: Double { quantile(0.75) }

  private func quantile(_ part: Double) -> Double {
    guard let last = sorted.indices.last else { return .nan }
    let place = part * Double(last)
    let index = Int(place)
    let next = min(index + 1, last)
    return sorted[index] + (sorted[next] - sorted[index]) * (place - Double(index))
  }
}
