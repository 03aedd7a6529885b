@_spi(Internals) internal import SessionCore

// Writes the records as a table, and the explanations.
extension ReportPage {
  /// The number of explanations that are open when the page is loaded.
  private static let openWhys = 2

  func writeWhys(_ write: (String) -> Void) {
    let whys = newestWhys
    guard !whys.isEmpty else { return }
    write(
      "<section class=\"card\" aria-labelledby=\"whys-title\"><h2 id=\"whys-title\">Why</h2>\n")
    var ends = 0
    for (index, why) in whys {
      if why.isEnd { ends += 1 }
      write(card(why, index, isOpen: why.isEnd && ends <= Self.openWhys))
    }
    write("</section>\n")
  }

  /// The ends, the newest first, and then the sessions that have not ended.
  private var newestWhys: [(index: Int, why: ReportWhy)] {
    let whys = journals.enumerated().flatMap { index, journal in
      journal.whys.reversed().map { (index: index, why: $0) }
    }
    return whys.enumerated().sorted { left, right in
      let (one, other) = (left.element.why, right.element.why)
      guard one.isEnd == other.isEnd else { return one.isEnd }
      guard let time = one.time, let later = other.time, time != later else {
        return left.offset < right.offset
      }
      return time > later
    }.map(\.element)
  }

  private func card(_ why: ReportWhy, _ index: Int, isOpen: Bool) -> String {
    let rows = journals[index].shown
    let name = journals.count > 1 ? "<small>\(text(journals[index].name))</small>" : ""
    var html =
      "<details class=\"why\(why.isEnd ? "" : " still")\"\(isOpen ? " open" : "")><summary>"
      + "\(text(why.headline))\(name)</summary><div class=\"body\">"
    if !why.links.isEmpty {
      html +=
        "<table class=\"links\"><caption class=\"away\">The records that led to it, newest first"
      html += "</caption><tbody>\n"
      for link in why.links {
        let place = "@\(link.sequence)"
        let cell =
          rows.contains(link.sequence)
          ? "<a href=\"#j\(index)-\(link.sequence)\">\(place)</a>" : place
        html +=
          "<tr\(link.isNote ? " class=\"note\"" : "")><td>\(cell)</td><td>\(text(link.name))</td>"
          + "<td>\(text(link.words))</td></tr>\n"
      }
      html += "</tbody></table>"
    }
    html += "<dl class=\"found\">"
    for section in why.sections {
      html += "<dt>\(text(section.label))</dt>"
      for (place, sentence) in section.sentences.enumerated() {
        html += "\(place > 0 ? "<dt></dt>" : "")<dd>\(text(sentence))</dd>"
      }
    }
    return html + "</dl></div></details>\n"
  }

  func writeTable(_ scale: TimeScale, _ write: (String) -> Void) {
    let isMany = journals.count > 1
    write(
      """
      <section class="card" aria-labelledby="rows-title">
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
      for row in journal.rows { write(line(row, index, isMany, scale)) }
    }
    write("</tbody></table></section>\n")
  }

  private func line(_ row: ReportJournal.Row, _ index: Int, _ isMany: Bool, _ scale: TimeScale)
    -> String
  {
    "<tr id=\"j\(index)-\(row.sequence)\" class=\"g-\(row.group)\" data-g=\"\(row.group)\" "
      + "data-j=\"j\(index)\" data-s=\"\(row.sequence)\" data-t=\"\(row.time.milliseconds)\" "
      + "data-x=\"\(scale.place(of: row.time))\" tabindex=\"-1\"><td class=\"seq\">@\(row.sequence)</td>"
      + "<td class=\"time\">\(time(row.time))</td><td class=\"name\">\(text(row.name))</td>"
      + "<td class=\"words\">\(text(row.words))</td><td class=\"state\"><span class=\"dot s-\(row.state)\">"
      + "</span>\(Self.word(row.state))</td>"
      + (isMany ? "<td class=\"file\">\(text(journals[index].name))</td>" : "") + "</tr>\n"
  }

  private func heading(_ key: String, _ word: String) -> String {
    "<th scope=\"col\" class=\"\(key)\"><button type=\"button\" data-key=\"\(key)\">\(word)</button></th>"
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
