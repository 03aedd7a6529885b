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
    /// Whether it is a sign-out by the user, which is no problem.
    let isByUser: Bool
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
  /// The app version of the last opening that gave one.
  private(set) var app: String?
  private(set) var lanes: Lanes
  private(set) var stats: StatsFold
  private(set) var state = SessionFold()
  private(set) var first: Timestamp?
  private(set) var last: Timestamp?
  private(set) var lastSequence: UInt64 = 0
  /// The last explanations, the oldest first.
  private(set) var whys: [Explanation] = []
  /// The number of explained ends, kept or not.
  private(set) var explained: UInt64 = 0
  /// The ends by cause, version and day.
  private(set) var ends = EndWait()
  /// The rows of the table by sequence: important records, and as many others as fit.
  private(set) var rows: [Row] = []
  /// The sequences of the rows.
  private(set) var shown: Set<UInt64> = []

  /// Whether records are missing since the last login.
  private var hasGap = false
  /// The number of rows for lost records.
  private var gaps: UInt64 = 0
  private let room: Room
  private let zone: TimeZoneChoice
  private var important: EvenSample<Row>
  private var routine: EvenSample<Row>

  init(name: String, room: Room, zone: TimeZoneChoice = .utc, app: AppVersion? = nil) {
    self.name = name
    self.app = app?.description
    self.room = room
    self.zone = zone
    lanes = Lanes(limit: room.shapes)
    stats = StatsFold(by: .version, app: app)
    important = EvenSample(limit: room.rows)
    routine = EvenSample(limit: room.rows)
  }

  /// Takes the next record, which holds pseudonyms if real names are not shown.
  mutating func take(_ record: SessionRecord) throws(SessionFold.Failure) {
    let before = try GappedFold.apply(record, to: &state, afterGap: hasGap).before
    try stats.take(record)
    if case .event(.login) = record.content { hasGap = false }
    if case .note(.opened(let opened)) = record.content { app = opened.app?.description }
    if Self.ends(record, before) {
      ends.end(
        at: record.sequence, version: app,
        day: DayScale.day(of: record.time, offset: zone.offset(at: record.time)))
    }
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
        words: Self.words(record), group: group, isByUser: Self.isByUser(record),
        state: kind.kind)
    }
    switch group {
    case .ends, .failures, .logins: important.offer(make)
    case .refreshes, .notes: routine.offer(make)
    }
  }

  /// Notes that records are missing here, and continues after them.
  mutating func interrupt(_ gap: EvidenceGap) {
    (hasGap, app) = (true, nil)
    stats.interrupt()
    guard let sequence = gap.sequences?.lowerBound, let last else { return }
    lanes.interrupt(at: last, sequence)
    gaps += 1
    important.offer {
      Row(
        sequence: sequence, time: last, name: gap.isLeftOut ? "(left out)" : "(lost)",
        words: gap.words, group: .failures, isByUser: false, state: state.state.kind)
    }
  }

  /// Takes the explanation of an end, or of the session after the last record.
  mutating func take(_ why: Explanation) {
    if why.cause.class == .end {
      explained += 1
      if let sequence = why.sequence {
        ends.explain(endAt: sequence, why.cause, why.certainty)
      }
    }
    whys.append(why)
    if whys.count > room.whys { whys.removeFirst() }
  }

  /// Ends the journal.
  mutating func finish() {
    stats.finish()
    ends.finish()
    if let last { lanes.finish(at: last) }
    let rest = max(0, room.rows - important.kept.count)
    var others = EvenSample<Row>(limit: max(1, rest))
    if rest > 0 { for row in routine.kept { others.offer { row } } }
    rows = (important.kept + others.kept).sorted { $0.sequence < $1.sequence }
    shown = Set(rows.map(\.sequence))
  }

  /// The time of the last end of a session; the earliest possible time if there is none.
  var lastEnd: Timestamp {
    whys.last { $0.cause.class == .end }?.time ?? Timestamp(milliseconds: .min)
  }

  /// The number of records in the journal, in the table or not.
  var records: UInt64 { important.count + routine.count - gaps }

  /// Returns whether a record ends a session; a logout after an expiry ends none.
  private static func ends(_ record: SessionRecord, _ before: SessionState.Kind) -> Bool {
    switch record.content {
    case .event(.sessionExpired): true
    case .event(.logout): before == .authenticated
    default: false
    }
  }

  static func isByUser(_ record: SessionRecord) -> Bool {
    if case .event(.logout(let logout)) = record.content { logout.reason == .user } else { false }
  }

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
