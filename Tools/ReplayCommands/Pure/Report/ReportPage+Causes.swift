@_spi(Internals) internal import SessionCore
internal import SessionExplain

// Writes what counts for many journals: causes, days and app versions.
extension ReportPage {
  /// The maximum number of app versions with a column in the table of causes.
  static let comparedVersions = 4
  /// The maximum number of app versions with a row.
  static let shownVersions = 20

  // MARK: Causes

  func writeCauses(_ write: (String) -> Void) {
    guard isMany, ends.ends > 0 else { return }
    let versions = compared
    let group = "<th scope=\"colgroup\" class=\"num\" colspan=\"\(versions.count)\">"
    let columns = versions.map {
      "<th scope=\"col\" class=\"num\">\(HTML.text($0.name, limit: 24))</th>"
    }
    let heads = "<th scope=\"col\" rowspan=\"2\""
    write(
      """
      <section class="card" id="causes" aria-labelledby="causes-title">
      <h2 id="causes-title">Causes</h2>
      <table class="causes"><caption>\(endWords). A bar shows how sure the cause is: \
      \(Self.certaintyKey)</caption>
      <thead><tr>\(heads)>Cause</th>\(heads) class="num">Ends</th>\(heads)>Share of all ends</th>\
      \(versions.isEmpty ? "" : "\(group)Share of the ends of</th>")</tr><tr>\(columns.joined())</tr>\
      </thead><tbody>

      """)
    let drawn = Set(whys.map(\.why.cause))
    for (cause, count) in ends.ranked {
      write(row(cause, count, versions, isDrawn: drawn.contains(cause)))
    }
    if ends.unexplained > 0 {
      write(
        "<tr class=\"unexpected\"><th scope=\"row\">Without an explanation</th>"
          + "<td class=\"num\">\(ends.unexplained.grouped)</td><td>"
          + "\(Share.text(ends.unexplained, of: ends.ends))</td>"
          + "\(versions.map { _ in "<td></td>" }.joined())</tr>\n")
    }
    write("</tbody></table></section>\n")
  }

  private static let certaintyKey = [
    Certainty.proven, .likely, .possible,
  ].map {
    "<span class=\"box\"><svg aria-hidden=\"true\"><rect class=\"c-\($0)\" x=\"1\" y=\"1\" "
      + "width=\"14\" height=\"10\"/></svg>\($0)</span>"
  }.joined(separator: " ")

  private typealias Version = (name: String, key: String?, ends: UInt64)

  /// The app versions with the most ends, in their own order.
  private var compared: [Version] {
    guard hasVersions else { return [] }
    let all = figures.figures.sorted { left, right in
      let (ends, others) = (left.value.ended, right.value.ended)
      return ends == others ? left.key.comesBefore(right.key) : ends > others
    }
    return all.prefix(Self.comparedVersions).sorted { $0.key.comesBefore($1.key) }.map {
      let name = StatsFormatter.name($0.key)
      return (name, name == StatsFold.noVersion ? nil : name, $0.value.ended)
    }
  }

  private func row(
    _ cause: Cause, _ number: EndTally.Count, _ versions: [Version], isDrawn: Bool
  ) -> String {
    let name = text(Self.name(of: cause))
    let kind = EndClass(cause)
    return
      "<tr class=\"\(kind.isUnexpected ? "unexpected" : "expected")\"><th scope=\"row\">"
      + (isDrawn ? "<a href=\"#cause-\(cause.id)\">\(name)</a>" : name)
      + "<small>\(kind.words) · <code>\(cause.id)</code></small></th>"
      + "<td class=\"num\">\(number.ends.grouped)</td><td>\(meter(number))</td>"
      + versions.map { share(number, $0, isUnexpected: kind.isUnexpected) }.joined() + "</tr>\n"
  }

  /// Returns the name of a cause without the values of one end.
  static func name(of cause: Cause) -> String {
    let words = cause.headline.split(separator: ": ", maxSplits: 1)
    let isPlain = words.count == 2 && words[0].hasPrefix("Expired")
    var name = isPlain ? String(words[1]) : cause.headline
    for end in [", and {}", " by {}", " ({})"] where name.hasSuffix(end) {
      name.removeLast(end.count)
    }
    name = name.replacing("{}", with: generalWords[cause] ?? "…")
    return name.prefix(1).uppercased() + name.dropFirst()
  }

