@_spi(Internals) internal import SessionCore
internal import SessionExplain

// Draws the journals as lanes over time.
extension ReportPage {
  /// The smallest part of the whole width for which a state shows its name.
  private static let namedFrom: Int64 = TimeScale.parts / 11
  /// The number of states that the description of a lane lists one by one.
  private static let toldStates = 6

  func writeLanes(_ write: (String) -> Void) {
    let scale = scale
    write(
      """
      <section class="card" id="lanes" aria-labelledby="lanes-title">
      <h2 id="lanes-title">Over time</h2>
      <ul class="key">\(Self.key)</ul>
      <div class="chart" tabindex="0" role="region" aria-label="Lanes, to be scrolled sideways">
      <div class="inner">
      \(hasOwnAxes ? "" : axis(scale, "axis", y: 16))

      """)
    for (index, journal) in journals.enumerated() { write(lane(journal, index, scale)) }
    write("</div></div></section>\n")
  }

  /// Whether each lane has a time axis of its own.
  private var hasOwnAxes: Bool { journals.count > 1 }

  private func axis(_ scale: TimeScale, _ name: String, y: Int) -> String {
    var shapes = ""
    for tick in scale.ticks(upTo: 5) {
      let place = scale.place(of: tick)
      let x = TimeScale.percent(place)
      // A label at an edge is not cut off.
      let anchor =
        place < TimeScale.parts / 20
        ? "start" : place > TimeScale.parts / 20 * 19 ? "end" : "middle"
      shapes +=
        "<line x1=\"\(x)\" x2=\"\(x)\" y1=\"\(y == 16 ? 22 : 0)\" y2=\"\(y == 16 ? 30 : 4)\"/>"
        + "<text x=\"\(x)\" y=\"\(y)\" text-anchor=\"\(anchor)\">\(scale.label(tick.advanced(by: zone.offset(at: tick))))</text>"
    }
    return "<svg class=\"\(name)\" aria-hidden=\"true\">\(shapes)</svg>"
  }

  private func lane(_ journal: ReportJournal, _ index: Int, _ whole: TimeScale) -> String {
    let id = "j\(index)"
    var facts = [count(journal.records, "record"), Self.word(journal.state.state.kind)]
    if let app = journal.app { facts.insert(HTML.text(app, limit: 24), at: 0) }
    if let user = journal.user {
      facts.insert(HTML.text(isRevealed ? "user \(user)" : user, limit: 80), at: 0)
    }
    if let first = journal.first, let last = journal.last {
      let span = DurationFormatter.text(milliseconds: last.milliseconds(since: first))
      facts.append("\(span) from \(time(first))")
    }
    let scale = hasOwnAxes ? TimeScale(journal) : whole
    var html = """
      <section class="lane" id="\(id)" aria-label="\(text(journal.name))">
      <header><h3 id="\(id)-h" title="\(text(journal.name))">\(text(journal.name))</h3>
      <span class="dim">\(facts.joined(separator: " · "))</span></header>
      <svg class="shapes" role="img" aria-labelledby="\(id)-h \(id)-d"><desc id="\(id)-d">\
      \(text(description(of: journal)))</desc>

      """
    for segment in journal.lanes.segments { html += shape(segment, scale) }
    for (row, token) in journal.lanes.tokens.enumerated() { html += shape(token, row, scale) }
    // The most serious marks are drawn last, so that nothing hides them.
    for mark in journal.lanes.marks.sorted(by: { $0.kind < $1.kind }) {
      html += shape(mark, id, journal.shown.contains(mark.sequence), scale)
    }
    return html + "</svg>\(hasOwnAxes ? axis(scale, "own", y: 14) : "")</section>\n"
  }

  private func description(of journal: ReportJournal) -> String {
    let segments = journal.lanes.segments
    guard segments.count <= Self.toldStates else {
      return
        "\(count(segments.count, "state")) one after the other; the table below has the records."
    }
    return segments.map { segment in
      "\(Self.word(segment.state)) from \(zone.text(segment.from)) to \(zone.text(segment.to))"
    }.joined(separator: "; ")
  }

  private func place(_ from: Timestamp, _ to: Timestamp, _ scale: TimeScale) -> (
    x: String, width: String, parts: Int64
  ) {
    let (start, end) = (scale.place(of: from), scale.place(of: to))
    return (TimeScale.percent(start), TimeScale.percent(max(0, end - start)), end - start)
  }

