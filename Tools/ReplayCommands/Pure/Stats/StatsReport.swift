@_spi(Internals) internal import SessionCore

/// What many journals came to.
struct StatsReport: Sendable {
  /// A file that does not count, or not to its end.
  struct Problem: Sendable {
    let file: String
    /// A stable word: `damaged`, `missing`.
    let name: String
    let message: String
    var sequence: UInt64?
    var offset: UInt64?
  }

  var groups = StatsGroups()
  var records: UInt64 = 0
  /// Files whose good prefix counts.
  var read: UInt64 = 0
  /// Files of which only the good prefix counts, or nothing, since they are damaged.
  var damaged: [Problem] = []
  /// Files with a tail that a writer left.
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
