@_spi(Internals) import SessionCore
import SessionJournal

/// Compaction of the journal.
///
/// The session continues whether it succeeds or fails.
extension SessionEngine {
  /// The time before compaction is tried again after a failure, in milliseconds.
  static let compactionPause: Int64 = 3_600_000

  /// Compacts the journal if it is due.
  ///
  /// Returns what peers have appended meanwhile, if anything.
  func compactIfDue() -> SessionInput? {
    tellPlan()
    let now = configuration.clock.now()
    guard let first = plan?.firstKept,
      plan?.isDue(at: now.time) == true, now.uptime >= nextCompaction,
      coordinator.isOpen, coordinator.fold.isWhole, !owesClearing
    else { return nil }
    let problem = compactionProblem
    defer { if compactionProblem != problem { show() } }
    let beginning = journal.firstSequence
    do throws(JournalError) {
      let done = try configuration.compaction(journal, first)
      compactionProblem = nil
      // If a peer has compacted the journal meanwhile, the plan is updated before it is asked
      // again.
      if journal.firstSequence == beginning { pause(from: now) }
      let others = read(done?.foreign ?? [])
      return others.isEmpty ? nil : .observed(others, isHolderGone: false)
    } catch {
      compactionProblem = .journal(error)
      pause(from: now)
      return nil
    }
  }

  /// Whether the host still has data to clear.
  ///
  /// The logout event that shows it must stay in the file.
  private var owesClearing: Bool { needsDataClearing }

  private func pause(from now: ClockReading) {
    nextCompaction = now.uptime.addingSaturating(Self.compactionPause)
  }

  /// Updates the plan to the file: records that left the file are removed first, while their places
  /// are known.
  private func tellPlan() {
    plan?.forget(before: journal.firstSequence)
    for (record, bytes) in retentionBacklog { plan?.take(record, bytes: bytes) }
    retentionBacklog = []
  }
}
