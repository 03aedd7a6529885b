@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// The content of a page about one journal, collected in one pass and in bounded memory.
struct ReportJournal: Sendable {
  /// A record in the table.
  struct Row: Equatable, Sendable {
    let sequence: UInt64
    let time: Timestamp
    let name: String
    let words: String
    let group: Group
    /// The state after the record.
    let state: SessionState.Kind
  }

  /// The groups by which a user can select rows.
  enum Group: String, CaseIterable, Sendable {
    case ends = "ends"
    case failures = "failures"
    case logins = "logins"
    case refreshes = "refreshes"
    case notes = "notes"
  }

  /// The maximum sizes of the content.
  struct Room: Sendable {
    /// The number of table rows.
    var rows: Int
    /// The number of segments, of tokens and of marks.
    var shapes: Int
    /// The number of explanations.
    var whys: Int
  }

  let name: String
  private(set) var user: String?
  private(set) var lanes: Lanes
  private(set) var stats: StatsFold
  private(set) var state = SessionFold()
  private(set) var first: Timestamp?
  private(set) var last: Timestamp?
  private(set) var lastSequence: UInt64 = 0
  /// The last explanations, the oldest first.
  private(set) var whys: [ReportWhy] = []
  private(set) var droppedWhys: UInt64 = 0
  /// The rows of the table by sequence: important records, and as many others as fit.
  private(set) var rows: [Row] = []
  /// The sequences of the rows.
  private(set) var shown: Set<UInt64> = []

  private let room: Room
  private var important: EvenSample<Row>
  private var routine: EvenSample<Row>

  init(name: String, room: Room) {
    self.name = name
    self.room = room
    lanes = Lanes(limit: room.shapes)
    stats = StatsFold(by: nil)
    important = EvenSample(limit: room.rows)
    routine = EvenSample(limit: room.rows)
  }

  /// Takes the next record, which holds pseudonyms if real names are not shown.
  mutating func take(_ record: SessionRecord) throws(SessionFold.Failure) {
    try state.apply(record)
    try stats.take(record)
    first = min(first ?? record.time, record.time)
    last = max(last ?? record.time, record.time)
    lastSequence = record.sequence
    let kind = state.state
    if let found = kind.user { user = found.description }
    lanes.take(record, kind)
    let group = Self.group(of: record)
    let make = {
      Row(
        sequence: record.sequence, time: record.time, name: record.name,
        words: Self.words(record), group: group, state: kind.kind)
    }
    switch group {
    case .ends, .failures, .logins: important.offer(make)
    case .refreshes, .notes: routine.offer(make)
    }
  }

  /// Takes the explanation of an end.
  mutating func take(_ why: ReportWhy) {
    whys.append(why)
    guard whys.count > room.whys else { return }
    whys.removeFirst()
    droppedWhys += 1
  }

  /// Ends the journal.
  mutating func finish() {
    stats.finish()
    if let last { lanes.finish(at: last) }
    let rest = max(0, room.rows - important.kept.count)
    var others = EvenSample<Row>(limit: max(1, rest))
    if rest > 0 { for row in routine.kept { others.offer { row } } }
    rows = (important.kept + others.kept).sorted { $0.sequence < $1.sequence }
    shown = Set(rows.map(\.sequence))
  }

  /// The time of the last end of a session; the earliest possible time if there is none.
  var lastEnd: Timestamp {
    whys.last { $0.isEnd }?.time ?? Timestamp(milliseconds: .min)
  }

  /// The number of records in the journal, in the table or not.
  var records: UInt64 { important.count + routine.count }

  static func group(of record: SessionRecord) -> Group {
    switch record.content {
    case .event(let event):
      switch event {
      case .sessionExpired, .logout: .ends
      case .refreshFailed: .failures
      case .login: .logins
      case .refreshSucceeded, .contextSwitched: .refreshes
      }
    case .note(let note):
      switch note {
      case .requestEnded, .tailCut, .itemUnreadable, .storageFailed: .failures
      default: .notes
      }
    case .snapshot, .unknown: .notes
    }
  }

  private static func words(_ record: SessionRecord) -> String {
    switch record.content {
    case .event(let event): EventFormatter.text(event, at: record.time)
    case .note(let note): NoteFormatter.text(note, at: record.time)
    case .snapshot(let fold): SnapshotFormatter.text(fold, through: record.sequence)
    case .unknown(let unknown): "\(count(unknown.payload.count, "byte")), from a newer version"
    }
  }
}

/// A sample of at most `limit` elements at equal distances; the distance grows with their number.
///
/// Which elements are kept depends only on their number and order.
struct EvenSample<Element: Sendable>: Sendable {
  private(set) var kept: [Element] = []
  /// The number of elements that were offered.
  private(set) var count: UInt64 = 0
  private var distance: UInt64 = 1
  private let limit: Int

  init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// The number of elements that were offered and are not kept.
  var dropped: UInt64 { count - UInt64(kept.count) }

  /// Offers the next element; calls `make` only if the element is kept.
  mutating func offer(_ make: () -> Element) {
    defer { count += 1 }
    guard count % distance == 0 else { return }
    if kept.count == limit {
      // Every second element stays, beginning with the first. The new one stays only if it is at
      // the doubled distance.
      var isKept = false
      kept.removeAll { _ in
        isKept.toggle()
        return !isKept
      }
      distance *= 2
      guard count % distance == 0 else { return }
    }
    // With a limit of 1, the first element stays.
    guard kept.count < limit else { return }
    kept.append(make())
  }
}

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
