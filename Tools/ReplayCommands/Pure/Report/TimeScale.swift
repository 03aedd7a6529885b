@_spi(Internals) internal import SessionCore

/// Converts times to places on a line from the first time to the last.
struct TimeScale: Equatable, Sendable {
  let first: Timestamp
  let last: Timestamp

  /// The number of parts of a line; places are exact to one part.
  static let parts: Int64 = 1_000_000

  init(first: Timestamp, last: Timestamp) {
    self.first = first
    // The line must not have the length zero.
    self.last = max(last, first.advanced(by: 1))
  }

  /// Creates the scale of one journal.
  init(_ journal: ReportJournal) {
    let first = journal.first ?? Timestamp(milliseconds: 0)
    self.init(first: first, last: journal.last ?? first)
  }

  /// Returns the place from 0 to `parts`; times outside the line are at one of its ends.
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

  /// Returns `12.3456%`.
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

  /// Returns at most `limit` times to label on the line, at round distances.
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

  /// Returns the label of a time, as short as the line allows: a day, or a time of day.
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
