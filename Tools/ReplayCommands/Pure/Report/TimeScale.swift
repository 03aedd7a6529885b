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

/// Equal spans of days on a curve: at most ``most`` bars, and none that only a wrong clock needs.
struct DayScale: Equatable, Sendable {
  /// The maximum number of bars.
  static let most = 92
  /// A bar of 1, 7, … days.
  private static let widths: [Int64] = [1, 2, 7, 14, 28, 91, 182, 364, 1_820, 3_640, 36_400]
  private static let day: Int64 = 86_400_000

  /// The first day of the first bar, counted from 1970-01-01.
  let first: Int64
  /// The days of one bar.
  let width: Int64
  let bars: Int

  /// Creates the scale for ends by day; `nil` if there is no end.
  ///
  /// If fewer than 1 of 200 ends lie far before or after all others, the curve begins or ends
  /// without them. *Far* means that the curve would be twice as long with them.
  init?(_ ends: [Int64: UInt64]) {
    let days = ends.keys.sorted()
    guard let all = days.first, let latest = days.last else { return nil }
    let total = ends.values.reduce(0, +)
    func edge(_ days: [Int64]) -> Int64 {
      var left = total / 200
      for day in days {
        let number = ends[day] ?? 0
        guard number <= left else { return day }
        left -= number
      }
      return days.last ?? 0
    }
    var (from, to) = (edge(days), edge(days.reversed()))
    if from > to { (from, to) = (all, latest) }
    let span = Self.distance(from, to)
    let isFar = { (whole: UInt64) in whole > UInt64(Self.most) && whole / 2 > span }
    if !isFar(Self.distance(all, to)) { from = all }
    if !isFar(Self.distance(from, latest)) { to = latest }
    let length = Self.distance(from, to)
    width =
      Self.widths.first { length / UInt64($0) < UInt64(Self.most) }
      ?? Int64(clamping: length / UInt64(Self.most) + 1)
    first = from
    bars = Int(length / UInt64(width)) + 1
  }

  /// Returns the bar of a day; `nil` for a day outside the curve.
  func bar(of day: Int64) -> Int? {
    guard day >= first else { return nil }
    let bar = Self.distance(first, day) / UInt64(width)
    return bar < UInt64(bars) ? Int(bar) : nil
  }

  /// Returns the first day of a bar, such as `2026-11-21`.
  func label(_ bar: Int) -> String {
    let day = first.addingReportingOverflow(Int64(bar) &* width).partialValue
    return Timestamp(milliseconds: day.multipliedReportingOverflow(by: Self.day).partialValue)
      .calendarDay
  }

  /// Returns the words for a bar's days: `2026-11-21`, or `7 days from 2026-11-21`.
  func words(_ bar: Int) -> String {
    width == 1 ? label(bar) : "\(width) days from \(label(bar))"
  }

  /// Returns the day of a time, counted from 1970-01-01, in a zone that is `offset` milliseconds
  /// ahead of UTC.
  static func day(of time: Timestamp, offset: Int64) -> Int64 {
    let shown = time.advanced(by: offset).milliseconds
    return shown / day - (shown % day < 0 ? 1 : 0)
  }

  private static func distance(_ from: Int64, _ to: Int64) -> UInt64 {
    UInt64(bitPattern: to &- from)
  }
}
