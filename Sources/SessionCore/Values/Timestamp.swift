/// A point in civil time, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Negative before 1970. Arithmetic saturates at the bounds of `Int64` and never traps.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  public let milliseconds: Int64

  /// Creates a timestamp from milliseconds since 1970-01-01T00:00:00Z.
  public init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// Whether the left time is before the right one.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// Returns the timestamp `duration` later, earlier if negative; rounds up to milliseconds,
  /// saturates.
  public func advanced(by duration: Duration) -> Timestamp {
    advanced(by: duration.milliseconds(atLeast: .min))
  }

  /// Returns the timestamp `milliseconds` later, earlier if negative; saturates.
  package func advanced(by milliseconds: Int64) -> Timestamp {
    Timestamp(milliseconds: self.milliseconds.addingSaturating(milliseconds))
  }

  /// Returns the milliseconds from `earlier` to this timestamp; saturates.
  public func milliseconds(since earlier: Timestamp) -> Int64 {
    milliseconds.subtractingSaturating(earlier.milliseconds)
  }
}

extension FixedWidthInteger {
  /// Returns the sum, or the nearest bound if it overflows.
  @inlinable
  package func addingSaturating(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    guard overflow else { return sum }
    return other < 0 ? .min : .max
  }
}

extension Int64 {
  /// Returns the difference, or the nearest bound if it overflows.
  package func subtractingSaturating(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    guard overflow else { return difference }
    return other < 0 ? .max : .min
  }
}
