/// "Not found" once is not "gone": what a store or a file system did not find is looked for again.
///
/// A store can be empty for a while: a keychain of an app that the system prewarms, a folder on a disk that
/// is not mounted yet. So an absence counts only after the third answer in a row. The second comes at least
/// one second after the first, the third at least three seconds after the second. An answer of another
/// kind, or none, begins anew.
///
/// ```
///  first ── 1 s ──▶ second ── 3 s ──▶ third: believed
///    ▲                 │
///    └── found, or ────┘
///        not readable
/// ```
///
/// - Requirement: RES-7
package struct AbsenceDoubt: Hashable, Sendable {
  /// What was not found.
  struct Absence: Hashable, Sendable {
    let item: SecretItem
    let cause: StorageCause
  }

  private var absence: Absence?
  private var answers = 0
  private var last = Int64.min

  /// Takes in what was found at this uptime; `nil` if nothing is missing, or it is not known.
  ///
  /// Says whether an absence is not to be believed yet.
  mutating func doubts(_ found: Absence?, at uptime: Int64) -> Bool {
    guard let found else {
      self = AbsenceDoubt()
      return false
    }
    if found != absence { self = AbsenceDoubt(absence: found, answers: 0, last: .min) }
    guard answers < Self.pauses.count else { return false }
    if uptime.subtractingSaturating(last) >= Self.pauses[answers] {
      answers += 1
      last = uptime
    }
    return answers < Self.pauses.count
  }

  /// Milliseconds before each answer counts.
  private static let pauses = [0] + repetitions

  /// Milliseconds before the second answer and between it and the third.
  package static let repetitions: [Int64] = [1_000, 3_000]
}

extension SessionCoordinator {
  /// What the stored items lack so that the session would end, or be wiped or adopted.
  func absence(in facts: StoredItemsReport) -> AbsenceDoubt.Absence? {
    guard !facts.isLocked else { return nil }
    switch state {
    case .unauthenticated, .expired:
      return facts.owner == .missing
        ? AbsenceDoubt.Absence(item: facts.ownedItem, cause: .ownerMissing) : nil
    case .authenticated(let session):
      let needed = [SecretItem.token] + [.user, .context].filter(policy.requiredItems.contains)
      let missing = needed.first { item in
        facts.item(item) == .absent && (item != .context || session.context != nil)
      }
      return missing.map { AbsenceDoubt.Absence(item: $0, cause: .missing) }
    }
  }

  /// What looking for the items found, for the journal.
  mutating func noteFinding(_ facts: StoredItemsReport, at now: ClockReading) {
    var failures: [SecretItem: StorageCause] = [:]
    for item in [SecretItem.token, .user, .context] where facts.item(item) == .newerVersion {
      failures[item] = .newerVersion
    }
    if facts.owner == .unreadable { failures[facts.ownedItem] = .ownerUnreadable }
    if let absence = absence(in: facts) { failures[absence.item] = absence.cause }
    // Of items that could not be read nothing is known.
    guard !facts.isLocked || !failures.isEmpty else { return }
    for item in [SecretItem.token, .user, .context] {
      let failure = failures[item].map { StorageReport.Failure($0) }
      storage.take(
        StorageReport(item: item, operation: .find, failure: failure), at: now.uptime)
    }
  }
}
