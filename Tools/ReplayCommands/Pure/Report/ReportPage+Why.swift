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

/// The explanation of an end or of a present session, as text for a page.
struct ReportWhy: Sendable {
  /// A record that led to the end.
  struct Link: Sendable {
    let sequence: UInt64
    /// The time of the record; `nil` if only a snapshot has the record.
    let time: Timestamp?
    /// The distance to the end, such as `-6 min 10 s`; empty if it is not known.
    let distance: String
    let name: String
    let words: String
    let isNote: Bool
  }

  /// The maximum number of records of the chain on a page.
  static let shownLinks = 12

  /// What happened, in plain words.
  let opening: String
  /// What the records rule out, and what to do.
  let advice: String
  /// What the journal says, with time and sequence.
  let headline: String
  let links: [Link]
  let sections: [WhyText.Section]

  init(_ explanation: Explanation, zone: TimeZoneChoice) {
    let words = WhyText(zone: zone.display)
    let lines = explanation.summaryLines(in: .english)
    opening = lines.first ?? ""
    advice = lines.dropFirst().joined(separator: " ")
    headline = words.headline(explanation)
    links = explanation.chain.prefix(Self.shownLinks).map { link in
      let time = link.isInFile ? link.fact.time : nil
      return Link(
        sequence: link.fact.sequence, time: time,
        distance: Self.distance(from: explanation.time, to: time), name: link.fact.record.name,
        words: WhyText.text(of: link.fact), isNote: link.fact.note != nil)
    }
    let before = explanation.root.map(words.headline)
    sections =
      words.sections(explanation)
      + (before.isEmpty ? [] : [WhyText.Section(label: "Before", sentences: before)])
  }

  private static func distance(from end: Timestamp?, to time: Timestamp?) -> String {
    guard let end, let time else { return "" }
    let span = time.milliseconds(since: end)
    return (span > 0 ? "+" : "") + DurationFormatter.text(milliseconds: span)
  }
}

/// Chooses the journals that a page draws.
enum ReportChoice {
  /// Returns at most `limit` journals, in their order.
  ///
  /// Each cause gets its newest end in turn, then its second newest, until there are enough
  /// journals. So a rare cause has a journal on the page as well. Journals in which nothing ended
  /// come last, the newest first.
  static func chosen(_ journals: [ReportJournal], upTo limit: Int) -> [ReportJournal] {
    guard journals.count > limit else { return journals }
    var ends: [Cause: [(time: Timestamp, journal: Int)]] = [:]
    for (index, journal) in journals.enumerated() {
      for why in journal.whys where why.cause.class == .end {
        ends[why.cause, default: []].append((why.time ?? Self.never, index))
      }
    }
    var places = journals.map { Place(turn: .max, time: $0.last ?? Self.never) }
    for list in ends.values {
      let newest = list.sorted { left, right in
        left.time == right.time ? left.journal < right.journal : left.time > right.time
      }
      for (turn, end) in newest.enumerated() {
        let place = Place(turn: turn, time: end.time)
        if place.comesBefore(places[end.journal]) { places[end.journal] = place }
      }
    }
    let order = journals.indices.sorted { left, right in
      places[left] == places[right] ? left < right : places[left].comesBefore(places[right])
    }
    return order.prefix(limit).sorted().map { journals[$0] }
  }

  private static let never = Timestamp(milliseconds: .min)

  private struct Place: Equatable {
    var turn: Int
    var time: Timestamp

    func comesBefore(_ other: Place) -> Bool {
      turn == other.turn ? time > other.time : turn < other.turn
    }
  }
}
