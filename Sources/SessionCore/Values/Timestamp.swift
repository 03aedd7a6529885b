/// A point in civil time: whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Negative before 1970. Arithmetic saturates at the bounds of `Int64` and never traps.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  public let milliseconds: Int64

  /// A timestamp from milliseconds since 1970-01-01T00:00:00Z.
  public init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// Whether the left time is before the right one.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// The timestamp `duration` later (earlier if negative), in whole milliseconds, rounded up; saturating.
  public func advanced(by duration: Duration) -> Timestamp {
    advanced(by: duration.milliseconds(atLeast: .min))
  }

  /// The timestamp `milliseconds` later (earlier if negative), saturating.
  package func advanced(by milliseconds: Int64) -> Timestamp {
    Timestamp(milliseconds: self.milliseconds.addingSaturating(milliseconds))
  }

  /// Milliseconds from `earlier` to this timestamp, saturating.
  public func milliseconds(since earlier: Timestamp) -> Int64 {
    milliseconds.subtractingSaturating(earlier.milliseconds)
  }
}

extension Int64 {
  /// The sum, or the bound that it would pass.
  package func addingSaturating(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    guard overflow else { return sum }
    return other < 0 ? .min : .max
  }

  /// The difference, or the bound that it would pass.
  package func subtractingSaturating(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    guard overflow else { return difference }
    return other < 0 ? .max : .min
  }
}
