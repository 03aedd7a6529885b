/// The result of one operation of the secret store.
///
/// - Requirement: STO-5
package struct StorageReport: Hashable, Sendable {
  /// The item.
  package let item: SecretItem
  /// The operation on the item.
  package let operation: StorageOperation
  /// Why it failed; `nil` if it succeeded.
  package let failure: Failure?

  /// Why a secret store failed.
  package struct Failure: Hashable, Sendable {
    /// The cause.
    package let cause: StorageCause
    /// The system's error number; 0 for none.
    package let number: Int64

    /// Creates a failure.
    package init(_ cause: StorageCause, number: Int64 = 0) {
      self.cause = cause
      self.number = number
    }
  }

  /// Creates a report.
  package init(item: SecretItem, operation: StorageOperation, failure: Failure? = nil) {
    self.item = item
    self.operation = operation
    self.failure = failure
  }
}

/// The failing operations of the secret store, and what of them is still to be journaled.
///
/// ```
///          failure: note storageFailed          failure: nothing
///  working ───────────────────────────▶ failing ─────┐
///     ▲                                   │  ▲────────┘
///     └────── success: storageRecovered ──┘
/// ```
///
/// Each operation on each item has its own run of failures. If a run begins within a minute of the
/// last noted one, it is noted only if it lasts until that minute is over. So a store that fails
/// now and then does not fill the journal.
///
/// - Requirement: STO-5
struct StorageWatch: Hashable, Sendable {
  // The secret store once failed while the journal could be written, and nothing said so: `why`
  // ruled out storage for a session that storage had ended. A user who has to show their presence
  // before a token can be read is no failure (STO-2).
  private struct Subject: Hashable, Sendable {
    let item: SecretItem
    let operation: StorageOperation
  }

  private struct Run: Hashable, Sendable {
    let failure: StorageReport.Failure
    var isNoted = false
  }

  /// The runs of failures.
  private var failing: [Subject: Run] = [:]
  /// When a run was last noted, on the clock that never jumps.
  private var noted: [Subject: Int64] = [:]
  /// The notes that are still to be journaled.
  private(set) var notes: [SessionNote] = []
  /// Whether the journal could not be written; the notes then go with the next batch.
  private var isHeldBack = false

  /// Whether a batch is to be written for the notes alone.
  var wantsCommit: Bool { !notes.isEmpty && !isHeldBack }

  mutating func take(_ report: StorageReport, at uptime: Int64) {
    let subject = Subject(item: report.item, operation: report.operation)
    guard let failure = report.failure else {
      guard failing.removeValue(forKey: subject)?.isNoted == true else { return }
      return add(.storageRecovered(.init(item: subject.item, operation: subject.operation)))
    }
    guard failing[subject] == nil else { return }
    failing[subject] = Run(failure: failure)
    noteLastingRuns(at: uptime)
  }

  /// Notes the runs that are due and not noted yet.
  mutating func noteLastingRuns(at uptime: Int64) {
    guard !failing.isEmpty else { return }
    let runs = failing.sorted {
      ($0.key.item.rawValue, $0.key.operation.rawValue)
        < ($1.key.item.rawValue, $1.key.operation.rawValue)
    }
    for (subject, run) in runs where !run.isNoted {
      if let last = noted[subject], uptime.subtractingSaturating(last) < Self.pause { continue }
      note(run.failure, of: subject, at: uptime)
    }
  }

  /// Notes that a token waits to be stored, noted before or not, unless such a note waits.
  ///
  /// Other processes keep from sending the token again only if the note follows the request. If the item of
  /// a context or a user failed first, nothing tried to write the token: then the note has that cause.
  ///
  /// - Requirement: REF-21
  mutating func noteUnstored(at uptime: Int64) {
    for case .storageFailed(let failed) in notes where failed.isTokenWrite { return }
    let subjects = [SecretItem.token, .refreshToken].map { Subject(item: $0, operation: .write) }
    let subject = subjects.first { failing[$0] != nil } ?? subjects[0]
    let others = failing.filter { [.user, .context].contains($0.key.item) }.map(\.value.failure)
    guard let failure = failing[subject]?.failure ?? others.first else { return }
    failing[subject] = Run(failure: failure)
    note(failure, of: subject, at: uptime)
  }

  private mutating func note(
    _ failure: StorageReport.Failure, of subject: Subject, at uptime: Int64
  ) {
    failing[subject]?.isNoted = true
    noted[subject] = uptime
    add(
      .storageFailed(
        .init(
          item: subject.item, operation: subject.operation, cause: failure.cause,
          number: failure.number)))
  }

  private mutating func add(_ note: SessionNote) {
    // If they cannot be written, they wait for a batch that can be. A full disk must not fill the
    // memory.
    guard notes.count < Self.most else { return }
    notes.append(note)
  }

  /// Clears the notes: a batch with all of them is durable.
  mutating func journaled() {
    notes = []
    isHeldBack = false
  }

  mutating func notJournaled() { isHeldBack = true }

  /// Lets the notes be journaled alone again.
  mutating func retry() { isHeldBack = false }

  /// The milliseconds between two notes of the same operation on the same item.
  private static let pause: Int64 = 60_000
  /// The maximum number of notes that wait.
  private static let most = 16
}

extension SessionCoordinator {
  /// Takes in reports of the secret store.
  mutating func stored(_ reports: [StorageReport], at now: ClockReading) -> [SessionEffect] {
    for report in reports { notes.take(report, at: now.uptime) }
    return []
  }

  /// Journals waiting notes alone, if no other batch is to be written.
  mutating func noteStorage(at now: ClockReading) -> [SessionEffect] {
    notes.noteLastingRuns(at: now.uptime)
    if keepsUntold { notes.noteUnstored(at: now.uptime) }
    guard notes.wantsCommit, stopped == nil, callers.isEmpty(.close), !notes.hasFinding else {
      return []
    }
    return commit([], for: .storage, at: now)
  }

  /// Whether a response waits to be stored, and no note after its request says so.
  private var keepsUntold: Bool {
    guard let request, let kept = request.unjournaled, !kept.obstacle.isStored,
      let open = fold.intents.request
    else { return false }
    return open.sequence == request.intent && open.unstored == nil
  }
}
