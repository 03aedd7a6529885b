@_spi(Internals) internal import SessionCore

/// The result of a count of many journals.
struct StatsReport: Sendable {
  /// A file that does not count, or counts only in part.
  struct Problem: Sendable {
    let file: String
    /// A stable name for programs: `damaged`, `missing`.
    let name: String
    let message: String
    var sequence: UInt64?
    var offset: UInt64?
  }

  var groups = StatsGroups()
  var records: UInt64 = 0
  /// The number of files whose good prefix counts.
  var read: UInt64 = 0
  /// Damaged files, of which only the good prefix counts, or nothing.
  var damaged: [Problem] = []
  /// The number of files with the tail of an unfinished commit.
  var tails: UInt64 = 0
  /// Files that could not be opened or read.
  var failed: [Problem] = []
  var firstTime: Timestamp?
  var lastTime: Timestamp?

  /// Adds the count of one journal.
  mutating func add(_ fold: StatsFold) {
    groups.merge(fold.groups)
    records += fold.records
    if let first = fold.firstTime { firstTime = min(firstTime ?? first, first) }
    if let last = fold.lastTime { lastTime = max(lastTime ?? last, last) }
  }
}
