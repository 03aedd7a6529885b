@_spi(Internals) internal import SessionCore

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
