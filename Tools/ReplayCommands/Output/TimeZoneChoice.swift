internal import SessionCore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// In which zone times are shown to people and read from them.
enum TimeZoneChoice: Equatable, Sendable {
  /// Coordinated universal time, marked `Z`: what servers log.
  case utc
  /// This computer's zone, marked with its distance: `+01:00`.
  case local

  /// Milliseconds that the zone is ahead of UTC at `time`.
  func offset(at time: Timestamp) -> Int64 {
    guard self == .local else { return 0 }
    var seconds = time_t(clamping: time.milliseconds / 1000)
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return 0 }
    return Int64(parts.tm_gmtoff) * 1000
  }

  /// `2026-11-21 14:00:05.205Z`.
  func text(_ time: Timestamp) -> String {
    let offset = offset(at: time)
    let shown = time.advanced(by: offset)
    return "\(shown.calendarDay) \(shown.timeOfDay)\(suffix(offset))"
  }

  private func suffix(_ offset: Int64) -> String {
    guard self == .local else { return "Z" }
    let minutes = offset.magnitude / 60_000
    let (hour, minute) = (String(minutes / 60), String(minutes % 60))
    return (offset < 0 ? "-" : "+") + (hour.count < 2 ? "0" : "") + hour + ":"
      + (minute.count < 2 ? "0" : "") + minute
  }
}
