/// When the session compacts its journal, and from which record on it keeps the file.
///
/// ```
///           firstKept: the plan is due, and the session is settled
///  ready ───────────────────────────────────────────────────▶ the shell compacts
///   ▲ ▲                                                         │ │
///   │ └────────────── ended: the file has a new beginning ──────┘ │
///   │                                                             │
///   └── an hour later ── paused ◀── failed, or the same beginning ┘
/// ```
///
/// Records reach the plan only before it is asked, after it knows where the file begins. A plan that
/// knows the place of a record can forget the ones before it.
///
/// - Requirement: JRN-4
package struct CompactionSchedule: Hashable, Sendable {
  /// What the session is doing.
  package struct Situation: Hashable, Sendable {
    private let isSettled: Bool

    /// Creates a description of the session.
    ///
    /// - Parameters:
    ///   - isOpen: whether the opening is journaled.
    ///   - isWhole: whether the fold has seen every record.
    ///   - needsClearing: whether hosts still have data to clear. The logout event that shows it
    ///     must stay in the file.
    package init(isOpen: Bool, isWhole: Bool, needsClearing: Bool) {
      isSettled = isOpen && isWhole && !needsClearing
    }

    fileprivate var mayCompact: Bool { isSettled }
  }

  /// The time before the next try, in milliseconds.
  package static let pause: Int64 = 3_600_000

  private enum State: Hashable, Sendable {
    /// Exits: `paused`, after a compaction that failed or removed nothing.
    case ready
    /// Exits: `ready`, when this uptime has come.
    case paused(until: Int64)
  }

  private struct Entry: Hashable, Sendable {
    let record: SessionRecord
    let bytes: UInt64
  }

  /// Which records of the journal can be removed; `nil` if all are kept.
  private var plan: RetentionPlan?
  /// Whether records are ever removed.
  package let isLimited: Bool
  /// Records that the plan does not know yet.
  private var backlog: [Entry] = []
  private var state = State.ready

  /// Creates a schedule for a plan that knows every record; `nil` if the journal keeps all records.
  package init(_ plan: RetentionPlan?) {
    (self.plan, isLimited) = (plan, plan != nil)
  }

  /// Records what was appended, by this process or another one.
  package mutating func take(_ record: SessionRecord, bytes: UInt64) {
    guard isLimited else { return }
    backlog.append(Entry(record: record, bytes: bytes))
  }

  /// Returns the first record that a compaction keeps, if the journal is to be compacted now.
  ///
  /// - Parameters:
  ///   - beginning: the first sequence of the file.
  ///   - situation: what the session is doing; asked only if the plan is due.
  ///   - now: the present time.
  package mutating func firstKept(
    inFileFrom beginning: UInt64, _ situation: @autoclosure () -> Situation, at now: ClockReading
  ) -> UInt64? {
    update(beginning)
    if case .paused(let end) = state {
      guard now.uptime >= end else { return nil }
      state = .ready
    }
    guard plan?.isDue(at: now.time) == true, situation().mayCompact else { return nil }
    return plan?.firstKept
  }

  /// Records that a compaction has ended without an error.
  ///
  /// If the file has a new beginning, this process or another one has compacted it, and the plan can
  /// be asked again. If it has not, another try at once would end in the same way.
  package mutating func ended(hasNewBeginning: Bool, at now: ClockReading) {
    if !hasNewBeginning { wait(from: now) }
  }

  /// Records that a compaction has failed.
  package mutating func failed(at now: ClockReading) {
    wait(from: now)
  }

  private mutating func wait(from now: ClockReading) {
    state = .paused(until: now.uptime.addingSaturating(Self.pause))
  }

  /// Updates the plan to the file: records that left the file are removed first, while their places
  /// are known.
  private mutating func update(_ beginning: UInt64) {
    plan?.forget(before: beginning)
    guard !backlog.isEmpty else { return }
    for entry in backlog { plan?.take(entry.record, bytes: entry.bytes) }
    backlog = []
  }
}
