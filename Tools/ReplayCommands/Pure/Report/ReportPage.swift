@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// The totals of all journals, drawn on a page or not.
struct ReportTotals: Equatable, Sendable {
  private(set) var journals: UInt64 = 0
  private(set) var records: UInt64 = 0
  private(set) var first: Timestamp?
  private(set) var last: Timestamp?
  /// The number of explained ends.
  private(set) var explained: UInt64 = 0

  mutating func add(_ journal: ReportJournal) {
    journals += 1
    records += journal.records
    first = [first, journal.first].compactMap { $0 }.min()
    last = [last, journal.last].compactMap { $0 }.max()
    explained += journal.explained
  }
}

/// The problems of files.
struct ReportProblems: Equatable, Sendable {
  /// One sentence for each file.
  var sentences: [String] = []
  var damaged: UInt64 = 0
  var tails: UInt64 = 0
  var failed: UInt64 = 0

  /// Returns `3 damaged, 1 with a tail, 2 not read`.
  var words: String {
    [(damaged, "damaged"), (tails, "with a tail that a writer left"), (failed, "not read")]
      .filter { $0.0 > 0 }.map { "\($0.0.grouped) \($0.1)" }.joined(separator: ", ")
  }
}

/// A page that shows journals, complete in one file and readable without its script.
struct ReportPage: Sendable {
  var title: String
  /// The journals that are drawn.
  var journals: [ReportJournal]
  /// The totals of all journals.
  var totals: ReportTotals
  /// The figures of all journals by app version.
  var figures: StatsGroups
  /// The ends of all journals.
  var ends: EndTally
  var problems = ReportProblems()
  /// Whether real names and identifiers are shown.
  var isRevealed: Bool
  let zone: TimeZoneChoice
  let version: String

  /// The maximum number of problems that are listed.
  static let toldProblems = 50
  /// From this number of ends on, a page of one journal has causes and days as well.
  private static let manyEnds: UInt64 = 12
  /// The maximum length of text that a server may have made long, in characters.
  static let longestText = 600

  /// The time of all drawn journals.
  var scale: TimeScale {
    let first = journals.compactMap(\.first).min() ?? Timestamp(milliseconds: 0)
    return TimeScale(first: first, last: journals.compactMap(\.last).max() ?? first)
  }

  /// Whether the page begins with what counts for many journals.
  var isMany: Bool { totals.journals > 1 || ends.ends > Self.manyEnds }

  /// Writes the page, part by part.
  func write(_ write: (String) -> Void) {
    let policy =
      "default-src 'none'; style-src '\(PageStyle.hash)'; script-src '\(PageScript.hash)'; "
      + "base-uri 'none'; form-action 'none'"
    write(
      """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="\(policy)">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="referrer" content="no-referrer">
      <title>\(HTML.text(title, limit: 200))</title>
      <style>\(PageStyle.text)</style>
      </head>
      <body>
      \(Self.shapes)
      <header>
      <h1>\(HTML.text(title, limit: 200))</h1>
      <p class="dim">\(summary)</p>
      \(tiles)
      \(parts)
      </header>
      <main>

      """)
    writeProblems(write)
    writeCauses(write)
    writeDays(write)
    writeVersions(write)
    writeLanes(write)
    writeWhys(write)
    writeTable(write)
    write(
      "</main>\n\(footer)\n<script>\(PageScript.text)</script>\n</body>\n</html>\n")
  }

  private func writeProblems(_ write: (String) -> Void) {
    guard !problems.sentences.isEmpty else { return }
    write(
      "<details class=\"card problems\" id=\"problems\"\(isMany ? "" : " open")><summary>"
        + "<h2>Problems of files</h2> \(problems.words)</summary><ul>\n")
    for problem in problems.sentences.prefix(Self.toldProblems) {
      write("<li>\(text(problem))</li>\n")
    }
    let more = problems.sentences.count - Self.toldProblems
    if more > 0 { write("<li>\(count(more, "file")) more.</li>\n") }
    write("</ul></details>\n")
  }

  // MARK: Head and foot

  private var summary: String {
    let files = problems.sentences.isEmpty ? "" : " (\(problems.words))"
    var parts = [count(totals.journals, "journal") + files, count(totals.records, "record")]
    if let first = totals.first, let last = totals.last {
      parts.append("\(time(first)) to \(time(last))")
    }
    parts.append(isRevealed ? "names are real" : "names are pseudonyms")
    return parts.joined(separator: " · ")
  }

  /// Returns links to the parts of a page of many journals.
  private var parts: String {
    guard isMany else { return "" }
    let all = [
      ("causes", "Causes", ends.ends > 0), ("days", "By day", dayScale != nil),
      ("versions", "App versions", hasVersions), ("lanes", "Over time", true),
      ("whys", "Why", !whys.isEmpty), ("records", "Records", true),
    ]
    let links = all.filter(\.2).map { "<a href=\"#\($0.0)\">\($0.1)</a>" }
    return "<nav aria-label=\"Parts\">\(links.joined(separator: " "))</nav>"
  }

