/// The rule when a missing item counts as gone: it is searched for again first.
///
/// A store can be empty for a while. Examples are a keychain while the system prewarms an app, and
/// a folder on a disk that is not mounted yet. So an absence counts only after the third
/// consecutive result. The second comes at least one second after the first, the third at least
/// three seconds after the second. After any other result, or none, the count starts at one again.
///
/// ```
///          missing                   missing, 1 s later         missing, 3 s later
///  found ──────────▶ missing, once ─────────────────▶ twice ─────────────────▶ believed
///   ▲  ▲                 │                              │                        │
///   │  └─────────────────┴──── found, or not readable ──┴────────────────────────┘
///   └── another item is missing: its first result counts
/// ```
///
/// Sessions had ended because of both examples (`confirm-an-absence-three-times`).
///
/// - Requirement: RES-7
package struct AbsenceDoubt: Hashable, Sendable {
  // To wait for the foreground instead was rejected: a command-line tool or a server has none. A
  // suspended process reads again when it resumes, so its second and third results come after the
  // app was opened.

  /// An item that was not found, and why.
  struct Absence: Hashable, Sendable {
    let item: SecretItem
    let cause: StorageCause
  }

  private enum State: Hashable, Sendable {
    /// Nothing is missing, or that is unknown. Exits: `missing`.
    case found
    /// This item was missing that often; `last` is the uptime of the result that counted last.
    ///
    /// Exits: `found`; `missing` with one more result, or with another item.
    case missing(Absence, results: Int, last: Int64)
  }

  private var state = State.found
  /// The newest token that another process stores, as far as the journal shows.
  private var stored = Generation.none
  /// The newest token that was found here after another process had stored it.
  private var found = Generation.none

  /// What is missing and is searched for again; `nil` if nothing is.
  var sought: Absence? {
    if case .missing(let absence, let results, _) = state, results <= Self.repetitions.count {
      absence
    } else {
      nil
    }
  }

  /// Takes in what was missing at this uptime; `nil` if nothing is missing, or if that is unknown.
  ///
  /// Returns whether an absence is not to be believed yet.
  mutating func doubts(_ found: Absence?, at uptime: Int64) -> Bool {
    guard let found else {
      state = .found
      return false
    }
    guard case .missing(found, let results, let last) = state else {
      state = .missing(found, results: 1, last: uptime)
      return true
    }
    guard results <= Self.repetitions.count else { return false }
    guard uptime.subtractingSaturating(last) >= Self.repetitions[results - 1] else { return true }
    state = .missing(found, results: results + 1, last: uptime)
    return results < Self.repetitions.count
  }

  /// Records that another process announced this token, or that it lives and may have stored it.
  mutating func noteStored(_ generation: Generation) { stored = max(stored, generation) }

  /// Records that the token was found here.
  mutating func noteFound(_ generation: Generation) { found = max(found, generation) }

  /// Whether another process stores this token, and this process has never found it.
  ///
  /// Then it looks in another place, such as another folder, and can tell nothing about an end. A
  /// process with a wrong folder ended the session of all others.
  func isElsewhere(_ generation: Generation) -> Bool { stored == generation && found < generation }

  /// The milliseconds before the second result, and from there to the third.
  package static let repetitions: [Int64] = [1_000, 3_000]

  /// The milliseconds for which the items of a missed journal are kept: seven days.
  ///
  /// A volume can be mounted late, or be repaired. Until then nothing uses the items. A logout removes
  /// them at once.
  package static let patience: Int64 = 604_800_000
}

extension SessionCoordinator {
  /// The item that the journal names and that is searched for again; `nil` if there is none.
  package var soughtItem: SecretItem? {
    guard fold.kind == .authenticated, !isRestored, let sought = doubt.sought else { return nil }
    return sought.cause == .missing ? sought.item : nil
  }

  /// Whether other processes store the session's token in a place that this process does not use.
  package var isTokenElsewhere: Bool {
    guard !isRestored, let token = state.token else { return false }
    return doubt.isElsewhere(token.generation)
  }

  /// Returns whether the token is missing because it is stored in a place that this process does not
  /// use.
  mutating func isElsewhere(_ facts: StoredItemsReport) -> Bool {
    guard !facts.isLocked, let token = state.token else { return false }
    if facts.isStorerAlive { doubt.noteStored(token.generation) }
    if facts.token == .present { doubt.noteFound(facts.generation) }
    if isUndoneHere(facts) { return false }
    return [.absent, .otherJournal].contains(facts.token) && doubt.isElsewhere(token.generation)
  }

  /// Returns the missing item because of which the session would end, be wiped or be adopted.
  func absence(in facts: StoredItemsReport) -> AbsenceDoubt.Absence? {
    guard !facts.isLocked else { return nil }
    switch state {
    case .unauthenticated, .expired:
      return facts.owner == .missing
        ? AbsenceDoubt.Absence(item: facts.ownedItem, cause: .ownerMissing) : nil
    case .authenticated(let session):
      if isUndoneHere(facts) { return nil }
      let needed = [SecretItem.token] + [.user, .context].filter(policy.requiredItems.contains)
      let missing = needed.first { item in
        facts.item(item) == .absent && (item != .context || session.context != nil)
      }
      return missing.map { AbsenceDoubt.Absence(item: $0, cause: .missing) }
    }
  }

  /// Whether the last login counts as undone: nothing shows that it succeeded, and its token is gone.
  ///
  /// Its sync failed, so its process replaced or removed the token, and told the caller that the login
  /// failed. The record is in the log all the same.
  ///
  /// - Requirement: LOG-10
  func isUndone(_ facts: StoredItemsReport) -> Bool {
    guard facts.beforeUnprovenLogin != nil, fold.kind == .authenticated else { return false }
    return facts.token == .absent || facts.isLoginReplaced
  }

  /// Whether it counts as undone at the first look.
  ///
  /// The user item is written before the token, and removed after it. So this is the place, and the store
  /// answers. After an expiry the user item may be that of the session before, also in another place.
  private func isUndoneHere(_ facts: StoredItemsReport) -> Bool {
    let isUserNew = facts.user == .present && facts.beforeUnprovenLogin == .unauthenticated
    return isUndone(facts) && (isUserNew || facts.isLoginReplaced)
  }

  /// Whether stored items stay, because the journal that they belong to may come back.
  ///
  /// Nothing is wiped at the opening that misses it first.
  func spares(_ facts: StoredItemsReport) -> Bool {
    facts.missedFor.map { $0 < AbsenceDoubt.patience } ?? false
  }

  /// Notes what the search for the items found.
  mutating func noteFinding(_ facts: StoredItemsReport, at now: ClockReading) {
    var failures: [SecretItem: StorageCause] = [:]
    for item in [SecretItem.token, .user, .context] where facts.item(item) == .newerVersion {
      failures[item] = .newerVersion
    }
    if spares(facts), !takesOver(facts) { failures[facts.ownedItem] = .ownerMissing }
    if facts.owner == .unreadable { failures[facts.ownedItem] = .ownerUnreadable }
    if let absence = absence(in: facts) { failures[absence.item] = absence.cause }
    // Nothing is known about items that could not be read.
    guard !facts.isLocked || !failures.isEmpty else { return }
    for item in [SecretItem.token, .user, .context] {
      let failure = failures[item].map { StorageReport.Failure($0) }
      notes.take(
        StorageReport(item: item, operation: .find, failure: failure), at: now.uptime)
    }
  }
}
