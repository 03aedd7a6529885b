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
    stats = StatsFold(by: nil, file: name)
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