  /// Returns `12 ends: 3 unexpected, 1 by rule, 8 by the user`.
  var endWords: String {
    let parts = [
      (ends.problems, "unexpected"), (ends.classes[.rule] ?? 0, "by rule"),
      (ends.classes[.user] ?? 0, "by the user"),
    ]
    return "\(count(ends.ends, "end")): "
      + parts.filter { $0.0 > 0 }.map { "\($0.0.grouped) \($0.1)" }.joined(separator: ", ")
  }

  private var tiles: String {
    let figures = figures.total
    let refreshes = figures.succeeded + figures.failed
    let latency = figures.latency.histogram
    let sessions = figures.sessions + figures.continued
    let expected = [EndClass.rule, .user].compactMap { kind in
      ends.classes[kind].map { "<span>\($0.grouped) \(kind.words.lowercased())</span>" }
    }
    var tiles = [
      tile(
        ends.problems.grouped, ends.problems == 1 ? "unexpected end" : "unexpected ends",
        "<span>of \(count(ends.ends, "end"))</span>" + expected.joined(), isBad: ends.problems > 0),
      tile(
        sessions.grouped, sessions == 1 ? "session" : "sessions",
        "<span>\(figures.open.grouped) still open</span>"
          + span("lasted", figures.length.histogram.percentile(50), "(p50)")),
    ]
    if refreshes > 0 {
      tiles.append(
        tile(
          Share.text(figures.succeeded, of: refreshes), "of refreshes succeeded",
          "<span>\(figures.failed.grouped) of \(refreshes.grouped) failed</span>"
            + "<span>\((figures.failures[.noReply] ?? 0).grouped) without a reply</span>"))
    }
    if let middle = latency.percentile(50), let high = latency.percentile(95) {
      tiles.append(
        tile(
          DurationFormatter.text(milliseconds: middle), "for a refresh (p50)",
          "<span>\(DurationFormatter.text(milliseconds: high)) p95</span>"
            + "<span>\(DurationFormatter.text(milliseconds: latency.maximum ?? high)) at most</span>"
        ))
    }
    if let recovery = figures.recovery.histogram.percentile(50) {
      tiles.append(
        tile(
          DurationFormatter.text(milliseconds: recovery), "to recover from a failure (p50)",
          "<span>\(figures.recovery.histogram.count.grouped) recovered</span>"
            + "<span>\(figures.neverRecovered.grouped) never did</span>"))
    }
    return "<ul class=\"tiles\">\(tiles.joined())</ul>"
  }

  private func tile(_ number: String, _ what: String, _ more: String, isBad: Bool = false) -> String
  {
    "<li\(isBad ? " class=\"bad\"" : "")><b>\(number)</b>\(what)\(more)</li>"
  }

  private func span(_ before: String, _ milliseconds: Int64?, _ after: String) -> String {
    guard let milliseconds else { return "" }
    return "<span>\(before) \(DurationFormatter.text(milliseconds: milliseconds)) \(after)</span>"
  }

  private var footer: String {
    var left: [String] = []
    let rows = journals.reduce(UInt64(0)) { $0 + UInt64($1.rows.count) }
    if rows < totals.records {
      left.append(
        "The table has \(rows.grouped) of \(count(totals.records, "record")): ends, failures and "
          + "sign-ins first, the others evenly thinned. <code>sessionreplay timeline</code> has all."
      )
    }
    let shown = UInt64(whys.count { $0.why.cause.class == .end })
    if totals.explained > shown {
      left.append(
        "\(count(totals.explained - shown, "end")) counted and not explained here: the newest of each "
          + "cause are. <code>sessionreplay why --all</code> explains each.")
    }
    let others = totals.journals - UInt64(journals.count)
    if others > 0 {
      left.append(
        "\(count(others, "journal")) counted and not drawn: those with the newest ends of each cause "
          + "are.")
    }
    left.append(
      isRevealed
        ? "Names and identifiers are those of the journals (<code>--reveal</code>): mind who reads this."
        : "Names and identifiers are pseudonyms: a name has the same one on the whole page. Names of "
          + "files are as they were.")
    left.append(
      "Made by sessionreplay \(text(version)). The page loads nothing, and sends nothing.")
    return "<footer>" + left.map { "<p>\($0)</p>" }.joined(separator: "\n") + "</footer>"
  }

  // MARK: Text

  func text(_ text: String) -> String { HTML.text(text, limit: Self.longestText) }

  /// Returns the element of a time.
  func time(_ time: Timestamp) -> String {
    "<time datetime=\"\(time.description)\">\(zone.text(time))</time>"
  }

  /// The shapes of marks, drawn around the origin.
  private static let shapes = """
    <svg width="0" height="0" class="away" aria-hidden="true" focusable="false"><defs>
    <path id="m-refresh" d="M0-4.5L4.2 3.5H-4.2Z"/>
    <path id="m-change" d="M0-5.5L5.5 0L0 5.5L-5.5 0Z"/>
    <path id="m-login" d="M-5 0A5 5 0 1 0 5 0A5 5 0 1 0-5 0Z"/>
    <path id="m-leave" d="M-4 0A4 4 0 1 0 4 0A4 4 0 1 0-4 0Z"/>
    <path id="m-remark" d="M-4-4H4V4H-4Z"/>
    <path id="m-failure" d="M-4.5-4.5L4.5 4.5M-4.5 4.5L4.5-4.5"/>
    <path id="m-end" d="M-6-6H6V6H-6Z"/>
    </defs></svg>
    """
}
