/// Which records of a journal could go: fed record after record, it knows at any time from where on
/// they would be kept (`Specs/Retention.md`).
///
/// Remembers the places of the records that the policy keeps by number, and nothing else, whatever
/// the length of the journal.
public struct RetentionPlan: Hashable, Sendable {
  /// What is kept, and when it is time.
  public let policy: RetentionPolicy
  /// How many records stand in the file, as far as was told.
  public private(set) var records: UInt64 = 0
  /// How many bytes they take.
  public private(set) var bytes: UInt64 = 0
  /// When the oldest was written; `nil` without one.
  public private(set) var oldest: Timestamp?

  /// A record's place, and what stands before it.
  private struct Mark: Hashable, Sendable {
    let sequence: UInt64
    let time: Timestamp
    let records: UInt64
    let bytes: UInt64
  }

  /// The newest records, the last one last; cut now and then, so that it costs no move for each.
  private var recent: [Mark] = []
  /// From where the last end of a session is explained.
  private var end: Mark?
  /// The note of the open request.
  private var request: Mark?
  private var intents = OpenIntents()

  /// The plan for a journal without records.
  public init(_ policy: RetentionPolicy) {
    self.policy = policy
  }

  /// Takes in the next record, which takes so many bytes of the file.
  ///
  /// A snapshot says that everything before it is gone.
  public mutating func take(_ record: SessionRecord, bytes size: UInt64) {
    if case .snapshot(let fold) = record.content {
      self = RetentionPlan(policy)
      intents = fold.intents
      return
    }
    let mark = Mark(sequence: record.sequence, time: record.time, records: records, bytes: bytes)
    recent.append(mark)
    cut()
    if oldest == nil { oldest = record.time }
    records += 1
    bytes = bytes.addingSaturating(size)
    switch record.content {
    case .event(let event):
      intents.apply(event)
      switch event {
      case .sessionExpired, .logout:
        end = recent[max(0, recent.count - 1 - policy.keptBeforeEnd)]
      case .login, .refreshSucceeded, .refreshFailed, .contextSwitched: break
      }
    case .note(let note):
      intents.apply(note, sequence: record.sequence)
      if case .requestSent = note { request = mark }
    case .snapshot, .unknown:
      break
    }
    if intents.request == nil { request = nil }
  }

  /// The sequence of the first record that a compaction keeps; `nil` without records.
  public var firstKept: UInt64? { first?.sequence }

  /// Whether a limit is passed and enough can go: at least a quarter of the records.
  public func isDue(at now: Timestamp) -> Bool {
    guard let first, first.records > 0, first.records >= records / 4 + (records % 4 == 0 ? 0 : 1)
    else { return false }
    return policy.isExceeded(records: records, bytes: bytes, oldest: oldest, now: now)
  }

  /// Forgets what a compaction removed, which kept the records from `firstKept` on.
  public mutating func removed() {
    guard let first else { return }
    func shifted(_ mark: Mark) -> Mark {
      Mark(
        sequence: mark.sequence, time: mark.time, records: mark.records - first.records,
        bytes: mark.bytes - first.bytes)
    }
    recent = recent.filter { $0.sequence >= first.sequence }.map(shifted)
    end = end.flatMap { $0.sequence >= first.sequence ? shifted($0) : nil }
    request = request.flatMap { $0.sequence >= first.sequence ? shifted($0) : nil }
    (records, bytes, oldest) = (records - first.records, bytes - first.bytes, first.time)
  }

  private var first: Mark? {
    guard !recent.isEmpty else { return nil }
    var first = recent[max(0, recent.count - policy.keptRecords)]
    for mark in [end, request] {
      guard let mark, mark.sequence < first.sequence,
        policy.hasRoom(records: records - mark.records, bytes: bytes - mark.bytes)
      else { continue }
      first = mark
    }
    return first
  }

  private mutating func cut() {
    let needed = max(policy.keptRecords, policy.keptBeforeEnd + 1)
    guard recent.count >= 2 * needed else { return }
    recent.removeFirst(recent.count - needed)
  }
}

extension UInt64 {
  fileprivate func addingSaturating(_ other: UInt64) -> UInt64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
