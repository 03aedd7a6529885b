@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// The totals of journals for which a page has no room.
struct ReportRest: Equatable, Sendable {
  private(set) var journals: UInt64 = 0
  private(set) var records: UInt64 = 0
  private(set) var first: Timestamp?
  private(set) var last: Timestamp?
  /// The number of ends that the page does not explain.
  private(set) var whys: UInt64 = 0

  mutating func add(_ journal: ReportJournal) {
    journals += 1
    records += journal.records
    first = [first, journal.first].compactMap { $0 }.min()
    last = [last, journal.last].compactMap { $0 }.max()
    whys += journal.droppedWhys + UInt64(journal.whys.count { $0.isEnd })
  }
}

/// A page that shows journals, complete in one file and readable without its script.
struct ReportPage: Sendable {
  var title: String
  /// The journals with lanes.
  var journals: [ReportJournal]
  /// The journals without lanes; they count in the figures.
  var others = ReportRest()
  /// The figures of all journals.
  var figures: StatsFigures
  /// The problems of files, one sentence each.
  var problems: [String] = []
  /// Whether real names and identifiers are shown.
  var isRevealed: Bool
  let zone: TimeZoneChoice
  let version: String

  /// The maximum number of problems that are listed.
  static let toldProblems = 50
  /// The maximum length of text that a server may have made long, in characters.
  static let longestText = 600

  var scale: TimeScale {
    let first = journals.compactMap(\.first).min() ?? Timestamp(milliseconds: 0)
    return TimeScale(first: first, last: journals.compactMap(\.last).max() ?? first)
  }

  /// The number of journals that count, with lanes or without.
  var allJournals: UInt64 { UInt64(journals.count) + others.journals }

