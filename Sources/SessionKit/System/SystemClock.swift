package import SessionCore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The device's clocks.
///
/// Uptime is `CLOCK_BOOTTIME` on Linux and `CLOCK_MONOTONIC` on Apple's systems: both run while the
/// system sleeps.
///
/// - Requirement: REF-8
package struct SystemClock: SessionClock {
  /// Creates a clock that reads the device's clocks.
  package init() {}

  /// Returns the current civil time and uptime.
  package func now() -> ClockReading {
    ClockReading(
      time: Timestamp(milliseconds: Self.milliseconds(CLOCK_REALTIME)),
      uptime: Self.milliseconds(Self.uptimeClock))
  }

  /// The system's own identifier of its boot.
  package var boot: Identifier? { ProcessStatus.boot }

  /// Waits in steps of at most a minute.
  ///
  /// A task's sleep may pause while the system sleeps, so the delay is at most one step.
  package func sleep(until deadline: Duration) async throws(CancellationError) {
    let uptime = deadline.milliseconds(atLeast: .min)
    while true {
      guard !Task.isCancelled else { throw CancellationError() }
      let left = uptime.subtractingSaturating(now().uptime)
      guard left > 0 else { return }
      do {
        try await Task.sleep(for: .milliseconds(min(left, 60_000)))
      } catch {
        throw CancellationError()
      }
    }
  }

  #if canImport(Darwin)
    private static var uptimeClock: clockid_t { CLOCK_MONOTONIC }
  #else
    private static var uptimeClock: clockid_t { CLOCK_BOOTTIME }
  #endif

  private static func milliseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
