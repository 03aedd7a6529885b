@_spi(Internals) internal import SessionCore
internal import SessionExplain

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
