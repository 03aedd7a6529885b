@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// Formats figures for people.
struct StatsFormatter {
  let report: StatsReport
  let grouping: StatsGrouping?
  let zone: @Sendable (Timestamp) -> String
  /// Applies the style of a heading.
  let heading: (String) -> String
  /// Applies the style of a warning.
  let warning: (String) -> String

  /// The maximum number of files with problems that are named; others are counted (JSON has them
  /// all).
  static let namedFiles = 20
  /// The maximum number of groups with a row of their own in the text.
  static let shownGroups = 60

  var text: String {
    let total = report.groups.total
    var lines = files + [""]
    lines += sessions(total) + [""]
    if !total.ends.isEmpty { lines += ends(total) + [""] }
    lines += refreshes(total) + [""]
    lines += spans(total)
    if let grouping { lines += [""] + groups(grouping) }
    lines += problems
    return lines.map { $0 + "\n" }.joined()
  }

  private var files: [String] {
    var parts = ["\(report.read.grouped) read"]
    if !report.damaged.isEmpty { parts.append("\(report.damaged.count.grouped) damaged") }
    if report.tails > 0 { parts.append("\(report.tails.grouped) with a tail that a writer left") }
    if !report.failed.isEmpty { parts.append("\(report.failed.count.grouped) not read") }
    var records = report.records.grouped
    if let first = report.firstTime, let last = report.lastTime {
      records += ", \(zone(first)) to \(zone(last))"
    }
    return [
      "\(heading("Journals"))  \(parts.joined(separator: ", "))",
      "\(heading("Records"))   \(records)",
    ]
  }

  private func block(_ title: String, _ number: UInt64, _ rows: [(String, UInt64, String)])
    -> [String]
  {
    var table = StatsTable()
    table.add([title.padded(to: 20), number.grouped])
    for (name, count, remark) in rows { table.add(["  \(name)", count.grouped, remark]) }
    var lines = table.lines
    lines[0] = heading(title) + lines[0].dropFirst(title.count)
    return lines
  }

  private func sessions(_ figures: StatsFigures) -> [String] {
    var rows: [(String, UInt64, String)] = [
      ("ended", figures.ended, ""), ("still open", figures.open, ""),
    ]
    if figures.continued > 0 {
      rows.append(("continued", figures.continued, "begun before their journal was compacted"))
    }
    return block("Sessions", figures.sessions + figures.continued, rows)
  }

  private func ends(_ figures: StatsFigures) -> [String] {
    let all = figures.ended
    let rows = Self.ranked(figures.ends).map { ($0.0.description, $0.1, Share.text($0.1, of: all)) }
    return block("Ends", all, rows)
  }

  private func refreshes(_ figures: StatsFigures) -> [String] {
    let all = figures.succeeded + figures.failed
    var rows = [("succeeded", figures.succeeded, Share.text(figures.succeeded, of: all))]
    for (kind, number) in Self.ranked(figures.failures) {
      rows.append(("\(kind)", number, Share.text(number, of: all)))
    }
    return block("Refreshes", all, all == 0 ? [] : rows)
  }

  private func spans(_ figures: StatsFigures) -> [String] {
    var table = StatsTable()
    table.add(["Spans", "p50", "p90", "p95", "p99", "max", "of"])
    for (name, tally) in [
      ("  refresh succeeded", figures.latency), ("  refresh failed", figures.failureLatency),
      ("  recovery", figures.recovery), ("  session", figures.length),
    ] {
      table.add(
        [name]
          + [50, 90, 95, 99, 100].map { Self.span(tally.histogram.percentile($0)) }
          + [tally.histogram.count.grouped])
    }
    var lines = table.lines
    lines[0] = heading("Spans") + lines[0].dropFirst(5)
    if figures.neverRecovered > 0 {
      lines.append(
        "  \(count(figures.neverRecovered, "session")) ended without a recovery from a failure")
    }
    let left =
      figures.latency.clock + figures.failureLatency.clock + figures.recovery.clock
      + figures.length.clock
    if left > 0 {
      lines.append("  \(count(left, "span")) left out: the device's clock was set meanwhile")
    }
    return lines
  }

