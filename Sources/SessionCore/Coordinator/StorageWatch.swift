/// How one operation of the secret store ended, as the shell saw it.
///
/// - Requirement: STO-5
package struct StorageReport: Hashable, Sendable {
  /// The item.
  package let item: SecretItem
  /// What the store was asked to do.
  package let operation: StorageOperation
  /// Why it did not; `nil` if it did.
  package let failure: Failure?

  /// Why a store did not do what it was asked.
  package struct Failure: Hashable, Sendable {
    /// The cause.
    package let cause: StorageCause
    /// The system's number of the error, 0 for none.
    package let number: Int64

    /// A failure.
    package init(_ cause: StorageCause, number: Int64 = 0) {
      self.cause = cause
      self.number = number
    }
  }

  /// A report.
  package init(item: SecretItem, operation: StorageOperation, failure: Failure? = nil) {
    self.item = item
    self.operation = operation
    self.failure = failure
  }
}

/// Which operations of the secret store fail, and what of that is still to be journaled.
///
/// ```
///          failure: note storageFailed          failure: nothing
///  working ───────────────────────────▶ failing ─────┐
///     ▲                                   │  ▲────────┘
///     └────── success: storageRecovered ──┘
/// ```
///
/// Each operation on each item has its own run. A run that begins within a minute of the last one that was
/// noted is noted only if it lasts until that minute is over: a store that fails now and then must not fill
/// the journal.
///
/// - Requirement: STO-5
struct StorageWatch: Hashable, Sendable {
  private struct Subject: Hashable, Sendable {
    let item: SecretItem
    let operation: StorageOperation
  }

  /// The runs of failures; each has its failure until that was noted.
  private var failing: [Subject: StorageReport.Failure?] = [:]
  /// When a run of each was noted last, on the clock that never jumps.
  private var noted: [Subject: Int64] = [:]
  /// What is still to be journaled.
  private(set) var notes: [SessionNote] = []
  /// The journal could not be written: the notes go with the next batch that can be.
  private var isHeldBack = false

  /// Whether a batch for the notes alone is to be written.
  var wantsCommit: Bool { !notes.isEmpty && !isHeldBack }

  mutating func take(_ report: StorageReport, at uptime: Int64) {
    let subject = Subject(item: report.item, operation: report.operation)
    guard let failure = report.failure else {
      guard let run = failing.removeValue(forKey: subject), run == nil else { return }
      return add(.storageRecovered(.init(item: subject.item, operation: subject.operation)))
    }
    guard failing[subject] == nil else { return }
    failing.updateValue(failure, forKey: subject)
    noteLastingRuns(at: uptime)
  }

  /// Notes the runs that are not noted yet and may be now.
  mutating func noteLastingRuns(at uptime: Int64) {
    guard !failing.isEmpty else { return }
    let runs = failing.sorted {
      ($0.key.item.rawValue, $0.key.operation.rawValue)
        < ($1.key.item.rawValue, $1.key.operation.rawValue)
    }
    for (subject, run) in runs {
      guard let failure = run else { continue }
      if let last = noted[subject], uptime.subtractingSaturating(last) < Self.pause { continue }
      failing.updateValue(nil, forKey: subject)
      noted[subject] = uptime
      add(
        .storageFailed(
          .init(
            item: subject.item, operation: subject.operation, cause: failure.cause,
            number: failure.number)))
    }
  }

  private mutating func add(_ note: SessionNote) {
    guard notes.count < Self.most else { return }
    notes.append(note)
  }

  /// A batch is durable, and with it every note that there was.
  mutating func journaled() {
    notes = []
    isHeldBack = false
  }

  mutating func notJournaled() { isHeldBack = true }

  /// Milliseconds between two notes of the same operation on the same item.
  private static let pause: Int64 = 60_000
  /// How many notes wait at most.
  private static let most = 16
}

extension SessionCoordinator {
  /// The secret store failed, or does again what it did not.
  mutating func stored(_ reports: [StorageReport], at now: ClockReading) -> [SessionEffect] {
    for report in reports { storage.take(report, at: now.uptime) }
    return []
  }

  /// Notes that wait are journaled alone, once nothing else is.
  mutating func noteStorage(at now: ClockReading) -> [SessionEffect] {
    storage.noteLastingRuns(at: now.uptime)
    guard storage.wantsCommit, stopped == nil, closers.isEmpty, openingNotes.isEmpty else {
      return []
    }
    return commit([], for: .storage, at: now)
  }
}
