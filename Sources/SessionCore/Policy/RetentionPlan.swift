/// The plan which records of a journal a compaction would keep (`Specs/Retention.md`).
///
/// The plan receives every record, and is notified where the file begins. It never counts a record
/// that is gone. It may miss the first record of a file that another process compacted, if it no
/// longer knows its place. It remembers only the places of the records that the policy keeps by
/// number. So its memory does not depend on the length of the journal.
package struct RetentionPlan: Hashable, Sendable {
  /// The limits, and what is always kept.
  package let policy: RetentionPolicy
  /// The number of records in the file, as far as known; never too high.
  package private(set) var records: UInt64 = 0
  /// The length of those records, in bytes.
  package private(set) var bytes: UInt64 = 0
  /// When the oldest record was written; `nil` if there is none.
  package private(set) var oldest: Timestamp?

  /// A record's place, and the records and bytes before it.
  private struct Mark: Hashable, Sendable {
    let sequence: UInt64
    let time: Timestamp
    let records: UInt64
    let bytes: UInt64
  }

  private struct End: Hashable, Sendable {
    let start: Mark
    let place: Mark
  }

  /// The newest records in order; trimmed in steps, to avoid a move for each record.
  private var recent: [Mark] = []
  /// The last end of a session, and the first record that explains it.
  private var end: End?
  /// The intent of the open request.
  private var request: Mark?
  /// The note of the open need.
  private var need: Mark?
  /// The note of the lock.
  private var lock: Mark?
  /// The last note that says how long a refresh token lives.
  private var life: Mark?
  private var intents = OpenIntents()
  /// The file's first sequence; earlier records are gone.
  private var beginning: UInt64 = 1

  /// Creates the plan for a journal without records.
  package init(_ policy: RetentionPolicy) {
    self.policy = policy
  }

  /// Takes in the next record, which has `size` bytes in the file.
  ///
  /// A snapshot means that everything before it is gone.
  package mutating func take(_ record: SessionRecord, bytes size: UInt64) {
    switch record.content {
    case .event(let event): intents.apply(event)
    case .note(let note): intents.apply(note, sequence: record.sequence, at: record.time)
    case .snapshot(let fold): intents = fold.intents
    case .unknown: break
    }
    place(record.content.kind, sequence: record.sequence, at: record.time, bytes: size)
  }

  /// Takes in the next record by its kind, sequence and time, and the intents that it leaves open.
  package mutating func take(
    _ kind: UInt8, sequence: UInt64, at time: Timestamp, leaving intents: OpenIntents,
    bytes size: UInt64
  ) {
    self.intents = intents
    place(kind, sequence: sequence, at: time, bytes: size)
  }

  /// Records the place of a record, after its intents.
  private mutating func place(
    _ kind: UInt8, sequence: UInt64, at time: Timestamp, bytes size: UInt64
  ) {
    guard kind != SessionRecord.snapshotKind else {
      let (beginning, intents) = (max(beginning, sequence.addingSaturating(1)), intents)
      self = RetentionPlan(policy)
      (self.beginning, self.intents) = (beginning, intents)
      return
    }
    let mark = sequence < beginning ? nil : count(sequence, time, size)
    switch kind {
    case SessionEvent.Kind.sessionExpired.rawValue, SessionEvent.Kind.logout.rawValue:
      end = mark.map {
        End(start: recent[max(0, recent.count - 1 - policy.keptBeforeEnd)], place: $0)
      }
    case SessionNote.Kind.requestSent.rawValue: request = mark
    case SessionNote.Kind.userNeeded.rawValue: need = mark
    case SessionNote.Kind.locked.rawValue: lock = mark
    case SessionNote.Kind.refreshTokenLife.rawValue: life = mark
    default: break
    }
    if !intents.hasRequest { request = nil }
    if intents.need == nil { need = nil }
    if intents.lock == nil { lock = nil }
    if intents.refreshTokenLife == nil { life = nil }
  }

  /// The sequence of the first record that a compaction keeps; `nil` without records.
  package var firstKept: UInt64? { first?.sequence }

  /// Whether a limit is exceeded and a compaction would remove at least a quarter of the records.
  package func isDue(at now: Timestamp) -> Bool {
    guard policy.isExceeded(records: records, bytes: bytes, oldest: oldest, now: now), let first
    else { return false }
    return first.records > 0 && first.records >= records / 4 + (records % 4 == 0 ? 0 : 1)
  }

  /// Forgets the records before `first`, which a compaction by any process has removed.
  ///
  /// Call it before taking in the records that followed the compaction. The plan then still knows
  /// the place where the file begins.
  package mutating func forget(before first: UInt64) {
    guard first > beginning else { return }
    beginning = first
    recent.removeAll { $0.sequence < first }
    if let place = end?.place, place.sequence < first { end = nil }
    if let place = request, place.sequence < first { request = nil }
    if let place = need, place.sequence < first { need = nil }
    if let place = life, place.sequence < first { life = nil }
    if let place = lock, place.sequence < first { lock = nil }
    let known = [end?.start, end?.place, request, need, life, lock, recent.first].compactMap(\.self)
    let start = known.filter { $0.sequence >= first }.min { $0.sequence < $1.sequence }
    guard let start else {
      (records, bytes, oldest) = (0, 0, nil)
      return
    }
    func shifted(_ mark: Mark) -> Mark {
      Mark(
        sequence: mark.sequence, time: mark.time, records: mark.records - start.records,
        bytes: mark.bytes - start.bytes)
    }
    recent = recent.map(shifted)
    end = end.map {
      End(
        start: shifted($0.start.sequence < start.sequence ? start : $0.start),
        place: shifted($0.place))
    }
    (request, need) = (request.map(shifted), need.map(shifted))
    (life, lock) = (life.map(shifted), lock.map(shifted))
    (records, bytes, oldest) = (records - start.records, bytes - start.bytes, start.time)
  }

  private var first: Mark? {
    guard !recent.isEmpty else { return nil }
    var first = recent[max(0, recent.count - policy.keptRecords)]
    for mark in [end?.start, request, need, life] {
      guard let mark, mark.sequence < first.sequence,
        policy.hasRoom(records: records - mark.records, bytes: bytes - mark.bytes)
      else { continue }
      first = mark
    }
    // At any size: a compaction must not open a lock. It is noted again from time to time (`AppLock`).
    if let lock, lock.sequence < first.sequence { first = lock }
    return first
  }

  private mutating func count(_ sequence: UInt64, _ time: Timestamp, _ size: UInt64) -> Mark {
    let mark = Mark(sequence: sequence, time: time, records: records, bytes: bytes)
    recent.append(mark)
    cut()
    if oldest == nil { oldest = time }
    records += 1
    bytes = bytes.addingSaturating(size)
    return mark
  }

  private mutating func cut() {
    let needed = max(policy.keptRecords, policy.keptBeforeEnd + 1)
    guard recent.count >= 2 * needed else { return }
    recent.removeFirst(recent.count - needed)
  }
}

