import SessionCore
import SessionJournal

/// Compacting: what is due is tried, and whatever comes of it, the session goes on.
extension SessionEngine {
  /// Milliseconds before compacting is tried again after it failed.
  static let compactionPause: Int64 = 3_600_000

  /// Compacts the journal if it is time; what others appended meanwhile, if anything.
  func compactIfDue() -> SessionInput? {
    let now = configuration.clock.now()
    guard let first = plan?.firstKept,
      plan?.isDue(at: now.time) == true, now.uptime >= nextCompaction,
      coordinator.isOpen, coordinator.fold.isWhole
    else { return nil }
    let problem = compactionProblem
    defer { if compactionProblem != problem { show() } }
    do throws(JournalError) {
      let done = try configuration.compaction(journal, first)
      compactionProblem = nil
      // Also where nothing could go: then others have compacted it already.
      plan?.removed()
      let others = read(done?.foreign ?? [])
      return others.isEmpty ? nil : .observed(others, isHolderGone: false)
    } catch {
      compactionProblem = .journal(error)
      nextCompaction = now.uptime.addingSaturating(Self.compactionPause)
      return nil
    }
  }
}
