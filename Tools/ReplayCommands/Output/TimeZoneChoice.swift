@_spi(Internals) internal import SessionCore
internal import SessionExplain

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The time zone in which times are shown and read.
enum TimeZoneChoice: Equatable, Sendable {
  /// Coordinated universal time, marked `Z`: what servers log.
  case utc
  /// This computer's zone, marked with its offset: `+01:00`.
  case local

  /// Returns the milliseconds that the zone is ahead of UTC at `time`.
  func offset(at time: Timestamp) -> Int64 {
    self == .local ? Self.localOffset(at: time) : 0
  }

  private static func localOffset(at time: Timestamp) -> Int64 {
    var seconds = time_t(clamping: time.milliseconds / 1000)
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return 0 }
    return Int64(parts.tm_gmtoff) * 1000
  }

  /// The zone for formatters that may not ask the system.
  var display: DisplayZone {
    switch self {
    case .utc: .utc
    case .local: DisplayZone { Self.localOffset(at: $0) }
    }
  }

  /// Returns `2026-11-21 14:00:05.205Z`.
  func text(_ time: Timestamp) -> String { display.text(time) }
}
