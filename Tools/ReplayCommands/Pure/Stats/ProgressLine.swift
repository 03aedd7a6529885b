internal import SessionExplain

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
