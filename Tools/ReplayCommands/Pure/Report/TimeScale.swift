@_spi(Internals) internal import SessionCore

/// Where a moment stands on a line from the first to the last.
struct TimeScale: Equatable, Sendable {
  let first: Timestamp
  let last: Timestamp

  /// Parts that a line is cut into; positions are exact to one of them.
  static let parts: Int64 = 1_000_000

  init(first: Timestamp, last: Timestamp) {
    self.first = first
    // A line of no length has no places.
    self.last = max(last, first.advanced(by: 1))
  }

  /// From 0 to `parts`; what lies outside is at an end.
  func place(of time: Timestamp) -> Int64 {
    guard time > first else { return 0 }
    guard time < last else { return Self.parts }
    let (span, whole) = (distance(first, time), distance(first, last))
    let (high, low) = span.multipliedFullWidth(by: UInt64(Self.parts))
    return Int64(clamping: whole.dividingFullWidth((high, low)).quotient)
  }

  private func distance(_ from: Timestamp, _ to: Timestamp) -> UInt64 {
    UInt64(bitPattern: to.milliseconds &- from.milliseconds)
  }

  /// `12.3456%`.
  static func percent(_ place: Int64) -> String {
    let (whole, rest) = (place / 10_000, place % 10_000)
    guard rest > 0 else { return "\(whole)%" }
    var digits = String(rest + 10_000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits)%"
  }

  private static let steps: [Int64] = {
    let (second, minute, hour, day): (Int64, Int64, Int64, Int64) = (
      1_000, 60_000, 3_600_000, 86_400_000
    )
    return [1, 2, 5, 10, 20, 50, 100, 200, 500] + [1, 2, 5, 10, 15, 30].map { $0 * second }
      + [1, 2, 5, 10, 15, 30].map { $0 * minute } + [1, 2, 3, 6, 12].map { $0 * hour }
      + [1, 2, 7, 14, 30, 91, 182, 365, 730, 1_825, 3_650, 36_500].map { $0 * day }
  }()

  /// Moments to write on the line, at most `limit` of them, at a distance that people count in.
  func ticks(upTo limit: Int) -> [Timestamp] {
    let whole = distance(first, last)
    guard let step = Self.steps.first(where: { whole / UInt64($0) < UInt64(limit) }) else {
      return [first, last]
    }
    let rest = first.milliseconds % step
    let behind = rest == 0 ? 0 : rest < 0 ? -rest : step - rest
    var ticks: [Timestamp] = []
    var tick = first.advanced(by: behind)
    while tick <= last, ticks.count < limit {
      ticks.append(tick)
      tick = tick.advanced(by: step)
    }
    return ticks
  }

  /// The tick as short as the line allows: days, or times of a day.
  func label(_ tick: Timestamp) -> String {
    let day: UInt64 = 86_400_000
    let text = tick.timeOfDay
    switch distance(first, last) {
    case ..<10_000: return String(text)
    case ..<(day / 12): return String(text.prefix(8))
    case ..<(3 * day): return "\(tick.calendarDay.suffix(5)) \(text.prefix(5))"
    default: return tick.calendarDay
    }
  }
}
