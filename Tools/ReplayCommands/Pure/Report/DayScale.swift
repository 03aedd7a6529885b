@_spi(Internals) internal import SessionCore

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