  private func shape(_ segment: Lanes.Segment, _ scale: TimeScale) -> String {
    let (x, width, parts) = place(segment.from, segment.to, scale)
    let (y, height) =
      switch segment.state {
      case .authenticated: (20, 20)
      case .expired: (26, 10)
      case .unauthenticated: (30, 1)
      }
    let more =
      segment.count > 1 ? ", \(segment.count.grouped) states too short to be told apart" : ""
    var html =
      "<rect class=\"\(segment.state)\" x=\"\(x)\" width=\"\(width)\" y=\"\(y)\" height=\"\(height)\""
      + "\(segment.state == .unauthenticated ? "" : " rx=\"2\"")><title>\(Self.word(segment.state))"
      + " from \(zone.text(segment.from)) to \(zone.text(segment.to))\(more)</title></rect>"
    if parts >= Self.namedFrom, segment.state == .authenticated {
      html += "<text class=\"in\" x=\"\(x)\" dx=\"8\" y=\"34\">\(Self.word(segment.state))</text>"
    }
    return html + "\n"
  }

  private func shape(_ token: Lanes.Token, _ row: Int, _ scale: TimeScale) -> String {
    let (x, width, _) = place(token.from, token.to, scale)
    let end =
      switch token.end {
      case .current: "still the current one"
      case .replaced: "replaced"
      case .ended: "when the session ended"
      case .expired: "its life was over"
      }
    let name =
      token.count > 1
      ? "\(count(token.count, "token")) up to \(token.generation)" : "\(token.generation)"
    return
      "<rect class=\"token\(token.end == .expired ? " over" : "")\" x=\"\(x)\" width=\"\(width)\" "
      + "y=\"\(row % 2 == 0 ? 48 : 60)\" height=\"8\" rx=\"2\"><title>\(name) from "
      + "\(zone.text(token.from)) to \(zone.text(token.to)): \(end)</title></rect>\n"
  }

  private func shape(_ mark: Lanes.Mark, _ id: String, _ hasRow: Bool, _ scale: TimeScale) -> String
  {
    let x = TimeScale.percent(scale.place(of: mark.time))
    let what =
      mark.count > 1
      ? "\(Self.word(mark.kind)) and \((mark.count - 1).grouped) more near it"
      : Self.word(mark.kind)
    let title = "<title>\(what), @\(mark.sequence), \(zone.text(mark.time))</title>"
    let name = "m-\(mark.kind)"
    let use = "<use href=\"#\(name)\" class=\"\(name)\" x=\"\(x)\" y=\"9\""
    return hasRow
      ? "<a href=\"#\(id)-\(mark.sequence)\" tabindex=\"-1\">\(title)\(use)/></a>\n"
      : "\(use)>\(title)</use>\n"
  }

  private static let key: String = {
    let marks = Lanes.Mark.Kind.allCases.reversed().map { kind in
      "<li><svg aria-hidden=\"true\"><use href=\"#m-\(kind)\" class=\"m-\(kind)\" x=\"9\" "
        + "y=\"9\"/></svg>\(word(kind))</li>"
    }
    let states: [(SessionState.Kind, Int, Int)] = [
      (.authenticated, 2, 14), (.expired, 5, 8), (.unauthenticated, 9, 1),
    ]
    return
      (marks
      + states.map { state, y, height in
        "<li><svg aria-hidden=\"true\"><rect class=\"\(state)\" x=\"0\" width=\"18\" y=\"\(y)\" "
          + "height=\"\(height)\"/></svg>\(word(state))</li>"
      } + [
        "<li><svg aria-hidden=\"true\"><rect class=\"token\" x=\"0\" width=\"18\" y=\"5\" height=\"8\"/>"
          + "</svg>token</li>"
      ]).joined()
  }()

  static func word(_ state: SessionState.Kind) -> String {
    switch state {
    case .authenticated: "signed in"
    case .expired: "expired"
    case .unauthenticated: "signed out"
    }
  }

  private static func word(_ kind: Lanes.Mark.Kind) -> String {
    switch kind {
    case .refresh: "refresh"
    case .change: "context switch"
    case .login: "sign-in"
    case .leave: "sign-out by the user"
    case .remark: "remark"
    case .failure: "failure"
    case .end: "end"
    }
  }
}

// Writes the records as a table.
extension ReportPage {
  func writeTable(_ write: (String) -> Void) {
    let isMany = journals.count > 1
    write(
      """
      <section class="card" id="records" aria-label="Records">
      <h2 id="rows-title">Records</h2>
      <div class="bar" data-script hidden>
      <div class="grow"><label class="away" for="search">Filter records by words</label>
      <input type="search" id="search" placeholder="Filter: words, tok#3, @17, 401" autocomplete="off" \
      spellcheck="false"></div>
      \(boxes)
      \(isMany ? choice : "")
      <span class="dim" id="told" aria-live="polite"></span>
      </div>
      <table class="rows"><caption class="away">Records of the journals</caption><thead><tr>
      \(heading("seq", "Seq"))\(heading("time", "Time"))\(heading("name", "Record"))\
      <th scope="col">Facts</th><th scope="col" class="state">State then</th>\
      \(isMany ? heading("file", "Journal") : "")
      </tr></thead><tbody>

      """)
    for (index, journal) in journals.enumerated() {
      for row in journal.rows { write(line(row, index, isMany)) }
    }
    write("</tbody></table></section>\n")
  }

  private func line(_ row: ReportJournal.Row, _ index: Int, _ isMany: Bool) -> String {
    "<tr id=\"j\(index)-\(row.sequence)\" class=\"g-\(row.group)\(row.isByUser ? " by-user" : "")\" data-g=\"\(row.group)\" "
      + "data-j=\"j\(index)\"><td class=\"seq\">@\(row.sequence)</td>"
      + "<td class=\"time\">\(time(row.time))</td><td class=\"name\">\(text(row.name))</td>"
      + "<td class=\"words\">\(text(row.words))</td><td class=\"state\"><span class=\"dot s-\(row.state)\">"
      + "</span>\(Self.word(row.state))</td>"
      + (isMany ? "<td class=\"file\">\(text(journals[index].name))</td>" : "") + "</tr>\n"
  }

  private func heading(_ key: String, _ word: String) -> String {
    "<th scope=\"col\" class=\"\(key)\">\(word)</th>"
  }

  private var boxes: String {
    ReportJournal.Group.allCases.map { group in
      "<label class=\"box\"><input type=\"checkbox\" checked data-group=\"\(group)\">\(group)</label>"
    }.joined()
  }

  private var choice: String {
    let options = journals.enumerated().map { index, journal in
      "<option value=\"j\(index)\">\(HTML.text(journal.name, limit: 80))</option>"
    }
    return "<label class=\"away\" for=\"journal\">Journal</label><select id=\"journal\">"
      + "<option value=\"\">All journals</option>\(options.joined())</select>"
  }
}
