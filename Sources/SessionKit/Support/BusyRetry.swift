/// Decides whether a call to a log is tried again while another opening has the log, and when.
///
/// A call waits some milliseconds at most, since many sessions may share its thread. The rest of the
/// wait is a timer's. All times are milliseconds; the pauses are counted as they were planned.
///
/// ```
///          busy, time is left              busy, no time is left
///  trying ────────────────────▶ pausing … ─────────────────────▶ over
/// ```
///
/// - Requirement: SCL-1
struct BusyRetry: Hashable, Sendable {
  enum Verdict: Hashable, Sendable {
    /// Try again after a pause.
    case again(after: Int64)
    /// Give up; the call and all before it have waited so long.
    case over(waited: UInt64)
  }

  /// How long all tries and pauses may take together.
  let limit: Int64
  private var waited: Int64 = 0
  private var pause = Self.firstPause

  static let firstPause: Int64 = 5
  static let longestPause: Int64 = 50

  init(limit: Duration) {
    self.limit = limit.milliseconds(atLeast: 0)
  }

  /// Decides after a try that waited so long for the other opening.
  mutating func busy(for waited: UInt64) -> Verdict {
    self.waited = self.waited.addingSaturating(Int64(clamping: waited))
    guard self.waited < limit else { return .over(waited: UInt64(clamping: self.waited)) }
    let planned = min(pause, limit - self.waited)
    self.waited += planned
    pause = min(pause * 2, Self.longestPause)
    return .again(after: planned)
  }
}