  /// The words in place of the value of one end.
  private static let generalWords: [Cause: String] = [
    .serverFailing: "several attempts", .attemptsExhausted: "several attempts",
    .secretUnreadable: "secret",
  ]

  /// Returns the bar and the words of a cause's share and certainty.
  private func meter(_ number: EndTally.Count) -> String {
    var x: UInt64 = 0
    var (bars, words) = ("", [String]())
    for certainty in [Certainty.proven, .likely, .possible] {
      guard let ends = number.certainties[certainty], ends > 0 else { continue }
      let (from, to) = (Self.part(x, of: self.ends.ends), Self.part(x + ends, of: self.ends.ends))
      bars +=
        "<rect class=\"c-\(certainty)\" x=\"\(TimeScale.percent(from))\" "
        + "width=\"\(TimeScale.percent(to - from))\" y=\"1\" height=\"10\"/>"
      words.append(
        number.certainties.count == 1 ? "all \(certainty)" : "\(ends.grouped) \(certainty)")
      x += ends
    }
    return "<svg class=\"meter\" aria-hidden=\"true\">\(bars)</svg>"
      + "<span><b>\(Share.text(number.ends, of: ends.ends))</b> \(words.joined(separator: ", "))</span>"
  }

  private static func part(_ part: UInt64, of whole: UInt64) -> Int64 {
    let (high, low) = part.multipliedFullWidth(by: UInt64(TimeScale.parts))
    guard high < whole else { return 0 }
    return Int64(clamping: whole.dividingFullWidth((high, low)).quotient)
  }

  /// Returns the cell of a version, marked if its share of an unexpected cause stands out.
  private func share(_ number: EndTally.Count, _ version: Version, isUnexpected: Bool) -> String {
    let own = number.versions[version.key] ?? 0
    let comparison = ShareComparison(
      part: own, of: version.ends, total: number.ends, ofTotal: ends.ends)
    let text = Share.text(own, of: version.ends)
    return "<td class=\"num\" data-v=\"\(HTML.text(version.name, limit: 24))\">"
      + "\(own == 0 ? "–" : isUnexpected && comparison.standsOut ? "<b>\(text)</b>" : text)</td>"
  }

  // MARK: Days

  /// The days of the curve; `nil` if there is none, or one bar only.
  var dayScale: DayScale? {
    let scale = DayScale(ends.days.mapValues { $0.values.reduce(0, +) })
    return scale.flatMap { isMany && $0.bars > 1 ? $0 : nil }
  }

  func writeDays(_ write: (String) -> Void) {
    guard let scale = dayScale else { return }
    write(
      """
      <section class="card" id="days" aria-labelledby="days-title">
      <h2 id="days-title">By day</h2>
      <p class="dim">Ends \(scale.width == 1 ? "on each day" : "in each \(scale.width) days"). Each row \
      has a height of its own.</p>
      <table class="days"><caption class="away">Ends by day</caption><thead class="away"><tr><th scope="col">Ends</th><th scope="col">Number</th>\
      <th scope="col">Days</th></tr></thead><tbody>

      """)
    var left: UInt64 = 0
    for kind in EndClass.allCases where ends.classes[kind] ?? 0 > 0 {
      var bars = [UInt64](repeating: 0, count: scale.bars)
      for (day, counts) in ends.days {
        guard let number = counts[kind] else { continue }
        if let bar = scale.bar(of: day) { bars[bar] += number } else { left += number }
      }
      write(row(kind, bars, scale))
    }
    left += ends.ends - ends.days.values.reduce(0) { $0 + $1.values.reduce(0, +) }
    write("<tr><td></td><td></td><td>\(Self.axis(scale))</td></tr></tbody></table>\n")
    if left > 0 {
      write(
        "<p class=\"dim\">\(count(left, "end")) \(left == 1 ? "is" : "are") far from these days, as a "
          + "wrong clock makes them, and not drawn.</p>\n")
    }
    write("</section>\n")
  }

