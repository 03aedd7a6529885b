#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Shows on a terminal how far something is, once it takes more than a second; one thread calls it.
final class ProgressBar {
  /// Milliseconds before anything is shown, and between two lines.
  private static let (patience, pause): (UInt64, UInt64) = (1_000, 100)

  private let output: Output?
  private let now: () -> UInt64
  private let start: UInt64
  private var shownAt: UInt64?

  /// A bar on `output`; nothing is ever shown where that is `nil` or no terminal.
  ///
  /// `now` tells milliseconds from any beginning, and never goes back.
  init(_ output: Output?, now: @escaping () -> UInt64 = ProgressBar.uptime) {
    self.output = output.flatMap { $0.isTerminal ? $0 : nil }
    self.now = now
    start = now()
  }

  /// Shows the line that `line` makes of the elapsed milliseconds, where it is time to.
  func show(_ line: (UInt64) -> ProgressLine) {
    guard let output else { return }
    let elapsed = now() &- start
    guard elapsed >= Self.patience, elapsed &- (shownAt ?? 0) >= Self.pause else { return }
    shownAt = elapsed
    output.write("\r\(line(elapsed).text)\u{1B}[K")
    output.flush()
  }

  /// Leaves the terminal as it was.
  func erase() {
    guard let output, shownAt != nil else { return }
    output.write("\r\u{1B}[K")
    output.flush()
    shownAt = nil
  }

  /// Milliseconds since the system's start.
  static func uptime() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000 &+ UInt64(time.tv_nsec) / 1_000_000
  }
}
