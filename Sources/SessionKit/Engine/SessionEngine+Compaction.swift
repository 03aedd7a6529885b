@_spi(Internals) import SessionCore
import SessionJournal

/// Compaction of the journal: performs what `CompactionSchedule` decides.
///
/// The session continues whether it succeeds or fails.
extension SessionEngine {
  /// Compacts the journal if it is due.
  ///
  /// Returns what peers have appended meanwhile, if anything.
  func compactIfDue() -> SessionInput? {
    let (now, beginning) = (configuration.clock.now(), journal.firstSequence)
    let situation = CompactionSchedule.Situation(
      isOpen: coordinator.isOpen, isWhole: coordinator.fold.isWhole,
      needsClearing: needsDataClearing)
    guard let first = compaction.firstKept(inFileFrom: beginning, situation, at: now) else {
      return nil
    }
    let problem = problems.compaction
    defer { if problems.compaction != problem { show() } }
    do throws(JournalError) {
      let done = try configuration.compaction(journal, first)
      problems.compaction = nil
      compaction.ended(hasNewBeginning: journal.firstSequence != beginning, at: now)
      let others = read(done?.foreign ?? [])
      return others.isEmpty ? nil : .observed(others, isHolderGone: false)
    } catch {
      problems.compaction = .journal(error)
      compaction.failed(at: now)
      return nil
    }
  }
}
