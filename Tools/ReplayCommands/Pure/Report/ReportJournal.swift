@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// What a page needs of one journal, gathered in one pass and in bounded memory.
struct ReportJournal: Sendable {
  /// A record in the table.
  struct Row: Equatable, Sendable {
    let sequence: UInt64
    let time: Timestamp
    let name: String
    let words: String
    let group: Group
    /// Behind the record.
    let state: SessionState.Kind
  }

  /// By what rows can be chosen.
  enum Group: String, CaseIterable, Sendable {
    case ends = "ends"
    case failures = "failures"
    case logins = "logins"
    case refreshes = "refreshes"
    case notes = "notes"
  }

  /// How much there is room for.
  struct Room: Sendable {
    /// Rows of the table.
    var rows: Int
    /// Segments, tokens and marks each.
    var shapes: Int
    /// Explanations.
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
  /// The last explanations, oldest first.
  private(set) var whys: [ReportWhy] = []
  private(set) var droppedWhys: UInt64 = 0
  /// The rows of the table: what matters first, then as many of the others as there is room for.
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

  /// Takes in the next record, without real names where none are to be shown.
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

  /// Takes in what was found out about an end.
  mutating func take(_ why: ReportWhy) {
    whys.append(why)
    guard whys.count > room.whys else { return }
    whys.removeFirst()
    droppedWhys += 1
  }

  /// Nothing follows.
  mutating func finish() {
    stats.finish()
    if let last { lanes.finish(at: last) }
    let rest = max(0, room.rows - important.kept.count)
    var others = EvenSample<Row>(limit: max(1, rest))
    if rest > 0 { for row in routine.kept { others.offer { row } } }
    rows = (important.kept + others.kept).sorted { $0.sequence < $1.sequence }
    shown = Set(rows.map(\.sequence))
  }

  /// When a session ended last in it; the earliest time of all if none did.
  var lastEnd: Timestamp {
    whys.last { $0.isEnd }?.time ?? Timestamp(milliseconds: .min)
  }

  /// Records of the journal, in the table or not.
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