  private func groups(_ grouping: StatsGrouping) -> [String] {
    let rows = ranked
    var table = StatsTable()
    table.add([
      "By \(grouping)", "sessions", "ends", "refreshes", "succeeded", "p50", "p95", "recovery",
      "session",
    ])
    for (key, figures) in rows.prefix(Self.shownGroups) { table.add(row(key, figures)) }
    if rows.count > Self.shownGroups {
      var rest = report.groups.others
      for (_, figures) in rows.dropFirst(Self.shownGroups) { rest.merge(figures) }
      table.add(row("\((rows.count - Self.shownGroups).grouped) more, together", rest))
    } else if !report.groups.others.isEmpty {
      table.add(row("all others, together", report.groups.others))
    }
    var lines = table.lines
    let title = "By \(grouping)"
    lines[0] = heading(title) + lines[0].dropFirst(title.count)
    return lines
  }

  private func row(_ name: String, _ figures: StatsFigures) -> [String] {
    let refreshes = figures.succeeded + figures.failed
    return [
      "  \(name)", (figures.sessions + figures.continued).grouped, figures.ended.grouped,
      refreshes.grouped, Share.text(figures.succeeded, of: refreshes),
      Self.span(figures.latency.histogram.percentile(50)),
      Self.span(figures.latency.histogram.percentile(95)),
      Self.span(figures.recovery.histogram.percentile(50)),
      Self.span(figures.length.histogram.percentile(50)),
    ]
  }

  /// The groups in display order: days by date, others by their number of ended sessions.
  private var ranked: [(String, StatsFigures)] { Self.ranked(report.groups) }

  static func ranked(_ groups: StatsGroups) -> [(String, StatsFigures)] {
    groups.figures.sorted { left, right in
      switch (left.key, right.key) {
      case (.day(let left), .day(let right)): return left < right
      default:
        let (ends, others) = (left.value.ended, right.value.ended)
        return ends == others ? left.key.comesBefore(right.key) : ends > others
      }
    }.map { (name($0.key), $0.value) }
  }

  static func name(_ key: StatsKey) -> String {
    switch key {
    case .day(let number):
      let day: Int64 = 86_400_000
      return Timestamp(milliseconds: number.multipliedReportingOverflow(by: day).partialValue)
        .calendarDay
    case .word(let word): return word.printable
    }
  }

  private var problems: [String] {
    var lines: [String] = []
    for (title, problems) in [("Damaged", report.damaged), ("Not read", report.failed)] {
      guard !problems.isEmpty else { continue }
      lines += ["", warning(title) + "  \(problems.count.grouped)"]
      for problem in problems.prefix(Self.namedFiles) {
        lines.append("  \(problem.message.printable)")
      }
      if problems.count > Self.namedFiles {
        lines.append("  … \((problems.count - Self.namedFiles).grouped) more, all in --json")
      }
    }
    return lines
  }

  /// Sorts counts, the highest first; equal counts in the order of their keys.
  static func ranked<Key: Hashable & CustomStringConvertible>(_ counts: [Key: UInt64])
    -> [(Key, UInt64)]
  {
    counts.sorted {
      $0.value == $1.value ? $0.key.description < $1.key.description : $0.value > $1.value
    }.map { ($0.key, $0.value) }
  }

  private static func span(_ milliseconds: Int64?) -> String {
    milliseconds.map(DurationFormatter.text(milliseconds:)) ?? "–"
  }

}

/// Rows of text in columns; the first column is left-aligned, the others are right-aligned.
private struct StatsTable {
  private var rows: [[String]] = []

  mutating func add(_ cells: [String]) {
    rows.append(cells)
  }

  /// The rows as lines, with two blanks between columns and none at the end.
  var lines: [String] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        line +=
          column == 0
          ? cell.padded(to: widths[0]) : "  " + cell.leftPadded(to: widths[column])
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

/// Formats a part of a whole for people.
enum Share {
  /// Returns `98.8 %`, rounded; only the whole is `100.0 %`.
  static func text(_ part: UInt64, of whole: UInt64) -> String {
    guard whole > 0, part <= whole else { return "–" }
    let (exact, all) = (UInt128(part) * 1_000, UInt128(whole))
    let tenths = part == whole ? 1_000 : min(999, UInt64((exact + all / 2) / all))
    return "\((tenths / 10).grouped).\(tenths % 10) %"
  }
}
