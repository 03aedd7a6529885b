import SessionJournal

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
  // A thread that waits for a lock is lost for all sessions that share it: one process that is
  // stopped while it holds one journal's lock would block every session of a server. A lock that
  // suspends was rejected, since a decision would be separated from its append by an `await`. So
  // was `busy` as an input of the coordinator: each purpose of a commit would get a state for it,
  // and would have to prove that nothing was performed twice. Five seconds cover a slow sync of
  // another process.
  enum Verdict: Equatable, Sendable {
    /// Try again after a pause.
    case again(after: Int64)
    /// Give up with this error; if it is `busy`, it says how long all tries have waited.
    case over(JournalError)
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

  /// Decides after a try that failed; only a busy log is tried again.
  mutating func failed(_ error: JournalError) -> Verdict {
    guard case .busy(let path, let waited) = error else { return .over(error) }
    self.waited = self.waited.addingSaturating(Int64(clamping: waited))
    guard self.waited < limit else {
      return .over(.busy(path: path, waited: UInt64(clamping: self.waited)))
    }
    let planned = min(pause, limit - self.waited)
    self.waited += planned
    pause = min(pause * 2, Self.longestPause)
    return .again(after: planned)
  }
}
