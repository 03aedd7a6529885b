@_spi(Internals) package import SessionCore

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
    guard let distance else { return "\(time.calendarDay) \(time.timeOfDay)Z" }
    let offset = distance(time)
    let shown = time.advanced(by: offset)
    return "\(shown.calendarDay) \(shown.timeOfDay)\(suffix(offset))"
  }

  private func suffix(_ offset: Int64) -> String {
    let minutes = offset.magnitude / 60_000
    let (hour, minute) = (String(minutes / 60), String(minutes % 60))
    return (offset < 0 ? "-" : "+") + (hour.count < 2 ? "0" : "") + hour + ":"
      + (minute.count < 2 ? "0" : "") + minute
  }
}