/// When a journal is compacted, and what is always kept (`Specs/Retention.md`).
///
/// A limit that is `nil` does not apply.
///
/// - Requirement: JRN-4
public struct RetentionPolicy: Hashable, Sendable {
  /// The maximum number of records in the file.
  public var maximumRecords: UInt64?
  /// The maximum length of the records, in bytes.
  public var maximumBytes: UInt64?
  /// The maximum age of the oldest record, rounded up to milliseconds; a negative age counts as 0.
  public var maximumAge: Duration?
  /// How many of the newest records are kept regardless of the limits; 1 to 100,000.
  public var keptRecords: Int {
    didSet { keptRecords = min(max(1, keptRecords), Self.mostKept) }
  }
  /// How many records before the last end of a session are kept with it; 0 to 100,000.
  public var keptBeforeEnd: Int {
    didSet { keptBeforeEnd = min(max(0, keptBeforeEnd), Self.mostKept) }
  }

  /// The upper bound of both numbers: a plan remembers the place of each of those records.
  static let mostKept = 100_000

  /// Creates a policy; numbers out of bounds are moved to the nearest bound.
  public init(
    maximumRecords: UInt64? = 10_000, maximumBytes: UInt64? = 4_194_304,
    maximumAge: Duration? = nil, keptRecords: Int = 1_000, keptBeforeEnd: Int = 100
  ) {
    self.maximumRecords = maximumRecords
    self.maximumBytes = maximumBytes
    self.maximumAge = maximumAge
    self.keptRecords = min(max(1, keptRecords), Self.mostKept)
    self.keptBeforeEnd = min(max(0, keptBeforeEnd), Self.mostKept)
  }

  /// Whether a journal with this number of records and bytes exceeds a limit.
  ///
  /// `oldest` is the time of the oldest record, `nil` if there is none. A time in the future
  /// exceeds no age: the clock was set back since.
  public func isExceeded(records: UInt64, bytes: UInt64, oldest: Timestamp?, now: Timestamp)
    -> Bool
  {
    if let maximumRecords, records > maximumRecords { return true }
    if let maximumBytes, bytes > maximumBytes { return true }
    guard let maximumAge, let oldest else { return false }
    return now.milliseconds(since: oldest) > maximumAge.milliseconds(atLeast: 0)
  }

  /// Whether both numbers are at most three quarters of their limits.
  func hasRoom(records: UInt64, bytes: UInt64) -> Bool {
    (maximumRecords.map { records <= $0 - $0 / 4 } ?? true)
      && (maximumBytes.map { bytes <= $0 - $0 / 4 } ?? true)
  }
}
