/// Whether the callers of a session wait for its user to unlock the app.
///
/// ```
///          lock                journaled              lock
///  open ─────────▶ unnoted ───────────────▶ noted ───────────▶ unnoted
///   ▲                 │                       │
///   │  the session    │                       │  `unlocked` is durable, here or
///   ├──── has ended ──┘                       │  elsewhere, or the session has ended
///   └─────────────────────────────────────────┘
/// ```
///
/// - A lock counts at once. Its note goes with the next batch, so an opening that locks writes nothing.
/// - At most one check of the user runs. It says nothing of a lock that was asked for after it began.
///
/// - Requirement: ACC-2
struct AppLock: Hashable, Sendable {
  /// The lock that the journal holds.
  private var noted: OpenLock?
  /// The reason of a lock that the journal does not hold yet.
  private var unnoted: SessionNote.LockReason?
  /// How often the session was locked, as far as this process knows.
  private var locks: UInt64 = 0
  /// The number of locks when the check that is under way began.
  private var check: UInt64?

  init(_ noted: OpenLock?) { self.noted = noted }

  var isLocked: Bool { noted != nil || unnoted != nil }

  /// Returns the note that goes with the next batch, after the record with this sequence.
  ///
  /// A lock that lasts is noted again, so that a compaction can remove the records before.
  func note(after sequence: UInt64) -> SessionNote? {
    if let unnoted { return .locked(unnoted) }
    guard let noted, sequence - min(noted.sequence, sequence) >= Self.repetition else { return nil }
    return .locked(noted.reason)
  }

  /// The number of records after which a lock is noted again.
  static let repetition: UInt64 = 1_000

  // MARK: Inputs

  /// Locks the session; only the app locks one again that is locked.
  mutating func lock(_ reason: SessionNote.LockReason) {
    guard reason == .user || !isLocked else { return }
    unnoted = reason
    lockedAgain()
  }

  /// Follows a batch of this process, which had ``note(after:)``.
  mutating func journaled(_ lock: OpenLock?) { (noted, unnoted) = (lock, nil) }

  /// Follows the records of others; a lock of a session that has ended is over.
  mutating func follow(_ lock: OpenLock?, hasEnded: Bool) {
    if hasEnded { unnoted = nil }
    if let lock, lock.sequence != noted?.sequence { lockedAgain() }
    noted = lock
  }

  /// Begins a check of the user; returns its number, or `nil` while another one runs.
  mutating func beginCheck() -> UInt64? {
    guard check == nil else { return nil }
    check = locks
    return locks
  }

  /// Ends a check of the user.
  mutating func endCheck(_ number: UInt64) {
    if check == number { check = nil }
  }

  /// Whether a check says that the session may be unlocked.
  func isUnlocked(by number: UInt64) -> Bool { number >= locks }

  /// A check that hangs must not prevent the next one.
  private mutating func lockedAgain() {
    locks += 1
    check = nil
  }
}
