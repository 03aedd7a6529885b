@_spi(Internals) package import SessionCore

/// A formatter of durations: `250 ms`, `2.0 s`, `30 s`, `1 min 30 s`, `15 min`, `2 h 5 min`,
/// `3 d 4 h`.
///
/// A duration is rounded to the last unit that is shown.
package enum DurationFormatter {
  package static func text(milliseconds: Int64) -> String {
    guard milliseconds >= 0 else {
      return "-" + text(milliseconds: milliseconds == .min ? .max : -milliseconds)
    }
    guard milliseconds >= 1000 else { return "\(milliseconds) ms" }
    let tenths = rounded(milliseconds, to: 100)
    guard tenths >= 600 else {
      let isRound = tenths >= 100 && tenths % 10 == 0
      return "\(tenths / 10)" + (isRound ? " s" : ".\(tenths % 10) s")
    }
    let seconds = rounded(milliseconds, to: 1000)
    guard seconds >= 3600 else { return pair(seconds, 60, "min", "s") }
    let minutes = rounded(milliseconds, to: 60_000)
    guard minutes >= 1440 else { return pair(minutes, 60, "h", "min") }
    return pair(rounded(milliseconds, to: 3_600_000), 24, "d", "h")
  }

  /// Returns the duration in a unit, rounded to the nearest whole number.
  private static func rounded(_ milliseconds: Int64, to unit: Int64) -> Int64 {
    milliseconds / unit + (milliseconds % unit >= unit / 2 ? 1 : 0)
  }

  private static func pair(_ value: Int64, _ base: Int64, _ large: String, _ small: String)
    -> String
  {
    let rest = value % base
    return "\((value / base).grouped) \(large)" + (rest == 0 ? "" : " \(rest) \(small)")
  }
}

/// The time zone in which text shows times.
///
/// It is a value, so that formatting needs no access to the system's time zone data.
package struct DisplayZone: Sendable {
  /// Coordinated universal time, marked `Z`.
  package static let utc = DisplayZone(distance: nil)

  /// Returns the milliseconds that the zone is ahead of UTC at a time; `nil` for UTC itself.
  private let distance: (@Sendable (Timestamp) -> Int64)?

  private init(distance: (@Sendable (Timestamp) -> Int64)?) {
    self.distance = distance
  }

  /// Creates a zone that is `offset` milliseconds ahead of UTC at a time.
  ///
  /// Its times are marked with the difference, such as `+01:00`.
  package init(offset: @escaping @Sendable (Timestamp) -> Int64) {
    self.init(distance: offset)
  }

  /// Formats a time, such as `2026-11-21 14:00:05.205Z`.
  package func text(_ time: Timestamp) -> String {
    text(time, digits: 12)
  }

  /// Formats a time to the second, such as `2026-11-21 14:00:05Z`.
  package func secondsText(_ time: Timestamp) -> String {
    text(time, digits: 8)
  }

  private func text(_ time: Timestamp, digits: Int) -> String {
    let offset = distance?(time) ?? 0
    let shown = time.advanced(by: offset)
    let mark = distance == nil ? "Z" : suffix(offset)
    return "\(shown.calendarDay) \(shown.timeOfDay.prefix(digits))\(mark)"
  }

  private func suffix(_ offset: Int64) -> String {
    let minutes = offset.magnitude / 60_000
    let (hour, minute) = (String(minutes / 60), String(minutes % 60))
    return (offset < 0 ? "-" : "+") + (hour.count < 2 ? "0" : "") + hour + ":"
      + (minute.count < 2 ? "0" : "") + minute
  }
}
