internal import SessionExplain

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A progress line on a terminal, for work that takes more than a second; only one thread may call
/// it.
final class ProgressBar {
  /// The milliseconds before the first line, and between two lines.
  private static let (patience, pause): (UInt64, UInt64) = (1_000, 100)

  private let output: Output?
  private let now: () -> UInt64
  private let start: UInt64
  private var shownAt: UInt64?

  /// Creates a bar on `output`; it shows nothing if `output` is `nil` or no terminal.
  ///
  /// `now` returns milliseconds since any fixed time, and never goes back.
  init(_ output: Output?, now: @escaping () -> UInt64 = ProgressBar.uptime) {
    self.output = output.flatMap { $0.isTerminal ? $0 : nil }
    self.now = now
    start = now()
  }

  /// Shows the line that `line` returns for the elapsed milliseconds, if it is time for one.
  func show(_ line: (UInt64) -> ProgressLine) {
    guard let output else { return }
    let elapsed = now() &- start
    guard elapsed >= Self.patience, elapsed &- (shownAt ?? 0) >= Self.pause else { return }
    shownAt = elapsed
    output.write("\r\(line(elapsed).text)\u{1B}[K")
    output.flush()
  }

  /// Removes the line from the terminal.
  func erase() {
    guard let output, shownAt != nil else { return }
    output.write("\r\u{1B}[K")
    output.flush()
    shownAt = nil
  }

  /// Returns the milliseconds since the system's start.
  static func uptime() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000 &+ UInt64(time.tv_nsec) / 1_000_000
  }
}

/// The progress of a long count, as one line.
struct ProgressLine: Equatable, Sendable {
  var bytes: UInt64
  var allBytes: UInt64
  var files: Int
  var allFiles: Int
  /// The elapsed time in milliseconds.
  var elapsed: UInt64

  private static let barWidth = 24

  /// `[##########··············] 41 %  4,102 of 10,000 files  212 MB/s`.
  var text: String {
    let done = min(bytes, allBytes)
    let whole = max(1, allBytes)
    let filled = Int(Double(done) / Double(whole) * Double(Self.barWidth))
    let percent = Int(Double(done) / Double(whole) * 100)
    let bar =
      String(repeating: "#", count: filled)
      + String(repeating: "·", count: Self.barWidth - filled)
    let speed = done / 1_000 / max(1, elapsed)
    return "[\(bar)] \(percent) %  \(files.grouped) of \(count(allFiles, "file"))"
      + "  \(speed.grouped) MB/s"
  }
}
