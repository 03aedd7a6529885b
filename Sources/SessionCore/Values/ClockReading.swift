/// What the clocks said at one instant: the civil time, and a time that only runs forward.
///
/// Records are stamped with the civil time. Everything that is waited for or that expires is
/// measured on `uptime`, so that setting the device's clock neither extends nor cuts it.
///
/// - Requirement: REF-8
public struct ClockReading: Hashable, Sendable {
  /// The civil ("wall") time, which may jump in either direction.
  public let time: Timestamp

  /// The uptime: ``elapsed`` in milliseconds.
  package let uptime: Int64

  /// The time on a clock that never jumps and runs while the system sleeps, in whole milliseconds.
  ///
  /// Its zero is arbitrary but fixed while the process lives.
  public var elapsed: Duration { .milliseconds(uptime) }

  /// A moment from both readings; `elapsed` is rounded up to milliseconds.
  public init(time: Timestamp, elapsed: Duration) {
    self.init(time: time, uptime: elapsed.milliseconds(atLeast: .min))
  }

  package init(time: Timestamp, uptime: Int64) {
    self.time = time
    self.uptime = uptime
  }
}
