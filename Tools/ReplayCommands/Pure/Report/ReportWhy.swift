@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// The explanation of an end or of a present session, as text for a page.
struct ReportWhy: Equatable, Sendable {
  /// A record that led to the end.
  struct Link: Equatable, Sendable {
    let sequence: UInt64
    let name: String
    let words: String
    let isNote: Bool
  }

  /// Sentences of one kind: what is likely, what is ruled out.
  struct Section: Equatable, Sendable {
    let label: String
    let sentences: [String]
  }

  /// The maximum number of records of the chain on a page.
  static let shownLinks = 12

  let headline: String
  let time: Timestamp?
  /// Whether it explains an end; otherwise it describes a present session.
  let isEnd: Bool
  let links: [Link]
  let sections: [Section]

  init(_ explanation: Explanation, zone: TimeZoneChoice) {
    let words = WhyText(zone: zone.display)
    headline = words.headline(explanation)
    time = explanation.time
    isEnd = explanation.cause.class == .end
    links = explanation.chain.prefix(Self.shownLinks).map { link in
      Link(
        sequence: link.fact.sequence, name: link.fact.record.name,
        words: WhyText.text(of: link.fact), isNote: link.fact.note != nil)
    }
    func sentence(_ finding: Finding) -> String {
      words.fill(finding.what.sentence, finding.values)
    }
    let inferred = explanation.inferred
    let sections: [(String, [String])] = [
      ("Proven", explanation.proven.map(sentence)),
      ("Likely", inferred.filter { $0.certainty >= .likely }.map(sentence)),
      ("Possible", inferred.filter { $0.certainty == .possible }.map(sentence)),
      (
        "Ruled out",
        explanation.ruledOut.map { finding in
          finding.what.topic.map { "\($0): \(sentence(finding))" } ?? sentence(finding)
        }
      ),
      ("Also seen", explanation.alsoSeen.map(sentence)),
      ("Not told", explanation.untold.map { words.fill($0.what.sentence, $0.values) }),
      ("Do", explanation.advice.map { words.fill($0.what.sentence, $0.values) }),
      ("Before", explanation.root.map(words.headline)),
    ]
    self.sections = sections.filter { !$0.1.isEmpty }.map { Section(label: $0.0, sentences: $0.1) }
  }
}
