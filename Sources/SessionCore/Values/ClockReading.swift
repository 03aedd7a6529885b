/// The readings of both clocks at one instant: the civil time, and a time that only runs forward.
///
/// Records hold the civil time. Delays and expiry are measured on `uptime`, so that setting the
/// device's clock does not change them.
///
/// - Requirement: REF-8
public struct ClockReading: Hashable, Sendable {
  /// The civil ("wall") time, which may jump in either direction.
  public let time: Timestamp

  /// The time of ``elapsed``, in milliseconds.
  package let uptime: Int64

  /// The time on a clock that never jumps and that runs while the system sleeps, in milliseconds.
  ///
  /// Its zero is arbitrary but fixed while the process lives.
  public var elapsed: Duration { .milliseconds(uptime) }

  /// Creates a reading from both clocks; `elapsed` is rounded up to milliseconds.
  public init(time: Timestamp, elapsed: Duration) {
    self.init(time: time, uptime: elapsed.milliseconds(atLeast: .min))
  }

  package init(time: Timestamp, uptime: Int64) {
    self.time = time
    self.uptime = uptime
  }
}
