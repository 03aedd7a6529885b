@_spi(Internals) internal import SessionCore
internal import SessionExplain

// Writes the explanations: of one journal by time, of many by cause.
extension ReportPage {
  /// The number of explanations that are open when the page of one journal is loaded.
  private static let openWhys = 2

  /// An explanation and the journal that it is about.
  typealias PlacedWhy = (journal: Int, why: Explanation)

  /// The explanations of the drawn journals: the ends, the newest first, and then the sessions that
  /// have not ended.
  var whys: [PlacedWhy] {
    let whys = journals.enumerated().flatMap { index, journal in
      journal.whys.reversed().map { (journal: index, why: $0) }
    }
    return whys.enumerated().sorted { left, right in
      let (one, other) = (left.element.why, right.element.why)
      let isEnd = (one.cause.class == .end, other.cause.class == .end)
      guard isEnd.0 == isEnd.1 else { return isEnd.0 }
      guard let time = one.time, let later = other.time, time != later else {
        return left.offset < right.offset
      }
      return time > later
    }.map(\.element)
  }

  func writeWhys(_ write: (String) -> Void) {
    let whys = whys
    guard !whys.isEmpty else { return }
    write(
      "<section class=\"card\" id=\"whys\" aria-labelledby=\"whys-title\">\n"
        + "<h2 id=\"whys-title\">Why</h2>\n")
    guard isMany else {
      for (place, why) in whys.enumerated() {
        write(card(why, isOpen: why.why.cause.class == .end && place < Self.openWhys))
      }
      return write("</section>\n")
    }
    let groups = Dictionary(grouping: whys) { $0.why.cause }
    for (cause, count) in ends.ranked {
      if let group = groups[cause] { writeGroup(group, cause, of: count.ends, write) }
    }
    let rest = groups.filter { ends.causes[$0.key] == nil }.sorted { left, right in
      left.value.count == right.value.count
        ? left.key.id < right.key.id : left.value.count > right.value.count
    }
    for (cause, group) in rest { writeGroup(group, cause, of: nil, write) }
    write("</section>\n")
  }

  private func writeGroup(
    _ group: [PlacedWhy], _ cause: Cause, of ends: UInt64?, _ write: (String) -> Void
  ) {
    let number = UInt64(group.count)
    let words =
      ends.map { $0 > number ? "the newest \(number.grouped) of \($0.grouped)" : "\($0.grouped)" }
      ?? "\(number.grouped)"
    write(
      "<section class=\"cause\" id=\"cause-\(cause.id)\"><h3>\(text(Self.name(of: cause))) "
        + "<small>\(words)</small></h3>\n")
    for why in group { write(card(why, isOpen: false)) }
    write("</section>\n")
  }

  private func card(_ placed: PlacedWhy, isOpen: Bool) -> String {
    let (index, explanation) = placed
    let why = ReportWhy(explanation, zone: zone)
    let isEnd = explanation.cause.class == .end
    let kind = !isEnd ? "still" : EndClass(explanation.cause).isUnexpected ? "bad" : "plain"
    var html =
      "<details class=\"why \(kind)\"\(isOpen ? " open" : "")><summary>"
      + "\(isMany ? place(of: placed) : text(why.opening))</summary><div class=\"body\">"
      + (isMany ? "<p class=\"plain\">\(text(why.opening)) \(text(why.advice))</p>" : "")
      + (isMany || why.advice.isEmpty ? "" : "<p class=\"plain\">\(text(why.advice))</p>")
      + "<p>\(text(why.headline))</p>"
    if !why.links.isEmpty {
      html +=
        "<table class=\"links\"><caption class=\"away\">The records that led to it, newest first"
        + "</caption><tbody>\n"
      for link in why.links { html += row(link, index) }
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

  /// Returns when and in which journal it was, for whom, and how sure the cause is.
  private func place(of placed: PlacedWhy) -> String {
    let journal = journals[placed.journal]
    let facts = [journal.name, journal.user, journal.app, "\(placed.why.certainty)"].compactMap(
      \.self)
    return
      "\(placed.why.time.map(time) ?? "")<small>\(text(facts.joined(separator: " · ")))</small>"
  }

  private func row(_ link: ReportWhy.Link, _ index: Int) -> String {
    let place = "@\(link.sequence)"
    let cell =
      journals[index].shown.contains(link.sequence)
      ? "<a href=\"#j\(index)-\(link.sequence)\">\(place)</a>" : place
    return "<tr\(link.isNote ? " class=\"note\"" : "")><td>\(cell)</td>"
      + "<td>\(link.time.map(time) ?? "")</td><td class=\"num\">\(text(link.distance))</td>"
      + "<td>\(text(link.name))</td><td>\(text(link.words))</td></tr>\n"
  }
}
