/// What the clocks said at one instant: the civil time, and a time that only runs forward.
///
/// Records are stamped with the civil time. Everything that is waited for or that expires is
/// measured on `uptime`, so that setting the device's clock neither extends nor cuts it (REF-8).
public struct ClockReading: Hashable, Sendable {
  /// The civil ("wall") time, which may jump in either direction.
  public let time: Timestamp

  /// Milliseconds on a clock that never jumps and runs while the system sleeps.
  ///
  /// Its zero is arbitrary but fixed while the process lives.
  public let uptime: Int64

  /// A moment from both readings.
  public init(time: Timestamp, uptime: Int64) {
    self.time = time
    self.uptime = uptime
  }
}