  /// Writes the page, part by part.
  func write(_ write: (String) -> Void) {
    let scale = scale
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
      </header>
      <main>

      """)
    for problem in problems.prefix(Self.toldProblems) {
      write("<p class=\"problem\">\(text(problem))</p>\n")
    }
    if problems.count > Self.toldProblems {
      write("<p class=\"problem\">\(count(problems.count - Self.toldProblems, "file")) more.</p>\n")
    }
    writeLanes(scale, write)
    writeWhys(write)
    writeTable(scale, write)
    write(
      "</main>\n\(footer)\n\(Self.help)\n<script>\(PageScript.text)</script>\n</body>\n</html>\n")
  }

  /// The number of records in all journals, with lanes or without.
  private var allRecords: UInt64 { journals.reduce(others.records) { $0 + $1.records } }

  // MARK: Head and foot

  private var summary: String {
    var parts = [count(allJournals, "journal")]
    parts.append(count(allRecords, "record"))
    let first = (journals.map(\.first) + [others.first]).compactMap { $0 }.min()
    let last = (journals.map(\.last) + [others.last]).compactMap { $0 }.max()
    if let first, let last {
      parts.append("\(time(first)) to \(time(last))")
    }
    parts.append(isRevealed ? "names are real" : "names are pseudonyms")
    return parts.joined(separator: " · ")
  }

  private var tiles: String {
    let refreshes = figures.succeeded + figures.failed
    let ends = StatsFormatter.ranked(figures.ends).prefix(3)
      .map { "<span>\($0.1.grouped) × \(text($0.0.description))</span>" }.joined()
    let latency = figures.latency.histogram
    let sessions = figures.sessions + figures.continued
    var tiles = [
      tile(
        figures.ended.grouped, figures.ended == 1 ? "session ended" : "sessions ended", ends,
        isBad: figures.ends.keys.contains { if case .expired = $0 { true } else { false } }),
      tile(
        sessions.grouped, sessions == 1 ? "session" : "sessions",
        "<span>\(figures.open.grouped) still open</span>"
          + span("lasted", figures.length.histogram.percentile(50), "(p50)")),
    ]
    if refreshes > 0 {
      tiles.append(
        tile(
          Share.text(figures.succeeded, of: refreshes), "of refreshes succeeded",
          "<span>\(figures.succeeded.grouped) of \(refreshes.grouped)</span>"
            + StatsFormatter.ranked(figures.failures).prefix(2)
            .map { "<span>\($0.1.grouped) × \(text($0.0.description))</span>" }.joined()))
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
    let records = allRecords
    if rows < records {
      left.append(
        "The table has \(rows.grouped) of \(count(records, "record")): ends, failures and sign-ins "
          + "first, the others evenly thinned. <code>sessionreplay timeline</code> has them all.")
    }
    let whys = journals.reduce(others.whys) { $0 + $1.droppedWhys }
    if whys > 0 {
      left.append(
        "\(count(whys, "older end")) explained nowhere here; <code>sessionreplay why --all</code> does."
      )
    }
    if others.journals > 0 {
      let isOne = others.journals == 1
      left.append(
        "\(count(others.journals, "journal")) \(isOne ? "counts" : "count") in the figures and "
          + "\(isOne ? "has" : "have") no lane, rows or explanation: those with the newest ends do."
      )
    }
    left.append(
      isRevealed
        ? "Names and identifiers are those of the journals (<code>--reveal</code>): mind who reads this."
        : "Names and identifiers are pseudonyms: the same within a journal, and nothing to be got from "
          + "them. Names of files are as they were.")
    left.append(
      "Made by sessionreplay \(text(version)). The page loads nothing, and sends nothing."
        + "<span data-script hidden> Press <kbd>?</kbd> for its keys.</span>")
    return "<footer>" + left.map { "<p>\($0)</p>" }.joined(separator: "\n") + "</footer>"
  }

  // MARK: Text

  func text(_ text: String) -> String { HTML.text(text, limit: Self.longestText) }

  /// Returns the element of a time, which the script may show in another zone.
  func time(_ time: Timestamp) -> String {
    "<time data-t=\"\(time.milliseconds)\" datetime=\"\(time.description)\">\(zone.text(time))</time>"
  }

  /// The shapes of marks, drawn around the origin.
  private static let shapes = """
    <svg width="0" height="0" class="away" aria-hidden="true" focusable="false"><defs>
    <path id="m-refresh" d="M0-4.5L4.2 3.5H-4.2Z"/>
    <path id="m-change" d="M0-5.5L5.5 0L0 5.5L-5.5 0Z"/>
    <path id="m-login" d="M-5 0A5 5 0 1 0 5 0A5 5 0 1 0-5 0Z"/>
    <path id="m-remark" d="M-4-4H4V4H-4Z"/>
    <path id="m-failure" d="M-4.5-4.5L4.5 4.5M-4.5 4.5L4.5-4.5"/>
    <path id="m-end" d="M-6-6H6V6H-6Z"/>
    </defs></svg>
    """

  private static let help = """
    <dialog id="help" aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <dl>
    <dt><kbd>/</kbd></dt><dd>to the filter; <kbd>Esc</kbd> empties it</dd>
    <dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous record</dd>
    <dt><kbd>e</kbd> <kbd>E</kbd></dt><dd>next and previous end of a session</dd>
    <dt><kbd>Enter</kbd></dt><dd>show the record in its lane</dd>
    <dt><kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd></dt><dd>zoom in, out, whole</dd>
    <dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>along the lanes</dd>
    <dt><kbd>?</kbd></dt><dd>this help; <kbd>Esc</kbd> closes it</dd>
    </dl>
    <form method="dialog"><button>Close</button></form>
    </dialog>
    """
}

/// The only way by which text enters a page.
enum HTML {
  /// Returns text that a browser shows unchanged, between tags and in quoted attributes.
  ///
  /// Characters with a meaning in HTML are escaped. So are characters that move cursors, break
  /// lines or change the direction of text.
  static func text(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      case _ where scalar.isUnprintable:
        escaped += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Returns the escaped text, cut to at most `limit` characters.
  static func text(_ text: String, limit: Int) -> String {
    text.utf8.count <= limit ? Self.text(text) : Self.text(text.prefix(limit) + "…")
  }
}
