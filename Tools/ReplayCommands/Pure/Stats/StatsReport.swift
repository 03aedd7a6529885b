@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

extension StatsReport {
  /// Returns one JSON object; `Specs/ReplayStats.md` describes each field.
  func json(grouping: StatsGrouping?) -> String {
    let total = groups.total
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.object("files") { json in
        json.field("read", read)
        json.field("tails", tails)
        json.array("damaged", damaged) { $0.problem($1) }
        json.array("failed", failed) { $0.problem($1) }
      }
      json.field("records", records)
      json.field("firstTime", firstTime)
      json.field("lastTime", lastTime)
      json.figures(total, withCauses: grouping == .cause)
      json.field("by", grouping?.rawValue)
      if grouping == nil {
        json.null("groups")
      } else {
        var all = StatsFormatter.ranked(groups)
        if !groups.others.isEmpty { all.append(("(others)", groups.others)) }
        json.array("groups", all) { json, group in
          json.object { json in
            json.field("key", group.0)
            json.figures(group.1, withCauses: grouping == .cause)
          }
        }
      }
    }
    return json.text + "\n"
  }
}

extension JSONWriter {
  fileprivate mutating func problem(_ problem: StatsReport.Problem) {
    object { json in
      json.field("file", problem.file)
      json.field("name", problem.name)
      json.field("sequence", problem.sequence)
      json.field("offset", problem.offset)
      json.field("message", problem.message)
    }
  }

  fileprivate mutating func figures(_ figures: StatsFigures, withCauses: Bool) {
    field("sessions", figures.sessions)
    field("continued", figures.continued)
    field("open", figures.open)
    counts("ends", figures.ends)
    if withCauses { counts("causes", figures.causes) } else { null("causes") }
    object("refreshes") { json in
      json.field("succeeded", figures.succeeded)
      json.counts("failed", figures.failures)
      json.field("answered", figures.answered)
    }
    spans("latency", figures.latency)
    spans("failureLatency", figures.failureLatency)
    spans("recovery", figures.recovery)
    field("neverRecovered", figures.neverRecovered)
    spans("sessionLength", figures.length)
    object("tokens") { json in
      json.field("announced", figures.tokens)
      json.field("rotated", figures.rotated)
    }
  }

  private mutating func counts<Key: Hashable & CustomStringConvertible>(
    _ name: StaticString, _ counts: [Key: UInt64]
  ) {
    object(name) { json in
      for (key, number) in StatsFormatter.ranked(counts) {
        json.member(named: key.description) { $0.value(number) }
      }
    }
  }

  private mutating func spans(_ name: StaticString, _ tally: SpanTally) {
    object(name) { json in
      json.field("count", tally.histogram.count)
      json.field("min", tally.histogram.minimum)
      let percents: [(StaticString, Int)] = [("p50", 50), ("p90", 90), ("p95", 95), ("p99", 99)]
      for (name, percent) in percents { json.field(name, tally.histogram.percentile(percent)) }
      json.field("max", tally.histogram.maximum)
      json.field("clock", tally.clock)
    }
  }
}

/// The result of a count of many journals.
struct StatsReport: Sendable {
  /// A file that does not count, or counts only in part.
  struct Problem: Sendable {
    /// The file's path; `nil` for a folder that could not be listed.
    let file: String?
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