  private func row(_ kind: EndClass, _ bars: [UInt64], _ scale: DayScale) -> String {
    let most = max(1, bars.max() ?? 1)
    let number = ends.classes[kind] ?? 0
    let peak = "\(most.grouped) at most, \(scale.words(bars.firstIndex(of: most) ?? 0))"
    var shapes = ""
    for (bar, number) in bars.enumerated() where number > 0 {
      let height = max(2, Self.part(number, of: most) * 36 / TimeScale.parts)
      let (x, next) = (
        Int64(bar) * TimeScale.parts / Int64(bars.count),
        Int64(bar + 1) * TimeScale.parts / Int64(bars.count)
      )
      shapes +=
        "<rect x=\"\(TimeScale.percent(x))\" width=\"\(TimeScale.percent((next - x) * 4 / 5))\" "
        + "y=\"\(38 - height)\" height=\"\(height)\"><title>\(scale.words(bar)): "
        + "\(count(number, "end"))</title></rect>"
    }
    return "<tr class=\"\(kind.isUnexpected ? "unexpected" : "expected")\"><th scope=\"row\">"
      + "\(kind.words)<small>\(peak)</small></th><td class=\"num\">\(number.grouped)</td>"
      + "<td><svg class=\"bars\" role=\"img\" aria-label=\"\(kind.words): \(peak)\">"
      + "\(shapes)</svg></td></tr>\n"
  }

  private static func axis(_ scale: DayScale) -> String {
    let distance = max(1, (scale.bars + 5) / 6)
    let ticks = stride(from: 0, to: scale.bars, by: distance).enumerated().map { index, bar in
      let place = Int64(bar) * TimeScale.parts / Int64(scale.bars)
      let isLast = place > TimeScale.parts * 9 / 10
      return "<text\(index % 2 == 1 ? " class=\"odd\"" : "") x=\""
        + "\(isLast ? "100%\" text-anchor=\"end" : TimeScale.percent(place))\" "
        + "y=\"12\">\(scale.label(bar))</text>"
    }
    return "<svg class=\"ticks\" aria-hidden=\"true\">\(ticks.joined())</svg>"
  }

  // MARK: App versions

  /// Whether the journals are of several app versions.
  var hasVersions: Bool { isMany && figures.figures.count > 1 }

  func writeVersions(_ write: (String) -> Void) {
    guard hasVersions else { return }
    let ranked = StatsFormatter.ranked(figures)
    write(
      """
      <section class="card" id="versions" aria-labelledby="versions-title">
      <h2 id="versions-title">App versions</h2>
      <div class="scroll" tabindex="0" role="region" aria-labelledby="versions-title">
      <table class="versions"><caption class="away">Figures of app versions</caption><thead><tr><th scope="col">Version</th><th scope="col">Sessions</th>\
      <th scope="col">Ends</th><th scope="col">Unexpected</th><th scope="col">Refreshes</th>\
      <th scope="col">Failed</th><th scope="col">No reply</th><th scope="col">p50</th>\
      <th scope="col">p95</th></tr></thead><tbody>

      """)
    for (version, figures) in ranked.prefix(Self.shownVersions) {
      let key = version == StatsFold.noVersion ? nil : version
      write(row(HTML.text(key ?? "unknown", limit: 40), figures, ends.unexpected[key] ?? 0))
    }
    var others = figures.others
    for (_, figures) in ranked.dropFirst(Self.shownVersions) { others.merge(figures) }
    if !others.isEmpty { write(row("others", others, nil)) }
    write("</tbody></table></div></section>\n")
  }

  private func row(_ name: String, _ figures: StatsFigures, _ unexpected: UInt64?) -> String {
    let refreshes = figures.succeeded + figures.failed
    let cells =
      [
        (figures.sessions + figures.continued).grouped, figures.ended.grouped,
        unexpected.map { Share.text($0, of: figures.ended) } ?? "–", refreshes.grouped,
        Share.text(figures.failed, of: refreshes),
        Share.text(figures.failures[.noReply] ?? 0, of: refreshes),
      ]
      + [50, 95].map { percent in
        figures.latency.histogram.percentile(percent).map(DurationFormatter.text(milliseconds:))
          ?? "–"
      }
    return "<tr><th scope=\"row\">\(name)</th>"
      + cells.map { "<td class=\"num\">\($0)</td>" }.joined() + "</tr>\n"
  }
}
